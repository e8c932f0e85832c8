"""Answers of `~/preview` and `~/start` for people: what a motion consists of, and its checks."""

from __future__ import annotations

from collections.abc import Sequence

from robot_identification.ros.excitation.checks.check import Check
from robot_identification.ros.planning.planning import wider_limits
from robot_identification.ros.planning.preparation import Prepared


def outline(prepared: Prepared, speed: float, efforts: str = "") -> str:
    """Return what a motion consists of, with the distances that it keeps.

    Args:
        prepared: the motion.
        speed: share of the planned speed.
        efforts: whose efforts its points have; empty: they have none.
    """
    return (
        f"{_parts(prepared, speed, efforts)}{wider_limits(prepared.machine)}; {prepared.obstacles}"
    )


def preview_text(
    prepared: Prepared, speed: float, checks: Sequence[Check], efforts: str = ""
) -> str:
    """Return what a motion consists of, and a line for each check.

    Args:
        prepared: the motion.
        speed: share of the planned speed.
        checks: of the motion; that of the controller is the last.
        efforts: whose efforts its points have; empty: they have none.
    """
    return "\n".join([_parts(prepared, speed, efforts), *map(str, checks)])


def _parts(prepared: Prepared, speed: float, efforts: str) -> str:
    way = 0.0 if prepared.approach is None else prepared.approach.duration
    return (
        f"approach {way:.1f} s, trajectory {prepared.run.duration:.1f} s at "
        f"{100.0 * speed:g} % speed, at rest within {prepared.braking_time:.3f} s"
        + (f"; {efforts}" if efforts else "")
    )
