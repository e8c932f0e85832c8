"""The way to the start of a trajectory, and slower versions of a trajectory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError
from robot_identification.excitation.certification.certificate import Certificate, certify
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import durations_between_rests
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array, checked_vector
from robot_identification.robot.model import RobotModel

_LEAST = 0.5


def approach(
    robot: RobotModel,
    trajectory: Trajectory,
    posture: npt.ArrayLike,
    *,
    speed: float = 0.2,
    surroundings: Surroundings | None = None,
) -> tuple[Trajectory, Certificate]:
    """Return a slow motion from a posture to the start of a trajectory, and its certificate.

    Where something stands in the straight way, the robot goes around it, and rests at the
    postures in between.

    Args:
        robot: the robot, with limits of position, velocity and acceleration.
        trajectory: what is to follow.
        posture: (joints,) measured positions in the robot's order, at rest.
        speed: share of the velocity limits that is used; accelerations use the same share.
        surroundings: prior model and obstacles.

    Raises:
        MissingLimitError: a joint lacks a limit.
        ShapeError: the posture has not one value per joint.
        SettingError: the speed is not above 0 and at most 1.
        TrajectoryError: the posture is not finite, or the trajectory has other joints.
    """
    limits = MotionLimits.of(robot)
    slow = limits.tightened(velocity=speed, acceleration=speed)
    here = checked_vector("posture", posture, len(robot.joints))
    there = trajectory.reordered(robot.joint_names).positions[0]
    way = _through(np.array([here, there]), slow, limits, robot)
    certificate = certify(robot, way, start=here, surroundings=surroundings)
    if surroundings is None or certificate.results.get("obstacles", True):
        return way, certificate
    postures = surroundings.way_around(limits, here, there)
    if postures is None:
        return way, certificate.told("obstacles", "no way around it was found")
    around = _through(postures, slow, limits, robot)
    return around, certify(robot, around, start=here, surroundings=surroundings)


def _through(
    postures: Array, slow: MotionLimits, limits: MotionLimits, robot: RobotModel
) -> Trajectory:
    """Return a motion that rests at every posture of some."""
    still = np.zeros_like(postures)
    durations = durations_between_rests(np.nan_to_num(postures), slow, limits, _LEAST)
    times = np.concatenate([[0.0], np.cumsum(durations)])
    return Trajectory(robot.joint_names, times, postures, still, still)


def slowed(trajectory: Trajectory, speed: float) -> Trajectory:
    """Return the same path at a share of the speed, for a rehearsal; limits stay kept.

    Velocities shrink with the speed, accelerations with its square, and with them the distance
    and the time of braking.

    Args:
        trajectory: the trajectory.
        speed: above 0 and at most 1.

    Raises:
        SettingError: the speed is not above 0 and at most 1.
    """
    if not 0.0 < speed <= 1.0:
        raise SettingError("speed", speed, "must be above 0 and at most 1")
    begin = trajectory.times[0]
    return Trajectory(
        trajectory.joint_names,
        begin + (trajectory.times - begin) / speed,
        trajectory.positions,
        None if trajectory.velocities is None else trajectory.velocities * speed,
        None if trajectory.accelerations is None else trajectory.accelerations * speed**2,
    )
