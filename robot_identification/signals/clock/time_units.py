"""Times that are taken for seconds, and are probably in another unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.errors import RecordingError
from robot_identification.robot.arrays import Array

_SLOW = 0.5  # s between samples, from which times are probably not in seconds
_LONGEST = {"ms": 1e3 * _SLOW, "us": 1e6 * _SLOW}  # such a step, had the time this unit
_IN_SECONDS = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def step_of(times: npt.NDArray[Any]) -> float:
    """Return how far times (samples,) lie apart, in the median; 0 for fewer than two."""
    return float(np.median(np.abs(np.diff(times)))) if len(times) > 1 else 0.0


def probable_unit(apart: float) -> str:
    """Return the unit that times probably have; empty where that is seconds.

    Args:
        apart: how far they lie apart, had they been in seconds.
    """
    if apart < _SLOW:
        return ""
    return next((unit for unit, most in _LONGEST.items() if apart < most), "ns")


def doubts_of_times(seconds: Array, source: str) -> tuple[str, ...]:
    """Return what there is to be told of times that may be in another unit, in lines.

    Args:
        seconds: (samples,) times.
        source: where they came from.

    Raises:
        RecordingError: they are not in seconds.
    """
    apart = step_of(seconds)
    unit = probable_unit(apart)
    if not unit:
        return ()
    told = (
        f"{source}: its samples lie {apart:g} s apart; if the times are in {unit}, multiply them "
        f"by {_IN_SECONDS[unit]:g}"
    )
    if unit != "ms":
        raise RecordingError(told)
    return (told,)
