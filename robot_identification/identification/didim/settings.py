"""Settings of DIDIM."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

from robot_identification.errors import SettingError

Weighting = Literal["ols", "wls"]
WEIGHTINGS: tuple[Weighting, ...] = ("ols", "wls")


@dataclass(frozen=True)
class DidimSettings:
    """How the iterations run and end.

    Attributes:
        weighting: ``ols``, or ``wls``: rows weighted by the residual of their joint.
        max_iterations: largest number of Gauss-Newton steps.
        tolerance_error: largest relative change of the torque error in the last step.
        tolerance_parameters: largest relative change of a parameter in the last step.
        transient: what is dropped at the start of every run, in multiples of 1 / (smallest
            natural frequency): 8 leaves below 1 % of an initial offset at damping 0.7 to 1.
        bandwidth: natural frequencies of the simulated loop over those that the declared gains
            give; 1 unless the declared gains are known to be wrong.
        growth: largest torque error of a step that is accepted, over the smallest so far; a
            larger one halves the step.
        smallest_step: part of a Gauss-Newton step below which halving is given up.
        noise_floor: torque error that counts as noise, as a fraction for all joints; None: from
            the data.

    Raises:
        SettingError: if a value is not possible.
    """

    weighting: Weighting = "wls"
    max_iterations: int = 20
    tolerance_error: float = 0.01
    tolerance_parameters: float = 0.01
    transient: float = 8.0
    bandwidth: float = 1.0
    growth: float = 1.2
    smallest_step: float = 1.0 / 32.0
    noise_floor: float | None = None

    def __post_init__(self) -> None:
        if self.weighting not in WEIGHTINGS:
            raise SettingError(
                "weighting", self.weighting, f"choose one of {', '.join(WEIGHTINGS)}"
            )
        if self.max_iterations < 1:
            raise SettingError("max_iterations", self.max_iterations, "must be at least 1")
        for name in ("tolerance_error", "tolerance_parameters", "bandwidth", "smallest_step"):
            _check(name, getattr(self, name), above=0.0)
        _check("growth", self.growth, above=1.0)
        if not (math.isfinite(self.transient) and self.transient >= 0.0):
            raise SettingError("transient", self.transient, "must not be negative")
        if self.noise_floor is not None:
            _check("noise_floor", self.noise_floor, above=0.0)

    def entries(self) -> dict[str, dict[str, object]]:
        """Return ``value`` and ``reason`` of every setting, as plain data for results."""
        return {
            field.name: {
                "value": getattr(self, field.name),
                "reason": "default" if getattr(self, field.name) == field.default else "option",
            }
            for field in fields(self)
        }


def _check(name: str, value: float, above: float) -> None:
    if not (math.isfinite(value) and value > above):
        raise SettingError(name, value, f"must be above {above:g}")
