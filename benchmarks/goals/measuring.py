"""What every row of the goals hands back, and how it is timed.

Candidates are timed in turn: ours, peer, ours, peer, ...  Of each the median is given and the range
from the first to the third quartile; a ratio is the median of the ratios of the rounds, so that
what else the machine does falls on both.

Work of one thread is timed by the processor, work of several by the clock.  Threads of linear
algebra spin while they wait for each other: beside other work the processor would be charged many
times what they compute.  What can be done with either is timed with both, and the quicker counts.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from goals.machine import Peaks

EQUAL = 1.3
"""Ratios below this one count as equal."""
_UNTIL_THREADS_SLEEP = 0.1  # s; threads of linear algebra spin for a while after their work


@dataclass(frozen=True)
class Options:
    """How a row is measured.

    Attributes:
        rounds: rounds of a row whose runs are short.
        quick: whether to look only whether everything runs.
        peaks: what the machine can do at best, measured in the same run.
    """

    rounds: int
    quick: bool
    peaks: Peaks


@dataclass(frozen=True)
class Candidate:
    """Something to be timed.

    Attributes:
        name: what it is, such as ``ours`` or ``Pinocchio loop, stored``.
        work: one run.
        units: samples, messages or the like that one run works on.
        threads: threads that it uses; with one the time is that of the processor.
        seldom: whether one round is enough, because a run is long.
    """

    name: str
    work: Callable[[], Any]
    units: float = 1.0
    threads: int = 1
    seldom: bool = False


@dataclass(frozen=True)
class Times:
    """Seconds per unit of each round.

    Attributes:
        seconds: of the processor for one thread, else of the clock.
        wall: of the clock.
    """

    seconds: tuple[float, ...]
    wall: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median of the seconds."""
        return statistics.median(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """First and third quartile of the seconds."""
        return quartiles(self.seconds)


@dataclass(frozen=True)
class Figure:
    """A measured figure.

    Attributes:
        case: robot, number of samples and the like.
        name: what it is the figure of.
        value: median.
        low: first quartile.
        high: third quartile.
        unit: its unit.
    """

    case: str
    name: str
    value: float
    low: float
    high: float
    unit: str


@dataclass(frozen=True)
class Verdict:
    """A goal, and how far it is reached.

    Attributes:
        case: robot, number of samples and the like.
        goal: what is asked for, in words.
        wanted: the figure that is asked for.
        reached: the figure that was measured.
        at_least: whether the figure should be at least what is wanted, or at most.
        bound: what bounds it.
        only_bounded: whether the figure that was measured bounds the true one from the safe side.
    """

    case: str
    goal: str
    wanted: float
    reached: float
    at_least: bool = True
    bound: str = ""
    only_bounded: bool = False

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.reached >= self.wanted if self.at_least else self.reached <= self.wanted

    @property
    def missing(self) -> float:
        """Factor that is missing; 1 or less where the goal is reached."""
        pair = (self.wanted, self.reached) if self.at_least else (self.reached, self.wanted)
        return pair[0] / pair[1] if pair[1] > 0.0 else float("inf")


@dataclass
class Row:
    """What one row of the goals gives."""

    title: str
    figures: list[Figure] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add_times(self, case: str, times: dict[str, Times], unit: str, scale: float) -> None:
        """Add a figure for each candidate; ``scale`` turns seconds per unit into ``unit``."""
        for name, taken in times.items():
            low, high = taken.quartiles
            self.figures.append(
                Figure(case, name, scale * taken.median, scale * low, scale * high, unit)
            )

    def add_spread(self, case: str, name: str, values: Sequence[float], unit: str) -> None:
        """Add the median of some values."""
        low, high = quartiles(values)
        self.figures.append(Figure(case, name, statistics.median(values), low, high, unit))


def interleaved(candidates: Sequence[Candidate], rounds: int) -> dict[str, Times]:
    """Time candidates in turn, after one run of each that is not seldom, which loads its code."""
    for candidate in candidates:
        if not candidate.seldom:
            candidate.work()
    taken: dict[str, list[tuple[float, float]]] = {c.name: [] for c in candidates}
    for number in range(rounds):
        for candidate in candidates:
            if candidate.seldom and number:
                continue
            wall, own = timed(candidate.work)
            seconds = own if candidate.threads == 1 else wall
            taken[candidate.name].append((seconds / candidate.units, wall / candidate.units))
            if candidate.threads > 1:
                time.sleep(_UNTIL_THREADS_SLEEP)
    return {
        name: Times(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs))
        for name, pairs in taken.items()
    }


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Return how long some work took by the clock and on the processors, in s."""
    wall, own = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - own


def ratio(slower: Times, faster: Times) -> float:
    """Return how many times longer one takes: the median over the rounds that both had."""
    pairs = zip(slower.seconds, faster.seconds, strict=False)
    return statistics.median(a / b for a, b in pairs)


def quickest(times: dict[str, Times], names: Sequence[str]) -> str:
    """Return the one of some candidates whose median is the least."""
    return min(names, key=lambda name: times[name].median)


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the first and the third quartile."""
    if len(values) < 2:
        return values[0], values[0]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third
