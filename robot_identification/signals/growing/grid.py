"""Samples that arrive on one clock: runs at a constant period, short gaps in them bridged."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from robot_identification.robot.arrays import Array, by_value
from robot_identification.signals.clock.gaps import is_pause
from robot_identification.signals.clock.resampling import (
    MARGIN,
    Flags,
    bridged,
    in_gaps,
    interpolate,
    margin,
    measured_at,
    present,
    straight,
)
from robot_identification.signals.clock.stamps import Clock, Places, Stamps, in_order
from robot_identification.signals.positions.strays import StrayWatch, stray_counts
from robot_identification.signals.positions.turns import Turns

_PLAIN = 2  # signals without velocities: positions and efforts


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
        measured: (samples,) which of them were measured; None: all of them.
        torn: whether they begin another run and samples were lost before it; a pause loses none.
        velocity: (samples, joints), None where none were taken in.
    """

    stamps: Stamps
    position: Array
    effort: Array
    begins: bool
    begun: int
    measured: Flags | None = None
    torn: bool = False
    velocity: Array | None = None


class OnlineGrid:
    """Splits arriving samples at gaps, and moves them to a constant period where they jitter.

    Short gaps are bridged, as the clock says which are short; what follows one waits for as many
    samples as the spline across it can feel.  Samples that are not newer than all handed over
    before are dropped and counted.

    Args:
        clock: period, regularity and longest gap that is bridged.
        still: (joints,) how far joints move that stand, from
            :func:`~robot_identification.signals.clock.gaps.standing`; by default nobody knows.

    Attributes:
        dropped: samples that were dropped.
        gaps: gaps between runs.
        lost: samples missing in them and in those that were bridged, judged by the period; none
            in pauses.
        bridged: samples that were bridged.
        pauses: of the gaps, those in which nothing was lost.
        paused: time in s that they took.
    """

    def __init__(self, clock: Clock, still: Array | None = None) -> None:
        self.dropped = self.gaps = self.lost = self.bridged = self.pauses = 0
        self.paused = 0.0
        self._clock = clock
        self._still = still
        self._margin = margin(clock.corner) if clock.band_hz is not None else MARGIN
        self._newest: int | None = None
        self._newest_position: Array | None = None
        self._stamps: Stamps = np.zeros(0, dtype=np.int64)
        self._signals: Array | None = None
        self._turns, self._strays = Turns(), StrayWatch()
        self._received = int(np.iinfo(np.int64).min)  # newest stamp that has come
        self._torn = False  # whether samples were lost before the run
        self._given = 0  # of the samples kept, those that were used already
        self._next = 0.0  # instant of the next sample of the grid, ns since _origin
        self._origin = 0

    def push(
        self, stamps: Stamps, position: Array, effort: Array, velocity: Array | None = None
    ) -> list[Piece]:
        """Take in samples and return what is finished.

        Args:
            stamps: (samples,) in ns.
            position: (samples, joints).
            effort: (samples, joints).
            velocity: (samples, joints); with all samples or with none.
        """
        places = in_order(stamps).places
        places = places[stamps[places] > self._received]
        self.dropped += len(stamps) - len(places)
        if not len(places):
            return []
        stamps = stamps[places]
        self._received = int(stamps[-1])
        position = self._turns.continued(stamps, position[places])
        smooth = [position] if velocity is None else [position, velocity[places]]
        return self._take(*self._strays.push(stamps, np.stack([*smooth, effort[places]], axis=1)))

    def end(self) -> list[Piece]:
        """Return what is left of the run."""
        rest = self._strays.rest()
        return ([] if rest is None else self._take(*rest)) + self._end_run()

    @property
    def strays(self) -> tuple[int, ...]:
        """Samples left out of every joint, see :class:`.RecordingStatistics`."""
        return stray_counts(self._strays.left_out)

    def _take(self, stamps: Stamps, signals: Array) -> list[Piece]:
        """Take in sound samples in order."""
        if not len(stamps):
            return []
        position = signals[:, 0]
        known = stamps if self._newest is None else np.concatenate([[self._newest], stamps])
        gaps = self._clock.gaps(known) - (len(known) - len(stamps))
        torn = self._count(known, position) + len(stamps) - len(known)
        begins = {*gaps.tolist(), *([0] if self._newest is None else [])}
        self._newest, self._newest_position = int(stamps[-1]), position[-1]
        pieces: list[Piece] = []
        for first, last in itertools.pairwise(sorted({0, *begins, len(stamps)})):
            if first in begins:
                pieces += self._end_run()
                self._torn = first in torn
                self._begin(stamps[first:last], signals[first:last])
            else:
                self._stamps = np.concatenate([self._stamps, stamps[first:last]])
                self._signals = _joined(self._signals, signals[first:last])
            pieces += self._finished(begins=first in begins, ended=False)
        return pieces

    def _end_run(self) -> list[Piece]:
        return self._finished(begins=False, ended=True)

    def _count(self, known: Stamps, position: Array) -> Places:
        """Count gaps, pauses and lost samples, with the newest stamp of all before.

        Returns:
            Places of the stamps that follow a gap in which samples were lost.
        """
        steps = np.diff(known)
        splits = self._clock.splits(steps)
        self.gaps += int(np.count_nonzero(splits))
        pause = np.zeros(len(steps), dtype=np.bool_)
        if splits.any():
            before = position[:0] if self._newest_position is None else self._newest_position[None]
            moved = np.diff(np.concatenate([before, position]), axis=0)
            still = np.full(position.shape[1], -1.0) if self._still is None else self._still
            pause = splits & is_pause(steps, moved, still)
        self.pauses += int(np.count_nonzero(pause))
        self.paused += float(steps[pause].sum()) / 1e9
        self.lost += self._clock.missing(steps[~pause])
        return np.flatnonzero(splits & ~pause) + 1

    def _begin(self, stamps: Stamps, signals: Array) -> None:
        self._origin = int(stamps[0])
        self._next, self._given = 0.0, 0
        self._stamps, self._signals = stamps, signals

    def _finished(self, *, begins: bool, ended: bool) -> list[Piece]:
        signals, stamps = self._signals, self._stamps
        if signals is None:
            return []
        if self._clock.resampled:
            stamps, signals, measured = self._on_grid(stamps, signals, ended=ended)
        else:
            stamps, signals, measured = self._bridged(stamps, signals, ended=ended)
        if ended:
            self._signals = None
        if not len(signals) and not begins:
            return []
        if measured is not None and measured.all():
            measured = None
        if measured is not None:
            self.bridged += int(np.count_nonzero(~measured))
        velocity = signals[:, 1] if signals.shape[1] > _PLAIN else None
        piece = Piece(
            stamps,
            signals[:, 0],
            signals[:, -1],
            begins,
            self._origin,
            measured,
            torn=begins and self._torn,
            velocity=velocity,
        )
        return [piece]

    def _bridged(
        self, stamps: Stamps, signals: Array, *, ended: bool
    ) -> tuple[Stamps, Array, Flags | None]:
        """Return the samples that are finished, gaps between them bridged.

        They are finished up to the first gap with too few samples behind it.
        """
        given, count = self._given, len(stamps)
        behind = self._clock.gaps_within(stamps)
        behind = behind[behind >= given]
        waiting = behind[behind > count - self._margin]
        stop = count if ended or not len(waiting) else int(waiting[0])
        kept = max(stop - self._margin, 0)
        self._stamps, self._signals, self._given = stamps[kept:], signals[kept:], stop - kept
        if stop <= given or not (behind < stop).any():
            return stamps[given:stop], signals[given:stop], None
        numbers = self._clock.numbers(stamps)
        flat = signals.reshape(count, -1)
        smooth = flat.shape[1] - signals.shape[2]  # all but the efforts
        values = np.concatenate(
            [
                bridged(numbers, flat[:, :smooth], self._clock.corner),
                bridged(numbers, flat[:, smooth:], None),
            ],
            axis=1,
        )
        first = 0 if given == 0 else int(numbers[given - 1]) + 1
        own = slice(first, int(numbers[stop - 1]) + 1)
        instants = np.interp(np.arange(own.start, own.stop), numbers, stamps - stamps[0])
        all_stamps = stamps[0] + np.rint(instants).astype(np.int64)
        return all_stamps, values[own].reshape(-1, *signals.shape[1:]), present(numbers)[own]

    def _on_grid(
        self, stamps: Stamps, signals: Array, *, ended: bool
    ) -> tuple[Stamps, Array, Flags | None]:
        """Return the samples of the grid that are finished; keep what the others will need."""
        time = (stamps - self._origin).astype(np.float64)
        period = self._clock.period_ns
        reach = self._margin if len(self._clock.gaps_within(stamps)) else MARGIN
        last = time[-1] if ended else time[max(len(time) - reach, 0)]
        count = int((last - self._next) // period) + 1 if last >= self._next else 0
        if count <= 0 or len(time) < 2:
            return stamps[:0], signals[:0], None
        grid: Array = self._next + period * np.arange(count, dtype=np.float64)
        flat = signals.reshape(len(time), -1)
        near = slice(self._given, None)  # samples before count across long gaps alone
        values = interpolate(time[near] / period, flat[near], grid / period)
        measured = measured_at(time / period, grid / period, self._clock.largest_step_ns / period)
        if measured is not None and not measured.all():
            smooth, missing = flat.shape[1] - signals.shape[2], grid[~measured] / period
            values[~measured, :smooth] = in_gaps(
                time / period, flat[:, :smooth], missing, self._clock.corner
            )
            values[~measured, smooth:] = straight(time / period, flat[:, smooth:], missing)
        self._next = float(grid[-1]) + period
        following = int(np.searchsorted(time, self._next))
        kept = max(following - self._margin, 0)
        self._given = max(following - MARGIN, 0) - kept
        self._stamps, self._signals = stamps[kept:], signals[kept:]
        instants = self._origin + np.rint(grid).astype(np.int64)
        return instants, values.reshape(count, *signals.shape[1:]), measured


def _joined(before: Array | None, after: Array) -> Array:
    return after if before is None else np.concatenate([before, after])
