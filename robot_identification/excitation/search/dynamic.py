"""The search with the inverse dynamic model: independent searches side by side, in rounds."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

import numpy as np

from robot_identification.excitation.families.family import (
    SMOOTHING,
    Candidate,
    Family,
    Start,
    already,
    freed,
    penalties_of,
)
from robot_identification.excitation.objective.criterion import condition
from robot_identification.excitation.objective.motion_map import Motion
from robot_identification.excitation.search.optimizers import Cancelled
from robot_identification.excitation.search.points import Progress
from robot_identification.excitation.search.refinement import (
    EARLY_STAGES,
    LATE_STAGES,
    STAGES,
    Refinement,
    Stage,
)
from robot_identification.excitation.search.side_by_side import side_by_side
from robot_identification.identification.base.parameters import BaseParameters

if TYPE_CHECKING:
    from robot_identification.excitation.plan import PlanSettings

_ROUND = 2  # searches near the best motion so far, before another may be the best


@dataclass(frozen=True)
class _Task(Generic[Motion]):
    """One search: from where, and how.

    Attributes:
        start: where it begins.
        stages: of the refinement.
        origin: the first motion of all, where the start is near a motion that was found.
    """

    start: Start[Motion]
    stages: tuple[Stage, ...]
    origin: Motion | None = None


def dynamic_candidates(
    base: BaseParameters,
    family: Family[Motion],
    settings: PlanSettings,
    report: Progress,
    cancelled: Cancelled | None,
) -> list[Candidate[Motion]]:
    """Return refined motions from several starts; points come first for the other optimisers.

    The first half of the starts are random.  Each of the later half stands for two searches from
    the best motion so far, disturbed: near a good minimum better ones are found more often than
    from random starts.  Two of them at a time are independent of each other, as all random ones
    are, and searched side by side.
    """
    penalties = penalties_of(family)

    def refined(task: _Task[Motion], over: Cancelled) -> Candidate[Motion]:
        observation = family.observation(base, SMOOTHING)
        first = task.start.first(observation, over)
        begun = freed(first, family.clearance_penalty)
        refinement = Refinement(observation, family.unknowns(begun), penalties)
        found, reduced = family.fitted(refinement.run(begun, task.stages, over))
        origin = first if task.origin is None else task.origin
        return Candidate(found, origin, task.start.optimizer, reduced)

    stages = EARLY_STAGES if settings.points.starts > 1 else STAGES
    random = (settings.points.starts + 1) // 2
    firsts = [_Task(start, stages) for start in family.starts(settings, random)]
    later = range(2 * (settings.points.starts - random))
    done = itertools.count()

    def tell(task: _Task[Motion]) -> None:
        report(task.start.name, next(done) / (len(firsts) + len(later)))

    candidates = side_by_side(refined, firsts, cancelled=cancelled, awaited=tell)
    exact, measure = family.observation(base), settings.points.criterion.measure
    rng = np.random.default_rng(settings.points.seed)
    for i in range(0, len(later), _ROUND):
        best = min(candidates, key=lambda found: condition(exact.rows(found.motion), measure))
        tasks = [
            _Task(_near(family, best, rng, number), LATE_STAGES, best.first)
            for number in later[i : i + _ROUND]
        ]
        candidates += side_by_side(refined, tasks, cancelled=cancelled, awaited=tell)
    return candidates


def _near(
    family: Family[Motion], best: Candidate[Motion], rng: np.random.Generator, number: int
) -> Start[Motion]:
    """Return a start near a motion that was found."""
    near = family.disturbed(best.motion, rng)
    return Start(f"disturbed, search {number + 1}", best.optimizer, already(near))
