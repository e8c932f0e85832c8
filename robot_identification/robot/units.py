"""Units of a robot's standard parameters."""

from __future__ import annotations

from robot_identification.robot import parameters
from robot_identification.robot.model import JointType, RobotModel


def unit_of(parameter: str, robot: RobotModel) -> str:
    """Return the SI unit of a standard parameter of a robot, such as ``ZZ1``."""
    number = int("0" + "".join(c for c in parameter if c.isdigit()))
    known = 1 <= number <= len(robot.joints)
    prismatic = known and robot.joints[number - 1].type is JointType.PRISMATIC
    return parameters.unit(parameter, prismatic=prismatic)
