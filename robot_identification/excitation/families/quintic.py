"""Quintic motions through points as a family of the search with the inverse dynamic model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from robot_identification.excitation.families.family import Start, already
from robot_identification.excitation.families.quintic_points import (
    between_rests,
    disturbed,
    fit,
    random_starts,
)
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import trajectory_of
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
from robot_identification.robot.arrays import Array

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
        return fit(motion, self.limits, self.duration, self.names)

    def trajectory(self, motion: Points, /) -> Trajectory:
        """Return the trajectory through points."""
        return trajectory_of(motion, self.names)
