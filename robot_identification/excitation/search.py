"""The search behind a plan: points, then points and durations together, then exact durations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from robot_identification.excitation.clearance_penalty import ClearancePenalty
from robot_identification.excitation.criterion import Criterion
from robot_identification.excitation.dynamic_observation import DynamicObservation
from robot_identification.excitation.dynamic_search import SAMPLES, dynamic_candidates
from robot_identification.excitation.energy_search import energy_candidates
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.observation import (
    EnergyObservation,
    InnerObservation,
    Observation,
)
from robot_identification.excitation.optimizers import Cancelled
from robot_identification.excitation.points import Progress, Quality
from robot_identification.excitation.starts import Candidate
from robot_identification.excitation.timing import trajectory_of
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.identification.base import BaseParameters
from robot_identification.robot.model import Array

if TYPE_CHECKING:
    from robot_identification.excitation.plan import PlanSettings


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


def search(
    base: BaseParameters,
    limits: MotionLimits,
    posture: Array,
    settings: PlanSettings,
    *,
    seed_step: int = 0,
    clearance: ClearancePenalty | None = None,
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
        clearance: what motions lack to their clearance; None: they need not keep clear.
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
    run = energy_candidates if energy else dynamic_candidates
    exact: Observation = (
        InnerObservation(EnergyObservation(base)) if energy else DynamicObservation(base, SAMPLES)
    )
    candidates = run(base, limits, posture, chosen, report, cancelled, clearance)
    criterion = chosen.points.criterion
    if not energy:
        criterion = Criterion(criterion.measure, criterion.condition_weight, 0.0)
    report("done", 1.0)
    for best in sorted(candidates, key=lambda found: criterion.value(exact.rows(found.points))):
        yield _found(base, exact, best)


def _found(base: BaseParameters, exact: Observation, best: Candidate) -> Found:
    W = exact.rows(best.points)
    return Found(
        trajectory=trajectory_of(best.points, base.robot.joint_names),
        before=best.before or Quality.of(exact.rows(best.first)),
        after=Quality.of(W),
        rows=len(W),
        optimizer=best.optimizer,
        reduced=best.reduced,
    )


def _silent(_stage: str, _fraction: float) -> None:
    """Report to nobody."""
