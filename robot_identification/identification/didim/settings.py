"""Settings of DIDIM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from robot_identification.settings import Settings, setting

Weighting = Literal["ols", "wls"]


@dataclass(frozen=True)
class DidimSettings(Settings):
    """Settings of the iterations and of their end."""

    weighting: Weighting = setting("wls: rows are weighted by the residual of their joint", "wls")
    max_iterations: int = setting(
        "largest number of Gauss-Newton steps", 20, minimum=1, maximum=1000, metavar="N"
    )
    tolerance_error: float = setting(
        "largest relative change of the torque error in the last iteration",
        0.01,
        above=0.0,
        metavar="FRACTION",
    )
    tolerance_parameters: float = setting(
        "largest relative change of a parameter in the last iteration",
        0.01,
        above=0.0,
        metavar="FRACTION",
    )
    # 8 leaves below 1 % of an initial offset at damping 0.7 to 1.
    transient: float = setting(
        "dropped at the start of every run, in 1 / smallest natural frequency",
        8.0,
        minimum=0.0,
        metavar="MULTIPLE",
    )
    # 1 unless the declared gains are known to be wrong.
    bandwidth: float = setting(
        "natural frequencies of the simulated loop, over those of the declared gains",
        1.0,
        above=0.0,
        metavar="FRACTION",
    )
    growth: float = setting(
        "largest torque error of a step that is accepted, over the smallest so far; a larger one "
        "halves the step",
        1.2,
        above=1.0,
    )
    smallest_step: float = setting(
        "part of a Gauss-Newton step below which halving is given up", 1.0 / 32.0, above=0.0
    )
    noise_floor: float | None = setting(
        "torque error that counts as noise, as a fraction for all joints; default: from the data",
        above=0.0,
        metavar="FRACTION",
    )

    def entries(self) -> dict[str, dict[str, object]]:
        """Return ``value`` and ``reason`` of every setting, as plain data for results."""
        values = ((entry, getattr(self, name)) for name, entry in self.table().items())
        return {
            entry.name: {"value": value, "reason": _reason(value, entry.default)}
            for entry, value in values
        }


def _reason(value: object, default: object) -> str:
    if value != default:
        return "option"
    return "default: from the data" if value is None else "default"
