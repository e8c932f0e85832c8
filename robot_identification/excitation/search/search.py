"""The search behind a plan: points, then points and durations together, then exact durations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.families.family import (
    SMOOTHING,
    Candidate,
    Family,
    freed,
    penalties_of,
)
from robot_identification.excitation.families.fourier import FourierFamily
from robot_identification.excitation.families.quintic import QuinticFamily
from robot_identification.excitation.families.quintic_points import from_rest, random_starts
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.criterion import Criterion
from robot_identification.excitation.objective.curve import Points
from robot_identification.excitation.objective.energy_rows import (
    EnergyObservation,
    InnerObservation,
)
from robot_identification.excitation.objective.motion_map import Motion, Observation
from robot_identification.excitation.objective.penalties import Intrusion
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.dynamic import dynamic_candidates
from robot_identification.excitation.search.optimizers import Cancelled, refuse_cancelled
from robot_identification.excitation.search.points import Progress, Quality, optimise_points
from robot_identification.excitation.search.refinement import Refinement, Stage
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.robot.arrays import Array

_EQUILIBRIUM_WEIGHT = 0.25
_STAGES = (
    Stage(2.0, 1.0, 200, equilibrates=False),
    Stage(2.0, 10.0, 200, equilibrates=False),
    *(
        Stage(sharpness, max(10.0, 7.0 * sharpness), 300)
        for sharpness in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
    ),
)


def energy_candidates(
    base: BaseParameters,
    family: QuinticFamily,
    settings: PlanSettings,
    report: Progress,
    cancelled: Cancelled | None,
) -> list[Candidate[Points]]:
    """Return motions through the best points of the energy model, and through refined ones.

    Raises:
        NotCertifiedError: none of them keeps the limits.
        CancelledError: if ``cancelled`` says so.
    """
    rows, limits, posture = settings.rows or 2 * base.rank, family.limits, family.posture
    weight = _EQUILIBRIUM_WEIGHT if settings.points.criterion.equilibrium_weight > 0.0 else 0.0
    observation = EnergyObservation(base, SMOOTHING)
    even = np.full(rows, (settings.duration or rows) / rows)
    found = optimise_points(
        observation,
        limits,
        even,
        settings.points,
        progress=lambda stage, done: report(stage, 0.5 * done),
        cancelled=cancelled,
    )
    firsts = [from_rest(found.points, posture, limits, settings.duration)]
    firsts += [
        from_rest(points, posture, limits, settings.duration)
        for points in random_starts(
            limits, even, settings.points.seed, settings.points.starts, family.intrusion
        )[1:]
    ]
    inner = InnerObservation(observation)
    penalties, prior = penalties_of(family), settings.points.criterion.prior
    candidates: list[Candidate[Points]] = []
    refused: NotCertifiedError | None = None
    for i, first in enumerate(firsts):
        report("limits", 0.5 + 0.5 * i / len(firsts))
        begun = freed(first, family.clearance_penalty)
        task = Refinement(inner, family.unknowns(begun), penalties, weight, prior)
        refined = task.run(begun, _STAGES, cancelled)
        before, winner = (found.before, found.optimizer) if i == 0 else (None, "gradient")
        for points in (first, refined):
            motion = _fitted(family, points)
            if isinstance(motion, NotCertifiedError):
                refused = motion
            else:
                candidates.append(Candidate(motion[0], first, winner, motion[1], before))
    if refused is not None and not candidates:
        raise refused
    return candidates


def _fitted(family: QuinticFamily, points: Points) -> tuple[Points, bool] | NotCertifiedError:
    """Return a motion that keeps the limits, and whether velocities were reduced, or a refusal."""
    try:
        return family.fitted(points)
    except NotCertifiedError as error:
        return error


_DRAWN_IN = (1.0, 0.97, 0.94, 0.9, 0.85)
"""Shares of the way from the start that motions are tried with."""


@dataclass(frozen=True)
class Found:
    """Result of a search.

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


def search(
    base: BaseParameters,
    limits: MotionLimits,
    posture: Array,
    settings: PlanSettings,
    *,
    seed_step: int = 0,
    intrusion: Intrusion | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Iterator[Found]:
    """Give out the motions found that keep the limits while running and braking, the best first.

    Args:
        base: base parameters of the robot.
        limits: limits to plan with.
        posture: (joints,) where it starts and ends.
        settings: how to plan.
        seed_step: added to the seed.
        intrusion: what postures lack to their clearance; None: they need not keep clear.
        progress: told the stage and the fraction that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        NotCertifiedError: no motion keeps the limits.
        CancelledError: if ``cancelled`` says so.
    """
    report = progress or _silent
    seeded = replace(settings.points, seed=settings.points.seed + 7919 * seed_step)
    chosen = replace(settings, points=seeded)
    names, criterion = base.robot.joint_names, chosen.points.criterion
    if chosen.model == "energy":
        through = QuinticFamily(limits, posture, names, intrusion, chosen.duration)
        between = InnerObservation(EnergyObservation(base))
        points = energy_candidates(base, through, chosen, report, cancelled)
        report("done", 1.0)
        yield from _best_first(through, between, points, criterion, cancelled)
        return
    criterion = Criterion(criterion.measure, criterion.condition_weight, 0.0)
    if chosen.fourier is not None:
        periodic = FourierFamily(chosen.fourier, limits, posture, names, intrusion)
        yield from _searched(base, periodic, chosen, criterion, report, cancelled)
    else:
        quintic = QuinticFamily.of(limits, posture, names, intrusion, chosen)
        yield from _searched(base, quintic, chosen, criterion, report, cancelled)


def _searched(
    base: BaseParameters,
    family: Family[Motion],
    settings: PlanSettings,
    criterion: Criterion,
    report: Progress,
    cancelled: Cancelled | None,
) -> Iterator[Found]:
    """Search motions of a family with the inverse dynamic model, and give them out."""
    candidates = dynamic_candidates(base, family, settings, report, cancelled)
    report("done", 1.0)
    yield from _best_first(family, family.observation(base), candidates, criterion, cancelled)


def _best_first(
    family: Family[Motion],
    exact: Observation[Motion],
    candidates: Iterable[Candidate[Motion]],
    criterion: Criterion,
    cancelled: Cancelled | None,
) -> Iterator[Found]:
    """Give out what was found, by the criterion of the exact system.

    Where a clearance is to be kept, the same motions drawn in a little towards their start follow:
    a penalty on samples may leave a motion short of its clearance by a fraction of a millimetre.
    """
    shares = (1.0,) if family.clearance_penalty is None else _DRAWN_IN
    found = [
        replace(
            candidate, motion=candidate.motion if share == 1.0 else candidate.motion.drawn_in(share)
        )
        for candidate in candidates
        for share in shares
    ]

    def value(found: Candidate[Motion]) -> float:
        refuse_cancelled(cancelled)
        return criterion.value(exact.rows(found.motion))

    for best in sorted(found, key=value):
        W = exact.rows(best.motion)
        yield Found(
            trajectory=family.trajectory(best.motion),
            before=best.before or Quality.of(exact.rows(best.first)),
            after=Quality.of(W),
            rows=len(W),
            optimizer=best.optimizer,
            reduced=best.reduced,
        )


def _silent(_stage: str, _fraction: float) -> None:
    """Report to nobody."""
