"""The driver of the robot as its joint states show it, and how long it may be silent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robot_identification.errors import InputError
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.model import EffortMeaning, RobotModel
from robot_identification.ros.common.joint_states import JointStateReader

_PAUSE = 0.1  # s; of processes on an ordinary machine
MOST_TIMEOUT = 0.5
"""Longest usual timeout in s: a moving robot is not out of sight for longer without anybody having
said so."""

_AT_LIMIT = 0.97
"""Share of the limit from which on an effort is taken for limited."""

_PERIODS = 5.0
_DEVIATIONS = 5.0


def usual_timeout(period: float, jitter: float) -> float:
    """Return the age at which a joint state counts as stale where nobody has given one, in s.

    Four states in a row may be lost, and the next one late by five standard deviations, while a
    process pauses for 0.1 s; in whole milliseconds.

    Args:
        period: of the states in s; NaN where it is not known.
        jitter: standard deviation of the steps between their stamps, as a share of the period.
    """
    longest = period * (_PERIODS + _DEVIATIONS * jitter)
    if math.isnan(longest):
        return _PAUSE
    return min(round(_PAUSE + longest, 3), MOST_TIMEOUT)


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
        held: where joints stand that the robot file holds fixed, in rad or m by name.
        disputed: share of the last states whose positions those before exclude.
        publishers: nodes that publish the states.
    """

    topic: str
    period: float
    jitter: float
    delays: Array
    messages: tuple[Any, ...]
    timeout: float
    timeout_given: bool
    held: Mapping[str, float] = field(default_factory=dict)
    disputed: float = 0.0
    publishers: tuple[str, ...] = ()


def at_effort_limits(messages: Sequence[Any], robot: RobotModel) -> tuple[str, ...]:
    """Return the joints whose effort was at its limit in joint states: they could not do more.

    Args:
        messages: the joint states; those without efforts say nothing.
        robot: the robot; nothing is known where its efforts are not those of the joints.
    """
    if robot.effort_meaning is not EffortMeaning.JOINT_TORQUE:
        return ()
    reader = JointStateReader(robot.joint_names, "joint_states")
    efforts = [_effort_of(message, reader) for message in messages]
    known = [np.abs(effort) for effort in efforts if effort is not None]
    most = np.max(known, axis=0) if known else np.zeros(len(robot.joints))
    limits = [joint.limits.effort for joint in robot.joints]
    return tuple(
        name
        for name, value, limit in zip(robot.joint_names, most, limits, strict=True)
        if limit is not None and value >= _AT_LIMIT * limit
    )


def _effort_of(message: Any, reader: JointStateReader) -> Array | None:
    """Return the (joints,) efforts of a joint state; None where it has none that are of use."""
    try:
        return reader.read_effort(message, 0)
    except InputError:
        return None
