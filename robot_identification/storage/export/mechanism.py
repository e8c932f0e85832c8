"""Everything about a robot's dynamics that an export may hold, joint by joint and as plain data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from robot_identification.dynamics.direct import checked_values
from robot_identification.robot import parameters
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array, Coupling, JointType, RobotModel
from robot_identification.robot.urdf import UrdfDescription
from robot_identification.storage.export.link_bodies import LinkBody, link_bodies


@dataclass(frozen=True)
class JointDynamics:
    """A joint, the body that it moves, and what acts on the joint itself.

    Attributes:
        link: the body, its frame and the friction of the joint.
        prismatic: whether the joint translates.
        drive_inertia: Ia, in kg m^2 or kg.
        offset: off, in N m or N.
    """

    link: LinkBody
    prismatic: bool
    drive_inertia: float
    offset: float

    @property
    def name(self) -> str:
        """Name of the joint."""
        return self.link.joint


@by_value
@dataclass(frozen=True)
class Mechanism:
    """A robot with values for its parameters.

    Attributes:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        joints: one per joint of the robot, in its order.
    """

    robot: RobotModel
    values: Array
    joints: tuple[JointDynamics, ...]

    def value(self, coupling: Coupling) -> float:
        """Return the value of the parameter of a coupling."""
        return float(self.values[self.robot.all_parameter_names.index(coupling.parameter)])


def mechanism_of(
    robot: RobotModel, values: npt.ArrayLike, description: UrdfDescription | None = None
) -> Mechanism:
    """Return a robot with values for its parameters.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        description: a URDF of the robot whose link frames are to be used; by default those of
            the robot.

    Raises:
        ShapeError: the number of values differs.
        SampleError: a value is NaN or infinite.
        InconsistentParametersError: a link or a friction cannot exist.
        RobotDescriptionError: the URDF is of another robot.
    """
    vector = checked_values(robot, values)
    joints = []
    for index, link in enumerate(link_bodies(robot, vector, description)):
        first = parameters.joint_offset(index)
        joints.append(
            JointDynamics(
                link=link,
                prismatic=robot.joints[index].type is JointType.PRISMATIC,
                drive_inertia=float(vector[first + parameters.DRIVE_INERTIA]),
                offset=float(vector[first + parameters.OFFSET]),
            )
        )
    return Mechanism(robot, vector, tuple(joints))
