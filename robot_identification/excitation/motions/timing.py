"""Shortest durations between points that keep the limits of a motion (section 5.2)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.compiled import as_compiled
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.kernels import extrema as extrema_kernels
from robot_identification.excitation.motions import quintic
from robot_identification.excitation.motions.braking import stopping_places
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory, interpolate
from robot_identification.excitation.objective.curve import Points
from robot_identification.robot.arrays import Array

_ROUNDING = 1e-9
_STRETCH = 1.1
_STRETCHES = 200
_SHORTEST = 1e-2
_HALVINGS = 12
_ATTEMPTS = 40
_SLOWINGS = 24  # makes a move ten times as long


def motion_extrema(coefficients: Array, durations: Array) -> Array:
    """Return smallest and largest position, velocity, acceleration and jerk of every piece.

    Args:
        coefficients: (pieces, joints, 6) by rising powers of the time since a piece began.
        durations: (pieces,) in s.

    Returns:
        (4, 2, pieces, joints).
    """
    out = np.empty((4, 2, *coefficients.shape[:2]))
    extrema_kernels.motion_extrema(*as_compiled(coefficients, durations), out)
    return out


def shortest_durations(
    positions: Array, velocities: Array, limits: MotionLimits, least: float = _SHORTEST
) -> Array:
    """Return the shortest durations that keep velocity, acceleration and jerk.

    All joints take the duration of the slowest one.  Where a limit is not kept after all, because
    of rounding or for the jerk, the interval is stretched until it is.

    Args:
        positions: (points, joints) in rad or m.
        velocities: (points, joints), inside the velocity limits.
        limits: the limits.
        least: no duration is shorter, in s.

    Returns:
        (points - 1,) durations in s.

    Raises:
        TrajectoryError: a velocity at a point is above its limit.
    """
    steps = np.diff(positions, axis=0)
    durations = np.full(len(steps), least)
    for i, j in np.ndindex(*steps.shape):
        shortest = quintic.shortest_duration(
            float(steps[i, j]),
            float(velocities[i, j]),
            float(velocities[i + 1, j]),
            float(limits.velocity[j]),
            float(limits.acceleration[j]),
        )
        durations[i] = max(durations[i], shortest)
    bounds = np.array([limits.velocity, limits.acceleration, limits.jerk]) * (1.0 + _ROUNDING)
    for _ in range(_STRETCHES):
        extrema = motion_extrema(_quintics(positions, velocities, durations), durations)[1:]
        too_fast = (np.abs(extrema) > bounds[:, None, None, :]).any(axis=(0, 1, 3))
        if not too_fast.any():
            break
        durations = np.where(too_fast, durations * _STRETCH, durations)
    return durations


def _quintics(positions: Array, velocities: Array, durations: Array) -> Array:
    times = np.concatenate([[0.0], np.cumsum(durations)])
    return interpolate(times, positions, velocities, np.zeros_like(positions))


def trajectory_of(points: Points, joint_names: tuple[str, ...]) -> Trajectory:
    """Return the trajectory through points, without acceleration at them."""
    return Trajectory(
        joint_names,
        np.concatenate([[0.0], np.cumsum(points.durations)]),
        points.positions,
        points.velocities,
        np.zeros_like(points.positions),
    )


def leaves_limits(points: Points, limits: MotionLimits) -> npt.NDArray[np.bool_]:
    """Return (intervals, joints): which joint leaves its positions, or would when it brakes."""
    names = tuple(str(j) for j in range(points.positions.shape[1]))
    return stops_outside(trajectory_of(points, names), limits)


def stops_outside(trajectory: Trajectory, limits: MotionLimits) -> npt.NDArray[np.bool_]:
    """Return (pieces, joints): which joint leaves its positions, or would when it brakes."""
    low, high = stopping_places(limits, trajectory)
    slack = _ROUNDING * (1.0 + limits.half_range)
    outside: npt.NDArray[np.bool_] = (low < limits.lower - slack) | (high > limits.upper + slack)
    return outside


def durations_between_rests(
    postures: Array, slow: MotionLimits, limits: MotionLimits, least: float
) -> Array:
    """Return durations of moves that rest at every posture, and brake inside the position limits.

    A joint with a limit of jerk goes on beyond a posture that it is about to rest at when it is
    braked, the less the slower it comes: near a position limit moves take longer.  Where a posture
    is at the limit itself no duration helps, and the certificate refuses the move.

    Args:
        postures: (postures, joints) in rad or m.
        slow: limits of the moves.
        limits: limits of the robot, which it brakes with.
        least: no move is shorter, in s.

    Returns:
        (postures - 1,) durations in s.
    """
    still = np.zeros_like(postures)
    durations = shortest_durations(postures, still, slow, least=least)
    for _ in range(_SLOWINGS):
        outside = leaves_limits(Points(postures, still, durations), limits).any(axis=1)
        if not outside.any():
            break
        durations = np.where(outside, durations * _STRETCH, durations)
    return durations


def fitted(
    points: Points, limits: MotionLimits, joint_names: tuple[str, ...]
) -> tuple[Points, bool]:
    """Return points with durations that keep all limits, and velocities reduced where needed.

    The extrema of positions grow with the duration and with the velocities at the points, so that
    halving these ends at a motion inside the limits.

    Args:
        points: at rest at both ends; their durations are the shortest that are wanted.
        limits: what to keep, while braking too.
        joint_names: names of the joints, for the error.

    Returns:
        The points, and whether velocities had to be reduced.

    Raises:
        TrajectoryError: a velocity at a point is above its limit.
        NotCertifiedError: no motion through the points keeps the limits.
    """
    velocities, least = points.velocities.copy(), points.durations
    for attempt in range(_ATTEMPTS):
        shortest = shortest_durations(points.positions, velocities, limits)
        timed = Points(points.positions, velocities, np.maximum(shortest, least))
        outside = leaves_limits(timed, limits)
        if not outside.any():
            return timed, attempt > 0
        velocities = velocities.copy()
        factor = 0.5 if attempt < _HALVINGS else 0.0
        velocities[:-1][outside] *= factor
        velocities[1:][outside] *= factor
        if attempt >= _HALVINGS // 2:
            least = np.where(outside.any(axis=1), timed.durations * _STRETCH, least)
    joint = joint_names[int(np.flatnonzero(outside.any(axis=0))[0])]
    raise NotCertifiedError(
        "position",
        f"{joint} cannot pass its points inside its position limits and brake there; begin and end "
        "farther from them",
    )
