"""The search behind a plan: points, then points and durations together, then exact durations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from robot_identification.excitation.criterion import Criterion, condition
from robot_identification.excitation.curve import Points
from robot_identification.excitation.dynamic_observation import DynamicObservation
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.observation import (
    EnergyObservation,
    InnerObservation,
    Observation,
)
from robot_identification.excitation.optimizers import Cancelled
from robot_identification.excitation.points import Progress, Quality, optimise_points
from robot_identification.excitation.refinement import Refinement, Stage
from robot_identification.excitation.timing import fitted, shortest_durations, trajectory_of
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.identification.base import BaseParameters
from robot_identification.robot.model import Array

if TYPE_CHECKING:
    from robot_identification.excitation.plan import PlanSettings

_SMOOTHING = 0.05
_SAMPLES = 10
_SECONDS_PER_INTERVAL = 1.5
_DYNAMIC_DURATION = 30.0
_EQUILIBRIUM_WEIGHT = 0.25
_STAGES = (
    Stage(2.0, 0.3, 150),
    Stage(4.0, 3.0, 200),
    Stage(8.0, 10.0, 300),
    Stage(16.0, 30.0, 400),
    Stage(32.0, 100.0, 400),
    Stage(64.0, 1000.0, 300),
)
_LATE_STAGES = _STAGES[2:]
_DISTURBANCE = 0.1
_ENERGY_STAGES = (
    Stage(2.0, 1.0, 200, equilibrates=False),
    Stage(2.0, 10.0, 200, equilibrates=False),
    *(
        Stage(sharpness, max(10.0, 7.0 * sharpness), 300)
        for sharpness in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
    ),
)


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        trajectory: from rest to rest, inside the limits.
        before: quality of the system at the start of the search.
        after: quality of the system of the trajectory.
        rows: rows of the system.
        optimizer: the one that won.
        reduced: whether velocities at points had to be reduced for the position limits.
    """

    trajectory: Trajectory
    before: Quality
    after: Quality
    rows: int
    optimizer: str
    reduced: bool


@dataclass(frozen=True)
class _Candidate:
    """A motion from rest to rest and where it came from."""

    points: Points
    first: Points
    optimizer: str
    reduced: bool
    before: Quality | None = None  # of the random start, where ``first`` is not that


