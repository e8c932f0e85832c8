"""The clock of a recording: order of its stamps, duplicates, gaps, and the period behind them.

Bags, streams, live recordings, ``filtered_samples`` and topics of efforts are all put in order and
split here.  The limit beyond which a step between stamps is a gap follows from the first stamps: a
stream knows no others when it has to decide, and a recording is split in the same places however
it is read.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError
from robot_identification.signals.recording import RawSamples, joined_samples

BEGINNING = 50
"""Stamps from which gaps are judged, and fewest samples of a run: filters need as many."""

# A stamp may be off the grid of a constant period by this part of the period before samples are
# moved to the grid.  Stamps rounded to microseconds at 1 kHz stay below it.
JITTER_TOLERANCE = 0.01
# A step is a gap from so many periods on; jitter moves the limit by so many of its deviations, up
# to the last number.
_GAP, _DEVIATIONS, _LARGEST = 1.5, 3.0, 2.5
# Where the period of the first stamps is off that of all by this factor, they are not typical.
_TYPICAL = 1.5

Stamps = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]


class Order(NamedTuple):
    """Order of stamps.

    Attributes:
        places: (kept,) places of the samples in the order of their stamps; of those with the same
            stamp the first one stays.
        late: how many of them are older than one before them.
        duplicates: how many samples are left out.
    """

    places: Places
    late: int
    duplicates: int


def in_order(stamps: Stamps) -> Order:
    """Return the order of (samples,) stamps in ns."""
    order = np.argsort(stamps, kind="stable")
    is_first = np.ones(len(stamps), dtype=np.bool_)
    is_first[1:] = np.diff(stamps[order]) > 0
    kept = order[is_first]
    late = int(np.count_nonzero(stamps[kept] < np.maximum.accumulate(stamps)[kept]))
    return Order(kept, late, len(stamps) - len(kept))


def newest_at(stamps: Stamps, instants: Stamps) -> Places:
    """Return (instants,) the places of the newest of rising stamps at or before instants, or -1."""
    return np.searchsorted(stamps, instants, side="right") - 1


@dataclass(frozen=True)
class Clock:
    """Period and regularity of stamps.

    Attributes:
        nominal_ns: period that gaps are judged by, in ns.
        spread: robust standard deviation of the steps between stamps, in periods.
        period_ns: mean period between gaps, in ns.
        jitter: standard deviation of the steps between gaps, in periods.
        resampled: whether stamps jitter, so that samples must be moved to a constant period.
    """

    nominal_ns: float
    spread: float = 0.0
    period_ns: float = 0.0
    jitter: float = 0.0
    resampled: bool = False

    @classmethod
    def of(cls, stamps: Stamps) -> Clock:
        """Return the clock that judges gaps.

        It is that of the first stamps, or of all where the first are not typical.

        Args:
            stamps: (samples,) strictly increasing, in ns; at least two.
        """
        steps = np.diff(stamps)
        first, typical = cls.of_steps(steps[: BEGINNING - 1]), float(np.median(steps))
        if typical / _TYPICAL <= first.nominal_ns <= typical * _TYPICAL:
            return first
        return cls.of_steps(steps)

    @classmethod
    def of_steps(cls, steps: Stamps) -> Clock:
        """Return the clock behind (steps,) positive steps in ns: the median is blind to gaps."""
        period = float(np.median(steps))
        return cls(period, 1.4826 * float(np.median(np.abs(steps - period))) / period)

    @property
    def largest_step_ns(self) -> float:
        """Longest step between stamps that is no gap, in ns.

        It is 1.5 periods, so that a single missing sample is a gap; jitter moves it, up to 2.5.
        """
        return min(_GAP + _DEVIATIONS * self.spread, _LARGEST) * self.nominal_ns

    def gaps(self, stamps: Stamps) -> Places:
        """Return the places of increasing stamps that follow a gap."""
        return np.flatnonzero(self.is_gap(np.diff(stamps))) + 1

    def is_gap(self, steps: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return (steps,) which steps between stamps, in ns, are gaps."""
        return np.asarray(steps > self.largest_step_ns)

    def missing(self, steps: npt.ArrayLike) -> int:
        """Return how many samples are missing in steps between stamps, in ns."""
        steps = np.asarray(steps)
        gaps = steps[self.is_gap(steps)]
        return int(np.sum(np.maximum(np.rint(gaps / self.nominal_ns), 2.0) - 1.0))

    def measured(self, stamps: Stamps, runs: Sequence[tuple[int, int]]) -> Clock:
        """Return the clock with the mean period, the jitter and what follows from them.

        Args:
            stamps: (samples,) increasing, in ns.
            runs: first place, and that behind the last one, of runs without gaps; at least one
                is longer than a sample.
        """
        steps = np.concatenate([np.diff(stamps[first:last]) for first, last in runs])
        mean = float(steps.sum()) / len(steps)
        nearest = round(mean)
        # Stamps are whole nanoseconds: a period that is one to their rounding is taken as one.
        period = float(nearest) if abs(mean - nearest) * len(steps) < 2.0 * len(runs) else mean
        off = max(_off_grid(stamps[first:last], period) for first, last in runs)
        jitter = float(steps.std()) / mean
        return replace(self, period_ns=period, jitter=jitter, resampled=off > JITTER_TOLERANCE)


