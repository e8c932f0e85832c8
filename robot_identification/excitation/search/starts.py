"""Start values of searches of motions through points, and their durations."""

from __future__ import annotations

import numpy as np

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import fitted, shortest_durations
from robot_identification.excitation.objective.clearance_penalty import Intrusion
from robot_identification.excitation.objective.curve import Points
from robot_identification.robot.model import Array

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


def fit(points: Points, limits: MotionLimits, duration: float | None) -> tuple[Points, bool]:
    """Return the motion with exact durations: those aimed at, or the shortest possible.

    Returns:
        The points, and whether velocities had to be reduced for the position limits.
    """
    least = points.durations if duration is not None else np.zeros(points.intervals)
    return fitted(Points(points.positions, points.velocities, least), limits)
