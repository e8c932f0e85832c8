"""The search with the inverse dynamic model: independent searches side by side, in rounds."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from robot_identification.excitation.clearance_penalty import ClearancePenalty
from robot_identification.excitation.criterion import condition
from robot_identification.excitation.curve import Points
from robot_identification.excitation.dynamic_observation import DynamicObservation
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.optimizers import Cancelled
from robot_identification.excitation.points import Progress, optimise_points
from robot_identification.excitation.refinement import Refinement, Stage
from robot_identification.excitation.side_by_side import side_by_side
from robot_identification.excitation.starts import (
    Candidate,
    between_rests,
    disturbed,
    fit,
    freed,
    random_starts,
)
from robot_identification.identification.base import BaseParameters
from robot_identification.robot.model import Array

if TYPE_CHECKING:
    from robot_identification.excitation.plan import PlanSettings

SAMPLES = 10
"""Samples per interval."""
_SMOOTHING = 0.05
_SECONDS_PER_INTERVAL = 1.5
_DURATION = 30.0
_STAGES = (
    Stage(2.0, 0.3, 150),
    Stage(4.0, 3.0, 200),
    Stage(8.0, 10.0, 300),
    Stage(16.0, 30.0, 400),
    Stage(32.0, 100.0, 400),
    Stage(64.0, 1000.0, 300),
)
_EARLY_STAGES = _STAGES[:4]  # enough to tell which of the random starts is worth going on from
_LATE_STAGES = _STAGES[2:]
_ROUND = 2  # searches near the best motion so far, before another may be the best


@dataclass(frozen=True)
class _Start:
    """One search: from which points, and how.

    Attributes:
        name: for reports.
        points: from rest to rest; None: the optimiser finds them first.
        optimizer: the one that finds the points, or found them.
        stages: of the refinement.
        origin: the first points of all, where ``points`` are near a motion that was found.
    """

    name: str
    points: Points | None
    optimizer: str
    stages: tuple[Stage, ...]
    origin: Points | None = None


def dynamic_candidates(
    base: BaseParameters,
    limits: MotionLimits,
    posture: Array,
    settings: PlanSettings,
    report: Progress,
    cancelled: Cancelled | None,
    clearance: ClearancePenalty | None = None,
) -> list[Candidate]:
    """Return refined motions from several starts; points come first for the other optimisers.

    The first half of the starts are random.  Each of the later half stands for two searches from
    the best motion so far, disturbed: near a good minimum better ones are found more often than
    from random points.  Two of them at a time are independent of each other, as all random ones
    are, and searched side by side.
    """
    duration = settings.duration or _DURATION
    intervals = settings.rows or max(4, round(duration / _SECONDS_PER_INTERVAL))
    even = np.full(intervals, duration / intervals)

    def refined(start: _Start, over: Cancelled) -> Candidate:
        observation = DynamicObservation(base, SAMPLES, _SMOOTHING)  # it serves one thread
        first = start.points
        if first is None:
            one = replace(settings.points, optimizers=(start.optimizer,), starts=1)
            best = optimise_points(observation, limits, even, one, cancelled=over)
            first = between_rests(best.points, posture)
        begun = freed(first, clearance)
        task = Refinement(observation, limits, begun, duration, clearance=clearance)
        points = task.run(start.stages, over)
        return fit(points, start.origin or first, limits, duration, start.optimizer)

    firsts = _first_starts(limits, posture, even, settings, clearance)
    later = range(2 * (settings.points.starts - _random_count(settings)))
    done = itertools.count()

    def tell(start: _Start) -> None:
        report(start.name, next(done) / (len(firsts) + len(later)))

    candidates = side_by_side(refined, firsts, cancelled=cancelled, awaited=tell)
    exact, measure = DynamicObservation(base, SAMPLES), settings.points.criterion.measure
    rng = np.random.default_rng(settings.points.seed)
    for i in range(0, len(later), _ROUND):
        best = min(candidates, key=lambda found: condition(exact.rows(found.points), measure))
        starts = [_near(best, limits, rng, number) for number in later[i : i + _ROUND]]
        candidates += side_by_side(refined, starts, cancelled=cancelled, awaited=tell)
    return candidates


def _random_count(settings: PlanSettings) -> int:
    """Return how many of the starts of the dynamic model with gradients are random."""
    return (settings.points.starts + 1) // 2


def _first_starts(
    limits: MotionLimits,
    posture: Array,
    durations: Array,
    settings: PlanSettings,
    clearance: ClearancePenalty | None,
) -> list[_Start]:
    """Return random starts for the search with gradients, and one for each other optimiser."""
    seed, count = settings.points.seed, settings.points.starts
    drawn = random_starts(limits, durations, seed, count, clearance)[: _random_count(settings)]
    stages = _EARLY_STAGES if count > 1 else _STAGES
    starts = []
    for optimizer in settings.points.optimizers:
        firsts = [between_rests(points, posture) for points in drawn]
        chosen = firsts if optimizer == "gradient" else [None]
        starts += [
            _Start(f"{optimizer}, start {i + 1}", first, optimizer, stages)
            for i, first in enumerate(chosen)
        ]
    return starts


def _near(best: Candidate, limits: MotionLimits, rng: np.random.Generator, number: int) -> _Start:
    """Return a start near a motion that was found."""
    points = disturbed(best.points, limits, rng)
    name = f"disturbed, search {number + 1}"
    return _Start(name, points, best.optimizer, _LATE_STAGES, best.first)
