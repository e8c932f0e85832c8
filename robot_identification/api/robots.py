"""Ask and complete the description of a robot."""

from __future__ import annotations

from pathlib import Path

from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.identification.base import parameters as base
from robot_identification.identification.base.observation import Model
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.robot.files import loading
from robot_identification.robot.loops import LoopConstraint
from robot_identification.robot.model import RobotModel


def base_parameters(
    robot: RobotSource,
    model: str | Model = Model.DYNAMIC,
    method: str = "qr",
    *,
    constraint: LoopConstraint | None = None,
) -> BaseParameters:
    """Return the base parameters of a robot (Gautier 1991, eq. 5-28).

    Parameters of larger subscript are regrouped into those of smaller subscript.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        model: ``dynamic``, ``simplified`` (velocities zero) or ``energy`` (differences of h).
            All give the same inertial and drive base parameters; friction and offsets that a
            model does not contain are appended as independent.
        method: ``qr`` or ``svd``: which of the two, that must agree, is followed.
        constraint: relations of closed loops as functions; by default the linear ones that the
            robot declares.

    Raises:
        RankError: QR, the singular values and the grouping rules do not agree.
        SettingError: there is no such model or method, the constraint cannot give the
            accelerations that the dynamic model needs, or the load that friction follows is not
            told.
    """
    described = robot_of(robot, closed_loops=True)
    return base.base_parameters(described, model, method, constraint=constraint)


def with_joint_limits(robot: RobotSource, path: str | Path) -> RobotModel:
    """Return a robot whose limits a joint_limits.yaml completes.

    What the file states for a joint replaces what the robot had, also where it is wider than in the
    URDF; a certificate says so then.  Joints that the robot lacks are ignored, as
    are the scaling factors of MoveIt.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        path: the file: ``joint_limits: {joint: {has_velocity_limits: true, max_velocity: 2.0}}``,
            likewise for acceleration, jerk and effort, and ``has_position_limits`` with
            ``min_position`` and ``max_position``.

    Raises:
        RobotDescriptionError: the file cannot be read, names none of the joints, or holds a
            limit that is not a positive number, one of a range alone, or a flag that is neither
            true nor false.
    """
    return loading.with_joint_limits(robot_of(robot, closed_loops=True), path)
