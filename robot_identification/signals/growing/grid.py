"""Samples that arrive on one clock: runs without gaps, at a constant period."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array
from robot_identification.signals.clock import Clock, Stamps, in_order
from robot_identification.signals.conditioning import interpolate

# Samples beside an instant that a spline is laid through: each halves its influence, and more.
_MARGIN = 16


@by_value
@dataclass(frozen=True)
class Piece:
    """Samples at a constant period.

    Attributes:
        stamps: (samples,) in ns; those of the samples as they came unless they are resampled.
        position: (samples, joints).
        effort: (samples, joints).
        begins: whether they begin another run, behind a gap.
        begun: stamp of the first sample of the run, in ns.
    """

    stamps: Stamps
    position: Array
    effort: Array
    begins: bool
    begun: int


class OnlineGrid:
    """Splits arriving samples at gaps, and moves them to a constant period where they jitter.

    Samples that are not newer than all handed over before are dropped and counted.

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
        newest = np.iinfo(np.int64).min if self._newest is None else self._newest
        places = in_order(stamps).places
        places = places[stamps[places] > newest]
        self.dropped += len(stamps) - len(places)
        if not len(places):
            return []
        stamps, signals = stamps[places], np.stack([position[places], effort[places]], axis=1)
        known = stamps if self._newest is None else np.concatenate([[self._newest], stamps])
        gaps = self._clock.gaps(known) - (len(known) - len(stamps))
        self.gaps += len(gaps)
        self.lost += self._clock.missing(np.diff(known))
        begins = {*gaps.tolist(), *([0] if self._newest is None else [])}
        self._newest = int(stamps[-1])
        pieces: list[Piece] = []
        for first, last in itertools.pairwise(sorted({0, *begins, len(stamps)})):
            if first in begins:
                pieces += self.end()
                self._begin(stamps[first:last], signals[first:last])
            else:
                self._stamps = np.concatenate([self._stamps, stamps[first:last]])
                self._signals = _joined(self._signals, signals[first:last])
            pieces += self._finished(begins=first in begins, ended=False)
        return pieces

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
            self._stamps, self._signals = stamps[:0], signals[:0]
        else:
            stamps, signals = self._on_grid(stamps, signals, ended=ended)
        if ended:
            self._signals = None
        if not len(signals) and not begins:
            return []
        return [Piece(stamps, signals[:, 0], signals[:, 1], begins, self._origin)]

    def _on_grid(self, stamps: Stamps, signals: Array, *, ended: bool) -> tuple[Stamps, Array]:
        """Return the samples of the grid that are finished; keep what the others will need."""
        time = (stamps - self._origin).astype(np.float64)
        period = self._clock.period_ns
        last = time[-1] if ended else time[max(len(time) - _MARGIN, 0)]
        count = int((last - self._next) // period) + 1 if last >= self._next else 0
        if count <= 0 or len(time) < 2:
            return stamps[:0], signals[:0]
        grid: Array = self._next + period * np.arange(count, dtype=np.float64)
        values = interpolate(time / period, signals.reshape(len(time), -1), grid / period)
        self._next = float(grid[-1]) + period
        spare = max(int(np.searchsorted(time, self._next)) - _MARGIN, 0)
        self._stamps, self._signals = stamps[spare:], signals[spare:]
        instants = self._origin + np.rint(grid).astype(np.int64)
        return instants, values.reshape(count, *signals.shape[1:])


def _joined(before: Array | None, after: Array) -> Array:
    return after if before is None else np.concatenate([before, after])