def search(
    base: BaseParameters,
    limits: MotionLimits,
    posture: Array,
    settings: PlanSettings,
    *,
    seed_step: int = 0,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Found:
    """Return the best motion found that keeps the limits while running and while braking.

    Args:
        base: base parameters of the robot.
        limits: limits to plan with.
        posture: (joints,) where it starts and ends.
        settings: how to plan.
        seed_step: added to the seed.
        progress: told the stage and the fraction that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        NotCertifiedError: no motion keeps the limits.
        CancelledError: if ``cancelled`` says so.
    """
    report = progress or _silent
    seeded = replace(settings.points, seed=settings.points.seed + 7919 * seed_step)
    chosen = replace(settings, points=seeded)
    energy = chosen.model == "energy"
    run = _energy_candidates if energy else _dynamic_candidates
    exact: Observation = (
        InnerObservation(EnergyObservation(base)) if energy else DynamicObservation(base, _SAMPLES)
    )
    candidates = run(base, limits, posture, chosen, report, cancelled)
    criterion = chosen.points.criterion
    if not energy:
        criterion = Criterion(criterion.measure, criterion.condition_weight, 0.0)
    best = min(candidates, key=lambda found: criterion.value(exact.rows(found.points)))
    W = exact.rows(best.points)
    report("done", 1.0)
    return Found(
        trajectory=trajectory_of(best.points, base.robot.joint_names),
        before=best.before or Quality.of(exact.rows(best.first)),
        after=Quality.of(W),
        rows=len(W),
        optimizer=best.optimizer,
        reduced=best.reduced,
    )


def _energy_candidates(
    base: BaseParameters,
    limits: MotionLimits,
    posture: Array,
    settings: PlanSettings,
    report: Progress,
    cancelled: Cancelled | None,
) -> list[_Candidate]:
    """Return motions through the best points of the energy model, and through refined ones."""
    rows = settings.rows or 2 * base.rank
    weight = _EQUILIBRIUM_WEIGHT if settings.points.criterion.equilibrium_weight > 0.0 else 0.0
    observation = EnergyObservation(base, _SMOOTHING)
    even = np.full(rows, (settings.duration or rows) / rows)
    found = optimise_points(
        observation,
        limits,
        even,
        settings.points,
        progress=lambda stage, done: report(stage, 0.5 * done),
        cancelled=cancelled,
    )
    firsts = [_from_rest(found.points, posture, limits, settings.duration)]
    firsts += [
        _from_rest(points, posture, limits, settings.duration)
        for points in _random_starts(limits, even, settings)[1:]
    ]
    inner = InnerObservation(observation)
    candidates = []
    for i, first in enumerate(firsts):
        report("limits", 0.5 + 0.5 * i / len(firsts))
        prior = settings.points.criterion.prior
        task = Refinement(inner, limits, first, settings.duration, weight, prior)
        refined = task.run(_ENERGY_STAGES, cancelled)
        before, winner = (found.before, found.optimizer) if i == 0 else (None, "gradient")
        for points in (first, refined):
            fit = _fit(points, first, limits, settings.duration, winner)
            candidates.append(replace(fit, before=before))
    return candidates


def _dynamic_candidates(
    base: BaseParameters,
    limits: MotionLimits,
    posture: Array,
    settings: PlanSettings,
    report: Progress,
    cancelled: Cancelled | None,
) -> list[_Candidate]:
    """Return refined motions from several starts; points come first for the other optimisers.

    The later half of the starts are the best motion so far, disturbed: near a good minimum better
    ones are found more often than from random points.
    """
    duration = settings.duration or _DYNAMIC_DURATION
    intervals = settings.rows or max(4, round(duration / _SECONDS_PER_INTERVAL))
    durations = np.full(intervals, duration / intervals)
    observation = DynamicObservation(base, _SAMPLES, _SMOOTHING)
    candidates = []
    for optimizer in settings.points.optimizers:
        for i, start in enumerate(_starts(observation, limits, durations, settings, optimizer)):
            report(f"{optimizer}, start {i + 1}", i / settings.points.starts)
            first = _between_rests(start, posture)
            refined = Refinement(observation, limits, first, duration).run(_STAGES, cancelled)
            candidates.append(_fit(refined, first, limits, duration, optimizer))
    exact, measure = DynamicObservation(base, _SAMPLES), settings.points.criterion.measure
    rng = np.random.default_rng(settings.points.seed)
    for i in range(_random_count(settings), settings.points.starts):
        report(f"disturbed, start {i + 1}", i / settings.points.starts)
        best = min(candidates, key=lambda found: condition(exact.rows(found.points), measure))
        near = _disturbed(best.points, limits, rng)
        refined = Refinement(observation, limits, near, duration).run(_LATE_STAGES, cancelled)
        candidates.append(_fit(refined, best.first, limits, duration, best.optimizer))
    return candidates


def _random_count(settings: PlanSettings) -> int:
    """Return how many of the starts of the dynamic model are random."""
    return (settings.points.starts + 1) // 2


def _disturbed(points: Points, limits: MotionLimits, rng: np.random.Generator) -> Points:
    """Return points of which all but the first and the last are moved at random."""
    positions, velocities = points.positions.copy(), points.velocities.copy()
    inner = positions[1:-1].shape
    positions[1:-1] += 0.5 * _DISTURBANCE * limits.half_range * rng.normal(size=inner)
    velocities[1:-1] += _DISTURBANCE * limits.velocity * rng.normal(size=inner)
    return Points(positions, velocities, points.durations)


def _starts(
    observation: Observation,
    limits: MotionLimits,
    durations: Array,
    settings: PlanSettings,
    optimizer: str,
) -> list[Points]:
    if optimizer != "gradient":
        points = replace(settings.points, optimizers=(optimizer,), starts=1)
        return [optimise_points(observation, limits, durations, points).points]
    return _random_starts(limits, durations, settings)[: _random_count(settings)]


def _random_starts(limits: MotionLimits, durations: Array, settings: PlanSettings) -> list[Points]:
    """Return random points that leave room for the motion between them."""
    seeds = np.random.SeedSequence(settings.points.seed).spawn(settings.points.starts)
    shape = (len(durations) + 1, len(limits.lower))
    starts = []
    for rng in map(np.random.default_rng, seeds):
        positions = limits.middle + limits.half_range * rng.uniform(-0.5, 0.5, shape)
        velocities = limits.velocity * rng.uniform(-0.4, 0.4, shape)
        starts.append(Points(positions, velocities, durations))
    return starts


def _between_rests(points: Points, posture: Array) -> Points:
    """Return points of which the first and the last are the posture at rest."""
    positions, velocities = points.positions.copy(), points.velocities.copy()
    positions[[0, -1]], velocities[[0, -1]] = posture, 0.0
    return Points(positions, velocities, points.durations)


def _from_rest(
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


def _fit(
    points: Points, first: Points, limits: MotionLimits, duration: float | None, optimizer: str
) -> _Candidate:
    """Return the motion with exact durations: those aimed at, or the shortest possible."""
    least = points.durations if duration is not None else np.zeros(points.intervals)
    done, reduced = fitted(Points(points.positions, points.velocities, least), limits)
    return _Candidate(done, first, optimizer, reduced)


def _silent(_stage: str, _fraction: float) -> None:
    """Report to nobody."""
