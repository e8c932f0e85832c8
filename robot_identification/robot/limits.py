"""Which limits of its joints a robot knows, and which it must know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from robot_identification.errors import MissingLimitError
from robot_identification.robot.model import JointLimits, RobotModel

Limit = Literal["position", "velocity", "acceleration", "jerk", "effort"]


def require_limits(robot: RobotModel, kinds: Iterable[Limit]) -> None:
    """Refuse a robot that lacks a limit.

    Args:
        robot: the robot.
        kinds: the limits that every joint must have.

    Raises:
        MissingLimitError: the first joint, and its first limit, that is missing.
    """
    needed = tuple(kinds)
    for joint in robot.joints:
        for kind in needed:
            if not _has(joint.limits, kind):
                raise MissingLimitError(joint.name, kind)


def _has(limits: JointLimits, kind: Limit) -> bool:
    if kind == "position":
        return limits.lower is not None and limits.upper is not None
    return getattr(limits, kind) is not None
