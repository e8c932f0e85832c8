"""Quintic motions through points as a family of the search with the inverse dynamic model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from robot_identification.excitation.families.family import Start, already
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import trajectory_of
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.clearance_penalty import ClearancePenalty, Intrusion
from robot_identification.excitation.objective.curve import Curve, Points
from robot_identification.excitation.objective.effort_rows import DynamicObservation
from robot_identification.excitation.objective.limit_penalty import LimitPenalty
from robot_identification.excitation.objective.motion_map import Observation, Penalty
from robot_identification.excitation.search import starts
from robot_identification.excitation.search.optimizers import Cancelled
from robot_identification.excitation.search.point_unknowns import DurationPenalty, PointUnknowns
from robot_identification.excitation.search.points import optimise_points
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.robot.model import Array

if TYPE_CHECKING:
    from robot_identification.excitation.plan import PlanSettings

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
        """What a motion exceeds its limits by."""
        return LimitPenalty(self.limits, Curve(_LIMIT_FRACTIONS))

    @cached_property
    def clearance_penalty(self) -> Penalty[Points] | None:
        """What a motion lacks to its clearance; None: it need not keep clear of anything."""
        if self.intrusion is None:
            return None
        return ClearancePenalty(self.intrusion, Curve(_CLEARANCE_FRACTIONS))

    @cached_property
    def aim_penalty(self) -> Penalty[Points] | None:
        """What a motion lacks to the duration aimed at; None: the limits decide."""
        return None if self.duration is None else DurationPenalty(self.duration)

    def unknowns(self, first: Points, /) -> PointUnknowns:
        """Return motions near a first one as vectors of unknowns."""
        return PointUnknowns(self.limits, first)

    def starts(self, settings: PlanSettings, count: int, /) -> list[Start[Points]]:
        """Return random starts for the search with gradients, and one for each other optimiser."""
        durations = np.full(self.intervals, (self.duration or DURATION) / self.intervals)
        chosen = settings.points
        drawn = starts.random_starts(
            self.limits, durations, chosen.seed, chosen.starts, self.intrusion
        )[:count]
        result = []
        for optimizer in chosen.optimizers:
            if optimizer == "gradient":
                firsts = [already(starts.between_rests(one, self.posture)) for one in drawn]
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
            return starts.between_rests(best.points, self.posture)

        return search

    def disturbed(self, motion: Points, rng: np.random.Generator, /) -> Points:
        """Return points of which all but the first and the last are moved at random."""
        return starts.disturbed(motion, self.limits, rng)

    def fitted(self, motion: Points, /) -> tuple[Points, bool]:
        """Return a motion that keeps all limits, and whether velocities had to be reduced."""
        return starts.fit(motion, self.limits, self.duration)

    def trajectory(self, motion: Points, /) -> Trajectory:
        """Return the trajectory through points."""
        return trajectory_of(motion, self.names)
