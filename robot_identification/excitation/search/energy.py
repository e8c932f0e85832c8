"""The search with the energy model: points first, then points and durations together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_identification.excitation.families.family import (
    SMOOTHING,
    Candidate,
    freed,
    penalties_of,
)
from robot_identification.excitation.families.quintic import QuinticFamily
from robot_identification.excitation.objective.curve import Points
from robot_identification.excitation.objective.energy_rows import (
    EnergyObservation,
    InnerObservation,
)
from robot_identification.excitation.search.optimizers import Cancelled
from robot_identification.excitation.search.points import Progress, optimise_points
from robot_identification.excitation.search.refinement import Refinement, Stage
from robot_identification.excitation.search.starts import from_rest, random_starts
from robot_identification.identification.base.parameters import BaseParameters

if TYPE_CHECKING:
    from robot_identification.excitation.plan import PlanSettings

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
    """Return motions through the best points of the energy model, and through refined ones."""
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
    candidates = []
    for i, first in enumerate(firsts):
        report("limits", 0.5 + 0.5 * i / len(firsts))
        begun = freed(first, family.clearance_penalty)
        task = Refinement(inner, family.unknowns(begun), penalties, weight, prior)
        refined = task.run(begun, _STAGES, cancelled)
        before, winner = (found.before, found.optimizer) if i == 0 else (None, "gradient")
        for points in (first, refined):
            motion, reduced = family.fitted(points)
            candidates.append(Candidate(motion, first, winner, reduced, before))
    return candidates
