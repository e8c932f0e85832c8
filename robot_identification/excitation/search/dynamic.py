"""The search with the inverse dynamic model: independent searches side by side, in rounds.

Compiled code and linear algebra run without Python's lock, so that threads share the work.  Each
search is made by itself: what it finds does not depend on the number of threads, to the last bit.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

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
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.optimizers import Cancelled
from robot_identification.excitation.search.points import Progress
from robot_identification.excitation.search.refinement import (
    EARLY_STAGES,
    LATE_STAGES,
    STAGES,
    Refinement,
    Stage,
)
from robot_identification.identification.base.parameters import BaseParameters

Item = TypeVar("Item")
Made = TypeVar("Made")


_LINEAR_ALGEBRA = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def sensible_threads() -> int:
    """Return how many searches pay at once.

    One for each core that this process may use, where the environment keeps linear algebra to one
    thread, as in commands and nodes; else one.  Threads of its own on small matrices, asked for by
    several searches at once, wait for each other for many times as long as they work.
    """
    alone = any(os.environ.get(name) == "1" for name in _LINEAR_ALGEBRA)
    return len(os.sched_getaffinity(0)) if alone else 1


def side_by_side(
    work: Callable[[Item, Cancelled], Made],
    items: Sequence[Item],
    *,
    cancelled: Cancelled | None = None,
    awaited: Callable[[Item], None] | None = None,
    threads: int | None = None,
) -> list[Made]:
    """Return what some work makes of every item, in the order of the items.

    Where the work fails for one item, it is cancelled for the others before the error is raised.

    Args:
        work: called with one item and with what it is to ask now and then whether to stop.
        items: begun in their order, each as soon as there is a thread.
        cancelled: asked now and then whether to stop, in any thread.
        awaited: told in the caller's thread which item is the first that is not done.
        threads: most threads; None: :func:`sensible_threads`.
    """
    most = min(len(items), sensible_threads() if threads is None else threads)
    asked, tell = cancelled or _never, awaited or _silent
    results = []
    if most < 2:
        for item in items:
            tell(item)
            results.append(work(item, asked))
        return results
    given_up = threading.Event()

    def over() -> bool:
        return given_up.is_set() or asked()

    with ThreadPoolExecutor(most, thread_name_prefix="search") as pool:
        waiting = [pool.submit(work, item, over) for item in items]
        try:
            for item, future in zip(items, waiting, strict=True):
                tell(item)
                results.append(future.result())
        finally:
            given_up.set()
            for future in waiting:
                future.cancel()
    return results


def _never() -> bool:
    return False


def _silent(_item: object) -> None:
    """Tell nobody."""


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
