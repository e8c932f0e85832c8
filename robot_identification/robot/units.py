"""Units of a robot's standard parameters, and of velocities and efforts."""

from __future__ import annotations

from robot_identification.robot import parameters
from robot_identification.robot.model import Joint, JointType, RobotModel


def unit_of(parameter: str, robot: RobotModel) -> str:
    """Return the SI unit of a standard parameter of a robot, such as ``ZZ1``."""
    if parameter in robot.added_parameters:
        return robot.added_parameters[parameter].unit
    number = int("0" + "".join(c for c in parameter if c.isdigit()))
    known = 1 <= number <= len(robot.joints)
    prismatic = known and robot.joints[number - 1].type is JointType.PRISMATIC
    return parameters.unit(parameter, prismatic=prismatic)


def rate_units(joint: Joint) -> tuple[str, str]:
    """Return the SI units of the velocity and the effort of a joint."""
    return ("m/s", "N") if joint.type is JointType.PRISMATIC else ("rad/s", "N m")
