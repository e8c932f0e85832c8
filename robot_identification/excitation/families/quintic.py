"""Quintic motions through points as a family of the search with the inverse dynamic model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from robot_identification.excitation.families.family import Start, already
from robot_identification.excitation.motions.braking import stopping_places
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import fitted, shortest_durations, trajectory_of
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.curve import Curve, Points
from robot_identification.excitation.objective.effort_rows import DynamicObservation
from robot_identification.excitation.objective.motion_map import Observation, Penalty
from robot_identification.excitation.objective.penalties import (
    ClearancePenalty,
    Intrusion,
    LimitPenalty,
)
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.optimizers import Cancelled
from robot_identification.excitation.search.points import optimise_points
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.robot.model import Array

_DURATION_RANGE = 3.0  # durations change by a factor of up to e^3 from where they start


@dataclass(frozen=True)
class PointUnknowns:
    """Positions and velocities between the ends over their limits, and logarithms of durations.

    Attributes:
        limits: of positions and velocities.
        first: where a search starts from; its first and last point stay.
    """

    limits: MotionLimits
    first: Points

    def bounds(self) -> list[tuple[float, float]]:
        """Return the least and the largest value of every unknown."""
        count, joints = self.first.positions.shape
        inner = [(-1.0, 1.0)] * (2 * joints * (count - 2))
        middle = np.log(self.first.durations)
        return inner + [(float(m) - _DURATION_RANGE, float(m) + _DURATION_RANGE) for m in middle]

    def vector(self, points: Points, /) -> Array:
        """Return (unknowns,) the unknowns of points."""
        scaled = (
            (points.positions[1:-1] - self.limits.middle) / self.limits.half_range,
            points.velocities[1:-1] / self.limits.velocity,
        )
        inner = np.clip(np.hstack(scaled), -1.0, 1.0)
        return np.concatenate([inner.ravel(), np.log(points.durations)])

    def motion(self, x: Array, /) -> Points:
        """Return the points of unknowns."""
        count, joints = self.first.positions.shape
        inner = x[: x.size - self.first.intervals].reshape(count - 2, 2 * joints) * self._widths
        positions, velocities = self.first.positions.copy(), self.first.velocities.copy()
        positions[1:-1] = self._middle + inner[:, :joints]
        velocities[1:-1] = inner[:, joints:]
        return Points(positions, velocities, np.exp(x[x.size - self.first.intervals :]))

    def gradient(self, points: Points, slope: Points, /) -> Array:
        """Return (unknowns,) derivatives over the unknowns, from those over the points."""
        inner = np.hstack([slope.positions[1:-1], slope.velocities[1:-1]]) * self._widths
        return np.concatenate([inner.ravel(), slope.durations * points.durations])

    @cached_property
    def _middle(self) -> Array:
        return self.limits.middle

    @cached_property
    def _widths(self) -> Array:
        """(2 joints,) what positions and velocities are scaled by."""
        return np.concatenate([self.limits.half_range, self.limits.velocity])


@dataclass(frozen=True)
class DurationPenalty:
    """The square of what the duration of a motion differs from the one aimed at, as a share of it.

    Attributes:
        duration: what is aimed at, in s.
    """

    duration: float

    def __call__(self, points: Points, weight: float = 1.0) -> tuple[float, Points]:
        """Return the square times a weight, and its gradient over the points."""
        late = float(points.durations.sum()) / self.duration - 1.0
        slope = np.full_like(points.durations, 2.0 * weight * late / self.duration)
        still = np.zeros_like(points.positions)
        return weight * late**2, Points(still, still, slope)


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


def fit(points: Points, limits: MotionLimits, duration: float | None) -> tuple[Points, bool]:
    """Return the motion with exact durations: those aimed at, or the shortest possible.

    Returns:
        The points, and whether velocities had to be reduced for the position limits.
    """
    least = points.durations if duration is not None else np.zeros(points.intervals)
    wanted = Points(points.positions, points.velocities, least)
    near = _with_room(wanted, limits)
    motion, reduced = fitted(near, limits)
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


DURATION = 30.0
"""Duration of a motion in s, where nobody says."""

_SAMPLES = 10
_SECONDS_PER_INTERVAL = 1.5
_LIMIT_FRACTIONS = (0.08, 0.17, 0.25, 0.33, 0.42, 0.5, 0.58, 0.67, 0.75, 0.83, 0.92)
_CLEARANCE_FRACTIONS = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True, eq=False)
class QuinticFamily:
    """Motions through points without acceleration, with durations between them as unknowns.

    Attributes:
        limits: what to keep.
        posture: (joints,) where motions start and end.
        names: of the joints.
        intrusion: what postures lack to their clearance; None: nothing is to be kept clear of.
        duration: total duration to aim at, in s; None lets the limits decide.
        intervals: number of intervals.
    """

    limits: MotionLimits
    posture: Array
    names: tuple[str, ...]
    intrusion: Intrusion | None = None
    duration: float | None = DURATION
    intervals: int = 20

    @classmethod
    def of(
        cls,
        limits: MotionLimits,
        posture: Array,
        names: tuple[str, ...],
        intrusion: Intrusion | None,
        settings: PlanSettings,
    ) -> QuinticFamily:
        """Return the motions that settings of the dynamic model ask for."""
        duration = settings.duration or DURATION
        intervals = settings.rows or max(4, round(duration / _SECONDS_PER_INTERVAL))
        return cls(limits, posture, names, intrusion, duration, intervals)

    def observation(
        self, base: BaseParameters, smoothing: float = 0.0
    ) -> DynamicObservation[Points]:
        """Return the system that a motion gives; it serves one thread."""
        return DynamicObservation(base, Curve.midpoints(_SAMPLES), smoothing)

    @cached_property
    def limit_penalty(self) -> Penalty[Points]:
        """Excess of a motion over its limits."""
        return LimitPenalty(self.limits, Curve(_LIMIT_FRACTIONS))

    @cached_property
    def clearance_penalty(self) -> Penalty[Points] | None:
        """Clearance that a motion lacks; None: it need not keep clear of anything."""
        if self.intrusion is None:
            return None
        return ClearancePenalty(self.intrusion, Curve(_CLEARANCE_FRACTIONS))

    @cached_property
    def aim_penalty(self) -> Penalty[Points] | None:
        """Difference of a motion from the duration aimed at; None: the limits decide."""
        return None if self.duration is None else DurationPenalty(self.duration)

    def unknowns(self, first: Points, /) -> PointUnknowns:
        """Return motions near a first one as vectors of unknowns."""
        return PointUnknowns(self.limits, first)

    def starts(self, settings: PlanSettings, count: int, /) -> list[Start[Points]]:
        """Return random starts for the search with gradients, and one for each other optimiser."""
        durations = np.full(self.intervals, (self.duration or DURATION) / self.intervals)
        chosen = settings.points
        drawn = random_starts(self.limits, durations, chosen.seed, chosen.starts, self.intrusion)[
            :count
        ]
        result = []
        for optimizer in chosen.optimizers:
            if optimizer == "gradient":
                firsts = [already(between_rests(one, self.posture)) for one in drawn]
            else:
                firsts = [self._by_optimiser(durations, optimizer, settings)]
            result += [
                Start(f"{optimizer}, start {i + 1}", optimizer, first)
                for i, first in enumerate(firsts)
            ]
        return result

    def _by_optimiser(
        self, durations: Array, optimizer: str, settings: PlanSettings
    ) -> Callable[[Observation[Points], Cancelled], Points]:
        """Return what searches the points of a first motion without gradients."""
        one = replace(settings.points, optimizers=(optimizer,), starts=1)

        def search(observation: Observation[Points], cancelled: Cancelled) -> Points:
            best = optimise_points(observation, self.limits, durations, one, cancelled=cancelled)
            return between_rests(best.points, self.posture)

        return search

    def disturbed(self, motion: Points, rng: np.random.Generator, /) -> Points:
        """Return points of which all but the first and the last are moved at random."""
        return disturbed(motion, self.limits, rng)

    def fitted(self, motion: Points, /) -> tuple[Points, bool]:
        """Return a motion that keeps all limits, and whether velocities had to be reduced."""
        return fit(motion, self.limits, self.duration)

    def trajectory(self, motion: Points, /) -> Trajectory:
        """Return the trajectory through points."""
        return trajectory_of(motion, self.names)
