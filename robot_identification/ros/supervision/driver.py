"""The driver of the robot as its joint states show it, and how long it may be silent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array

LEAST_TIMEOUT, MOST_TIMEOUT = 0.1, 0.5
"""Bounds of the usual timeout in s: pauses of a process on an ordinary machine, and the longest
time in which a moving robot may be out of sight without anybody having said so."""

_PERIODS = 5.0
_DEVIATIONS = 5.0


def usual_timeout(period: float, jitter: float) -> float:
    """Return the age at which a joint state counts as stale where nobody has given one, in s.

    Four states in a row may be lost, and the next one late by five standard deviations; in
    whole milliseconds.

    Args:
        period: of the states in s; NaN where it is not known.
        jitter: standard deviation of the steps between their stamps, as a share of the period.
    """
    longest = period * (_PERIODS + _DEVIATIONS * jitter)
    if math.isnan(longest):
        return LEAST_TIMEOUT
    return min(max(round(longest, 3), LEAST_TIMEOUT), MOST_TIMEOUT)


@by_value
@dataclass(frozen=True)
class DriverView:
    """What the joint states of the last time show of their driver.

    Attributes:
        topic: of the states, with namespace and remapping.
        period: median step between the stamps in s; NaN where too few states have come.
        jitter: standard deviation of the steps in s, gaps left out; NaN likewise.
        delays: (states,) time from the stamp to the moment at which a state was taken in, in s.
        messages: the last messages, the newest last.
        timeout: age in s at which a state counts as stale now.
        timeout_given: whether a parameter says so; else it follows from period and jitter.
    """

    topic: str
    period: float
    jitter: float
    delays: Array
    messages: tuple[Any, ...]
    timeout: float
    timeout_given: bool
