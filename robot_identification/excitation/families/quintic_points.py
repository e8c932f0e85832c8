"""Points of quintic motions: random ones to start from, and a motion through them within limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_identification.excitation.motions.braking import stopping_places
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import fitted, shortest_durations, trajectory_of
from robot_identification.excitation.objective.curve import Points
from robot_identification.excitation.objective.penalties import Intrusion
from robot_identification.robot.arrays import Array

_LEAST_SHARE = 0.1  # of the way from the start to which a joint may be drawn in
_ROUNDING = 1e-9
_TINY = 1e-12
_DISTURBANCE = 0.1
_REDRAWN = 50


def random_starts(
    limits: MotionLimits,
    durations: Array,
    seed: int,
    count: int,
    intrusion: Intrusion | None = None,
) -> list[Points]:
    """Return random points that leave room for the motion between them, in free postures."""
    seeds = np.random.SeedSequence(seed).spawn(count)
    shape = (len(durations) + 1, len(limits.lower))
    starts = []
    for rng in map(np.random.default_rng, seeds):
        positions = limits.middle + limits.half_range * rng.uniform(-0.5, 0.5, shape)
        for _ in range(_REDRAWN if intrusion is not None else 0):
            taken = ~intrusion.free(positions)  # type: ignore[union-attr]
            if not taken.any():
                break
            drawn = rng.uniform(-0.5, 0.5, (int(taken.sum()), shape[1]))
            positions[taken] = limits.middle + limits.half_range * drawn
        velocities = limits.velocity * rng.uniform(-0.4, 0.4, shape)
        starts.append(Points(positions, velocities, durations))
    return starts


def disturbed(points: Points, limits: MotionLimits, rng: np.random.Generator) -> Points:
    """Return points of which all but the first and the last are moved at random."""
    positions, velocities = points.positions.copy(), points.velocities.copy()
    inner = positions[1:-1].shape
    positions[1:-1] += 0.5 * _DISTURBANCE * limits.half_range * rng.normal(size=inner)
    velocities[1:-1] += _DISTURBANCE * limits.velocity * rng.normal(size=inner)
    return Points(positions, velocities, points.durations)


def between_rests(points: Points, posture: Array) -> Points:
    """Return points of which the first and the last are the posture at rest."""
    positions, velocities = points.positions.copy(), points.velocities.copy()
    positions[[0, -1]], velocities[[0, -1]] = posture, 0.0
    return Points(positions, velocities, points.durations)


def from_rest(
    points: Points, posture: Array, limits: MotionLimits, duration: float | None
) -> Points:
    """Return the points with the posture at rest put before and behind them."""
    positions = np.vstack([posture, points.positions, posture])
    still = np.zeros((1, len(posture)))
    velocities = np.clip(
        np.vstack([still, points.velocities, still]), -limits.velocity, limits.velocity
    )
    if duration is not None:
        even = np.full(len(positions) - 1, duration / (len(positions) - 1))
        return Points(positions, velocities, even)
    return Points(positions, velocities, shortest_durations(positions, velocities, limits))


def fit(
    points: Points, limits: MotionLimits, duration: float | None, joint_names: tuple[str, ...]
) -> tuple[Points, bool]:
    """Return the motion with exact durations: those aimed at, or the shortest possible.

    Returns:
        The points, and whether velocities had to be reduced for the position limits.

    Raises:
        NotCertifiedError: no motion through the points keeps the limits.
    """
    least = points.durations if duration is not None else np.zeros(points.intervals)
    wanted = Points(points.positions, points.velocities, least)
    near = _with_room(wanted, limits)
    motion, reduced = fitted(near, limits, joint_names)
    return motion, reduced or near is not wanted


def _with_room(points: Points, limits: MotionLimits) -> Points:
    """Return the points with joints whose jerk is limited drawn in as far as braking needs.

    Such a joint always takes the same time to brake, and goes on beyond a point at which it comes
    to rest, however slowly: where the point is at its limit, no duration helps.  Drawn in towards
    its start, with as much less of its velocities, it ends by that much nearer to that.  Joints
    with hardly any room at the start are left as they are.
    """
    jerky = np.isfinite(limits.jerk)
    if not jerky.any():
        return points
    shortest = shortest_durations(points.positions, points.velocities, limits)
    timed = replace(points, durations=np.maximum(shortest, points.durations))
    names = tuple(str(joint) for joint in range(len(jerky)))
    low, high = stopping_places(limits, trajectory_of(timed, names))
    start = points.positions[0]
    room = np.array([limits.upper - start, start - limits.lower])
    ways = np.array([high.max(axis=0) - start, start - low.min(axis=0)])
    shares = np.min(room / np.maximum(ways, np.maximum(room, _TINY)), axis=0)
    shares = np.where(jerky & (shares >= _LEAST_SHARE), shares, 1.0)
    if (shares == 1.0).all():
        return points
    shares = np.where(shares < 1.0, (1.0 - _ROUNDING) * shares, 1.0)
    return Points(
        start + shares * (points.positions - start), shares * points.velocities, timed.durations
    )