def _off_grid(stamps: Stamps, period_ns: float) -> float:
    """Return the largest deviation of stamps from a grid, in periods."""
    off = (stamps - stamps[0]) - np.arange(len(stamps)) * period_ns
    return float(np.abs(off - np.median(off)).max()) / period_ns


class Split(NamedTuple):
    """A recording split at its gaps.

    Attributes:
        clock: its clock.
        gaps: places of the stamps that follow a gap.
        runs: first place of every run that is long enough, and that behind the last one.
    """

    clock: Clock
    gaps: Places
    runs: list[tuple[int, int]]


def split(stamps: Stamps, fewest: int = BEGINNING) -> Split:
    """Split a recording at its gaps.

    Where no run is long enough, there are none, and the clock knows no mean period.

    Args:
        stamps: (samples,) increasing, in ns; at least two.
        fewest: samples of a run that is long enough; with 2 there is always one.
    """
    clock = Clock.of(stamps)
    gaps = clock.gaps(stamps)
    edges = [0, *gaps.tolist(), len(stamps)]
    runs = [(first, last) for first, last in itertools.pairwise(edges) if last - first >= fewest]
    return Split(clock.measured(stamps, runs) if runs else clock, gaps, runs)


class StampOrder:
    """Puts samples in order that arrive nearly so, without keeping all of them.

    The newest are held back, so that later ones can still take their place among them.

    Attributes:
        duplicates: samples dropped because another had the same stamp.
        late: samples dropped because their place had already been passed on.

    Args:
        hold: number of samples held back; a sample that is later than that has no place left.

    Raises:
        SettingError: ``hold`` is negative.
    """

    def __init__(self, hold: int) -> None:
        if hold < 0:
            raise SettingError("hold", hold, "must not be negative")
        self.duplicates = 0
        self.late = 0
        self._hold = hold
        self._held: RawSamples | None = None
        self._passed = np.iinfo(np.int64).min

    def push(self, samples: RawSamples) -> RawSamples:
        """Take in samples in order of arrival; return those that are settled, in order of stamps.

        Velocities and references are kept where all samples have them.
        """
        in_time = samples.stamps > self._passed
        self.late += int(np.count_nonzero(~in_time))
        samples = samples.at(in_time)
        joined = samples if self._held is None else joined_samples([self._held, samples])
        order = in_order(joined.stamps)
        self.duplicates += order.duplicates
        settled = max(len(order.places) - self._hold, 0)
        self._held = joined.at(order.places[settled:])
        if settled:
            self._passed = int(joined.stamps[order.places[settled - 1]])
        return joined.at(order.places[:settled])

    def end(self) -> RawSamples | None:
        """Return the samples that are still held back, None if there never was one."""
        held, self._held = self._held, None
        return held
