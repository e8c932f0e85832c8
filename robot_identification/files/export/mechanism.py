"""Dynamics of a robot for exports: links, drives and friction, joint by joint, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from robot_identification.dynamics.direct import checked_values
from robot_identification.files.export.link_bodies import LinkBody, link_bodies
from robot_identification.robot.arrays import by_value
from robot_identification.robot.files.urdf import UrdfDescription
from robot_identification.robot.model import Array, Coupling, RobotModel


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
    joints: tuple[LinkBody, ...]

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
    return Mechanism(robot, vector, link_bodies(robot, vector, description))
