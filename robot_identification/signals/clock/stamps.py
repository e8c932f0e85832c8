"""The clock of a recording: order of its stamps, duplicates, which steps are gaps, and the period.

Bags, streams, live recordings, ``filtered_samples`` and topics of efforts are all put in order
here.  The limit beyond which a step between stamps is a gap follows from the first stamps: a
stream knows no others when it has to decide, and a recording is split in the same places however
it is read.  Short gaps are bridged; the band of the motion says which are short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError
from robot_identification.signals.raw_samples import RawSamples, joined_samples

BEGINNING = 50
"""Stamps from which gaps are judged, and fewest samples of a run: filters need as many."""

# A stamp may be off the grid of a constant period by this part of the period before samples are
# moved to the grid.  Stamps rounded to microseconds at 1 kHz stay below it.
JITTER_TOLERANCE = 0.01
# A step is a gap from so many periods on; jitter moves the limit by so many of its deviations, up
# to the last number.
_GAP, _DEVIATIONS, _LARGEST = 1.5, 3.0, 2.5
# A cubic spline that bridges g of a period of a sine is off by (2 pi g)^4 / 384 of its amplitude in
# the middle: 0.1 for 0.4 of a period at the upper end of the band, where hardly any power is, and
# 1e-3 at a third of that frequency.  In the gap itself no effort is compared with it.
_BRIDGED_PERIODS = 0.4
# However slow the motion, something may have happened unseen in a gap of half a second.
LONGEST_BRIDGED_NS = 4e8
# Positions that bridge long gaps are smoothed to this multiple of the band, which leaves the motion
# undamped to 1e-5; no band is taken lower than that of a robot that creeps.
_SMOOTHED, _SLOWEST_HZ = 20.0, 0.1
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
        band_hz: frequency below which the motion lies, which says what gaps are bridged, in Hz;
            None: none is.
    """

    nominal_ns: float
    spread: float = 0.0
    period_ns: float = 0.0
    jitter: float = 0.0
    resampled: bool = False
    band_hz: float | None = None

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

    @property
    def longest_bridged_ns(self) -> float:
        """Longest step between stamps that is bridged, in ns.

        It is 0.4 of a period of the fastest motion, and at most 0.4 s.
        """
        if self.band_hz is None:
            return 0.0
        longest = 1e9 * _BRIDGED_PERIODS / max(self.band_hz, _SLOWEST_HZ)
        return min(longest, LONGEST_BRIDGED_NS)

    def band_bridging(self, periods: float) -> float:
        """Return the band in Hz of a motion of which gaps of so many periods are bridged."""
        return 1e9 * _BRIDGED_PERIODS / (periods * self.nominal_ns)

    @property
    def corner(self) -> float:
        """Angular frequency to which positions are smoothed that bridge gaps, in rad a period.

        It is twenty times the band, twice a derived cut-off of positions, and half the sampling
        rate, which smooths nothing, where no band is known.
        """
        band = _SMOOTHED * max(self.band_hz, _SLOWEST_HZ) if self.band_hz else np.inf
        return float(min(2.0 * np.pi * band * self.nominal_ns / 1e9, np.pi))

    def gaps(self, stamps: Stamps) -> Places:
        """Return the places of increasing stamps that follow a gap that is not bridged."""
        return np.flatnonzero(self.splits(np.diff(stamps))) + 1

    def gaps_within(self, stamps: Stamps) -> Places:
        """Return the places of increasing stamps that follow any gap, bridged or not."""
        return np.flatnonzero(self.is_gap(np.diff(stamps))) + 1

    def is_gap(self, steps: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return (steps,) which steps between stamps, in ns, are gaps."""
        return np.asarray(steps > self.largest_step_ns)

    def splits(self, steps: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return (steps,) which steps between stamps, in ns, are gaps that are not bridged."""
        return np.asarray(steps > max(self.largest_step_ns, self.longest_bridged_ns))

    def numbers(self, stamps: Stamps) -> Places:
        """Return (samples,) numbers of samples of a run on its grid; gaps leave some out.

        Args:
            stamps: (samples,) increasing, in ns, at about a constant period but for gaps.
        """
        steps = np.diff(stamps)
        return _numbers(steps, self.is_gap(steps), self.period_ns)

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
        gap = self.is_gap(steps)
        regular = steps[~gap] if gap.any() else steps
        count = len(regular)
        if count < len(steps):
            count += int(np.rint(steps[gap] / (float(regular.sum()) / count)).sum())
        mean = float(steps.sum()) / count
        nearest = round(mean)
        # Stamps are whole nanoseconds: a period that is one to their rounding is taken as one.
        period = float(nearest) if abs(mean - nearest) * count < 2.0 * len(runs) else mean
        off = max(self._off_grid(stamps[first:last], period) for first, last in runs)
        jitter = float(regular.std()) / mean
        return replace(self, period_ns=period, jitter=jitter, resampled=off > JITTER_TOLERANCE)

    def _off_grid(self, stamps: Stamps, period_ns: float) -> float:
        """Return the largest deviation of the stamps of a run from a grid, in periods."""
        steps = np.diff(stamps)
        numbers = _numbers(steps, self.is_gap(steps), period_ns)
        off = (stamps - stamps[0]) - numbers * period_ns
        return float(np.abs(off - np.median(off)).max()) / period_ns


def _numbers(steps: Stamps, gap: npt.NDArray[np.bool_], period_ns: float) -> Places:
    if not gap.any():
        return np.arange(len(steps) + 1, dtype=np.intp)
    counts = np.ones(len(steps) + 1, dtype=np.intp)
    counts[0] = 0
    counts[1:][gap] = np.maximum(np.rint(steps[gap] / period_ns), 2.0)
    return np.cumsum(counts)


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
