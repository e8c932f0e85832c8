"""Conversion of efforts and positions between drives and joints: gears, couplings, currents.

With motor positions q_m = N q (N is :attr:`RobotModel.motor_matrix`), motor torques act on the
joints as tau = N^T tau_m; a motor torque is drive gain times current (M. Gautier and G. Venture,
IROS 2013, eq. 5 and 34; M. Gautier, A. Janot and P.-O. Vandanjon on DIDIM, eq. 8 and 9).  N may
couple any joints, and its ratios have signs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import EffortMeaning, PositionMeaning, RobotModel


class Signals(NamedTuple):
    """Position, velocity and effort, (samples, joints) each; None where not given."""

    position: Array | None
    velocity: Array | None
    effort: Array | None


def to_joint_side(
    robot: RobotModel,
    position: npt.ArrayLike | None,
    velocity: npt.ArrayLike | None,
    effort: npt.ArrayLike | None,
) -> Signals:
    """Convert recorded signals to the joint side, as the robot file declares them.

    Args:
        robot: says what positions and efforts mean.
        position: (samples, joints) recorded positions of joints or motors, in rad or m.
        velocity: (samples, joints) recorded velocities, measured where the positions are.
        effort: (samples, joints) recorded joint torques or forces, motor torques, or currents
            in A.

    Returns:
        Joint positions, joint velocities and joint torques or forces.

    Raises:
        ShapeError: an array does not have a column for every joint.
        SettingError: nobody has said what effort means, or a drive gain is missing.
    """
    signals = [_checked(robot, *named) for named in _named(position, velocity, effort)]
    if robot.position_meaning is PositionMeaning.MOTOR:
        inverse = np.linalg.inv(robot.motor_matrix).T
        signals[:2] = [None if motion is None else motion @ inverse for motion in signals[:2]]
    if signals[2] is not None:
        meaning = require_effort_meaning(robot)
        if meaning is EffortMeaning.CURRENT:
            signals[2] = signals[2] * drive_gains(robot)
        if meaning is not EffortMeaning.JOINT_TORQUE:
            signals[2] = signals[2] @ robot.motor_matrix
    return Signals(*signals)


def from_joint_side(
    robot: RobotModel,
    position: npt.ArrayLike | None,
    velocity: npt.ArrayLike | None,
    effort: npt.ArrayLike | None,
) -> Signals:
    """Convert joint-side signals to what this robot's drives would have recorded.

    The inverse of :func:`to_joint_side`; arguments, result and errors as there.
    """
    signals = [_checked(robot, *named) for named in _named(position, velocity, effort)]
    if robot.position_meaning is PositionMeaning.MOTOR:
        matrix = robot.motor_matrix.T
        signals[:2] = [None if motion is None else motion @ matrix for motion in signals[:2]]
    if signals[2] is not None:
        meaning = require_effort_meaning(robot)
        if meaning is not EffortMeaning.JOINT_TORQUE:
            signals[2] = signals[2] @ np.linalg.inv(robot.motor_matrix)
        if meaning is EffortMeaning.CURRENT:
            signals[2] = signals[2] / drive_gains(robot)
    return Signals(*signals)


def as_recorded(robot: RobotModel, effort: npt.ArrayLike, factors: npt.ArrayLike) -> Array:
    """Return what is recorded where the true drive gains differ from the stated ones.

    Drives whose gain is larger than stated need less current for the same torque, and the current
    is all that is measured.

    Args:
        robot: says what efforts mean.
        effort: (samples, joints) what would be recorded if the stated gains were true.
        factors: (joints,) true drive gains as multiples of the stated ones.

    Raises:
        ShapeError: there is not a column for every joint.
        SettingError: nobody has said what effort means.
    """
    values, ratio = np.asarray(effort, dtype=np.float64), np.asarray(factors, dtype=np.float64)
    if (
        values.ndim != 2
        or values.shape[1:] != ratio.shape
        or len(ratio) != len(robot.active_joints)
    ):
        raise ShapeError("effort", values.shape, f"(samples, {len(robot.active_joints)})")
    if (ratio == 1.0).all():
        return values
    if require_effort_meaning(robot) is not EffortMeaning.JOINT_TORQUE:
        return np.asarray(values / ratio)
    return np.asarray(values @ np.linalg.inv(robot.motor_matrix) / ratio @ robot.motor_matrix)


IDENTIFY_GAINS = (
    "identify it with a known payload: the command drive-gains, or ~/identify_drive_gains of the "
    "node identification"
)
"""What to do where a drive gain is unknown, for people."""


def require_effort_conversion(robot: RobotModel) -> None:
    """Make sure that recorded efforts can be converted to joint torques and forces, and back.

    Raises:
        SettingError: nobody has said what effort means, or a drive gain is missing.
    """
    if require_effort_meaning(robot) is EffortMeaning.CURRENT:
        drive_gains(robot)


def require_effort_meaning(robot: RobotModel) -> EffortMeaning:
    """Return what efforts of this robot mean.

    Raises:
        SettingError: nobody has said so.
    """
    if robot.effort_meaning is None:
        raise SettingError(
            "effort_meaning",
            "unknown",
            f"say what recorded efforts of {robot.name} are: joint_torque, motor_torque or "
            "current, in the robot file or as an option",
        )
    return robot.effort_meaning


def drive_gains(robot: RobotModel) -> Array:
    """Return the (joints,) drive gains, in N m/A or N/A on the motor's side.

    Raises:
        SettingError: one is missing.
    """
    for joint in robot.active_joints:
        if joint.drive_gain is None:
            raise SettingError(
                "drive_gain",
                "unknown",
                f"joint {joint.name} needs one, because efforts are currents; give it in the "
                f"robot file, or {IDENTIFY_GAINS}",
            )
    return np.array([joint.drive_gain for joint in robot.active_joints], dtype=np.float64)


def _named(
    position: npt.ArrayLike | None, velocity: npt.ArrayLike | None, effort: npt.ArrayLike | None
) -> tuple[tuple[str, npt.ArrayLike | None], ...]:
    return ("position", position), ("velocity", velocity), ("effort", effort)


def _checked(robot: RobotModel, name: str, values: npt.ArrayLike | None) -> Array | None:
    if values is None:
        return None
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != len(robot.active_joints):
        raise ShapeError(name, array.shape, f"(samples, {len(robot.active_joints)})")
    return array
