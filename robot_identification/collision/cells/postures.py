"""Postures that a cell file states: of the robot at rest, and of other robots."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.robot.files.schema import suggestion
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

_MOST_TURNED = 4.0 * np.pi  # rad; what is meant in degrees is mostly more
_BEYOND = 0.01  # rad or m by which a robot may stand beyond its limits, as after calibration


def require_posture(field: str, robot: RobotModel, position: Mapping[str, float]) -> None:
    """Refuse a posture that is not one of a robot.

    Args:
        field: what is stated, for people.
        robot: whose posture it is.
        position: rad or m by joint.

    Raises:
        SettingError: a joint is not there, or turned by more than two turns, as in degrees.
    """
    for name, value in position.items():
        if name not in robot.joint_names:
            hint = suggestion(name, robot.joint_names) or ""
            raise SettingError(field, name, f"{robot.name} has no joint of this name{hint}")
        turns = robot.joints[robot.joint_names.index(name)].type is JointType.REVOLUTE
        if turns and abs(value) > _MOST_TURNED:
            problem = "is more than two turns; angles are in rad, and 90 degrees pi/2"
            raise SettingError(f"{field}: {name}", value, problem)


def outside_of_limits(robot: RobotModel, position: Mapping[str, float]) -> list[str]:
    """Return in words which joints stand outside of their limits, where they have some."""
    found = []
    for joint in robot.joints:
        lower, upper, place = joint.limits.lower, joint.limits.upper, position.get(joint.name)
        if place is None or lower is None or upper is None or lower >= upper:
            continue
        if not lower - _BEYOND <= place <= upper + _BEYOND:
            found.append(
                f"{joint.name} at {place:g}, outside of its limits {lower:g} and {upper:g}"
            )
    return found
