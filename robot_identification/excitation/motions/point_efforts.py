"""Efforts of a model in the points of a trajectory, for controllers that add them to their own.

A controller draws straight lines between the efforts of two points.  Where such a line is off,
points are put in between, on the polynomials that the trajectory follows there anyway: positions,
velocities and accelerations stay what they were at every time.  Where the sign of a velocity
changes, friction jumps, and two points close to each other take the jump.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.excitation.motions.trajectory import NANOSECONDS, Trajectory
from robot_identification.robot.arrays import Array

TOLERANCE = 0.002
"""How far a line may be off, as a share of the joint's effort limit."""
SHORTEST = 0.001
"""Time between two points, in s, at which none is put in between any more."""

_LOOKS = np.arange(1, 8) / 8.0  # where lines are looked at: halves alone hide a jump
_AT_REST = 1e-9  # rad/s or m/s: what rounding leaves of a velocity has no sign


def with_efforts(
    trajectory: Trajectory, model: FeedForward, *, shortest: float = SHORTEST
) -> Trajectory:
    """Return a trajectory whose points carry the efforts of a model.

    Friction follows the signs of the trajectory's own velocities.

    Args:
        trajectory: the motion; efforts that its points carry are replaced.
        model: gives the efforts, within the limits of the joints.
        shortest: time between two points, in s, at which none is put in between any more.

    Returns:
        The same motion, joints in the order of the model, with more points where that is needed.

    Raises:
        TrajectoryError: it moves other joints than the robot has.
        SampleError: an effort would not be finite.
    """
    motion = trajectory.reordered(model.joint_names)
    times = motion.times
    efforts = _efforts(motion, model, times)
    left = np.arange(len(times) - 1)  # pieces to be looked at
    while left.size:
        wrong = left[_off(motion, model, times, efforts, left)]
        wrong = wrong[np.diff(times)[wrong] > 2.0 * shortest]
        between = _whole(0.5 * (times[wrong] + times[wrong + 1]))
        times = np.insert(times, wrong + 1, between)
        efforts = np.insert(efforts, wrong + 1, _efforts(motion, model, between), axis=0)
        first = wrong + np.arange(len(wrong))
        left = np.sort(np.concatenate([first, first + 1]))
    return _through(motion, times, efforts)


def _off(
    motion: Trajectory,
    model: FeedForward,
    times: Array,
    efforts: Array,
    pieces: npt.NDArray[np.intp],
) -> npt.NDArray[np.bool_]:
    """Tell in which pieces the lines between efforts are off."""
    begin, end = (times[pieces + k][:, None] for k in (0, 1))
    there = begin + _LOOKS * (end - begin)
    true = _efforts(motion, model, there.ravel()).reshape(*there.shape, -1)
    first, last = (efforts[pieces + k][:, None] for k in (0, 1))
    drawn = first + _LOOKS[:, None] * (last - first)
    return np.asarray((np.abs(true - drawn) > TOLERANCE * model.limits).any(axis=(1, 2)))


def _efforts(motion: Trajectory, model: FeedForward, times: Array) -> Array:
    """Return (samples, joints) efforts of the model along a motion."""
    if not times.size:
        return np.zeros((0, len(model.joint_names)))
    position, velocity, acceleration = motion.sample(times)
    moving = np.where(np.abs(velocity) > _AT_REST, velocity, 0.0)
    return model.efforts(position, moving, acceleration)


def _whole(times: Array) -> Array:
    """Return times that messages hold without rounding."""
    return np.asarray(np.rint(times * NANOSECONDS) / NANOSECONDS)


def _through(motion: Trajectory, times: Array, efforts: Array) -> Trajectory:
    """Return a motion through more points, those that it had as they were."""
    own = np.isin(times, motion.times)

    position, velocity, acceleration = map(np.array, motion.sample(times))
    position[own] = motion.positions
    if motion.velocities is not None:
        velocity[own] = motion.velocities
    if motion.accelerations is not None:
        acceleration[own] = motion.accelerations
    return Trajectory(
        motion.joint_names,
        times,
        position,
        None if motion.velocities is None else velocity,
        None if motion.accelerations is None else acceleration,
        efforts,
    )
