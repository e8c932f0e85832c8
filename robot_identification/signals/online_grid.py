"""Samples that arrive on one clock: runs without gaps, at a constant period."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array
from robot_identification.signals.resampling import interpolate

# Samples beside an instant that a spline is laid through: each halves its influence, and more.
_MARGIN = 16

Stamps = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Clock:
    """What is known of the stamps of a recording that goes on.

    Attributes:
        period_ns: sampling period in ns.
        largest_step: a longer step between stamps is a gap, in periods.
        jitter: standard deviation of the steps, in periods.
        resampled: whether stamps jitter, so that samples must be moved to a constant period.
    """

    period_ns: float
    largest_step: float
    jitter: float
    resampled: bool


@by_value
@dataclass(frozen=True)
class Piece:
    """Samples at a constant period.

    Attributes:
        position: (samples, joints).
        effort: (samples, joints).
        begins: whether they begin another run, behind a gap.
        stamp: of the first sample of the run, in ns.
    """

    position: Array
    effort: Array
    begins: bool
    stamp: int


class OnlineGrid:
    """Splits arriving samples at gaps, and moves them to a constant period where they jitter.

    Samples that are not newer than all before them are dropped and counted.

    Args:
        clock: period and regularity.

    Attributes:
        dropped: samples that were dropped.
        gaps: gaps between runs.
        lost: samples missing in them, judged by the period.
    """

    def __init__(self, clock: Clock) -> None:
        self.dropped = self.gaps = self.lost = 0
        self._clock = clock
        self._newest: int | None = None
        self._stamps: Stamps = np.zeros(0, dtype=np.int64)
        self._signals: Array | None = None
        self._next = 0.0  # instant of the next sample of the grid, ns since _origin
        self._origin = 0

    def push(self, stamps: Stamps, position: Array, effort: Array) -> list[Piece]:
        """Take in samples and return what is finished.

        Args:
            stamps: (samples,) in ns.
            position: (samples, joints).
            effort: (samples, joints).
        """
        before = np.iinfo(np.int64).min if self._newest is None else self._newest
        new = stamps > np.maximum.accumulate(np.concatenate([[before], stamps]))[:-1]
        self.dropped += int(np.count_nonzero(~new))
        stamps = stamps[new]
        if not len(stamps):
            return []
        signals = np.stack([position[new], effort[new]], axis=1)
        longest = self._clock.largest_step * self._clock.period_ns
        places = np.flatnonzero(np.diff(stamps) > longest) + 1
        follows = self._newest is not None and stamps[0] - self._newest <= longest
        self._count_gaps(stamps, longest)
        self._newest = int(stamps[-1])
        pieces: list[Piece] = []
        for number, part in enumerate(np.split(np.arange(len(stamps)), places)):
            if number > 0 or not follows:
                pieces += self.end()
                self._begin(stamps[part], signals[part])
                pieces += self._finished(begins=True, ended=False)
            else:
                self._stamps = np.concatenate([self._stamps, stamps[part]])
                self._signals = _joined(self._signals, signals[part])
                pieces += self._finished(begins=False, ended=False)
        return pieces

    def _count_gaps(self, stamps: Stamps, longest: float) -> None:
        before = [] if self._newest is None else [self._newest]
        steps = np.diff(np.concatenate([np.array(before, dtype=np.int64), stamps]))
        gaps = steps[steps > longest] / self._clock.period_ns
        self.gaps += len(gaps)
        self.lost += int(np.sum(np.maximum(np.rint(gaps), 2.0) - 1.0))

    def end(self) -> list[Piece]:
        """Return what is left of the run."""
        return self._finished(begins=False, ended=True)

    def _begin(self, stamps: Stamps, signals: Array) -> None:
        self._origin = int(stamps[0])
        self._next = 0.0
        self._stamps, self._signals = stamps, signals

    def _finished(self, *, begins: bool, ended: bool) -> list[Piece]:
        signals, stamps = self._signals, self._stamps
        if signals is None:
            return []
        if not self._clock.resampled:
            self._stamps, self._signals = stamps[:0], None if ended else signals[:0]
        else:
            signals = self._on_grid(stamps, signals, ended=ended)
            if ended:
                self._signals = None
        if not len(signals) and not begins:
            return []
        return [Piece(signals[:, 0], signals[:, 1], begins, self._origin)]

    def _on_grid(self, stamps: Stamps, signals: Array, *, ended: bool) -> Array:
        """Return the samples of the grid that are finished; keep what the others will need."""
        time = (stamps - self._origin).astype(np.float64)
        period = self._clock.period_ns
        last = time[-1] if ended else time[max(len(time) - _MARGIN, 0)]
        count = int((last - self._next) // period) + 1 if last >= self._next else 0
        if count <= 0 or len(time) < 2:
            return signals[:0]
        grid: Array = self._next + period * np.arange(count, dtype=np.float64)
        values = interpolate(time / period, signals.reshape(len(time), -1), grid / period)
        self._next = float(grid[-1]) + period
        spare = max(int(np.searchsorted(time, self._next)) - _MARGIN, 0)
        self._stamps, self._signals = stamps[spare:], signals[spare:]
        return values.reshape(count, *signals.shape[1:])


def _joined(before: Array | None, after: Array) -> Array:
    return after if before is None else np.concatenate([before, after])
