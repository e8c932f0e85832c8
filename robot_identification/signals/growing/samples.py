"""Filtered samples while a recording is still running.

A zero-phase filter looks ahead, so a filtered sample is finished only when enough samples behind
it have come.  :class:`OnlineFilter` keeps as many samples as the filters can feel and gives out
what is finished; its results agree with those of the whole recording to about 1e-3 of the signal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_identification.errors import ShapeError
from robot_identification.robot.arrays import Array, by_value
from robot_identification.signals.clock.gaps import split
from robot_identification.signals.clock.stamps import BEGINNING, Stamps, in_order
from robot_identification.signals.filters import filtering
from robot_identification.signals.filters.decimation import PADDING, Decimator
from robot_identification.signals.growing.grid import OnlineGrid, Piece
from robot_identification.signals.processing.derived import BAND_FACTOR
from robot_identification.signals.rows import LEAST_SHARE, Flags

# What is left of a filter's response where it is taken to have ended, as a part of its peak.
_LEVEL = 1e-4
_SIGNALS = 4  # position, velocity, acceleration, effort


@by_value
@dataclass(frozen=True)
class FilteredBlock:
    """Finished samples: filtered, differentiated, decimated.

    Attributes:
        stamps: (samples,) in ns.
        position: (samples, joints) in rad or m.
        velocity: (samples, joints).
        acceleration: (samples, joints).
        effort: (samples, joints) in N m or N.
        rate_hz: rate of the samples in Hz.
        whole: (samples,) which of them the filters' end effects, at both ends of a run, do not
            reach.
        begins: whether they begin another run, behind a gap.
    """

    stamps: Stamps
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array
    rate_hz: float
    whole: Flags
    begins: bool = False


@dataclass(frozen=True)
class _Filters:
    """The filters for one sampling period."""

    period: float
    cutoff_hz: float
    order: int
    difference_order: int
    decimator: Decimator

    @cached_property
    def sections(self) -> Array:
        return filtering.butterworth(self.cutoff_hz, self.order, self.period)

    @cached_property
    def reach(self) -> int:
        """Samples before and behind a sample that the filters can feel."""
        position = filtering.settling_samples(self.sections, _LEVEL) + self.difference_order
        if self.decimator.factor == 1:
            return position
        return position + filtering.settling_samples(self.decimator.sections, _LEVEL)

    @property
    def shortest(self) -> int:
        """Fewest samples that can be filtered."""
        return max(filtering.padding(self.order), PADDING, 3) + 1

    def apply(
        self, position: Array, effort: Array, measured: Flags, kept: npt.NDArray[np.intp]
    ) -> tuple[list[Array], Array]:
        """Return position, velocity, acceleration and effort at the samples that are kept.

        Efforts that were lost lie on straight lines: left out, as of the rows of a regressor, they
        would move the mean of those around them away from the instant of the motion.

        Args:
            position: (joints, samples).
            effort: (joints, samples).
            measured: (samples,) which of them were measured.
            kept: (outputs,) places.

        Returns:
            The signals (outputs, joints), and (outputs,) the shares of measured samples.
        """
        smooth = filtering.zero_phase(self.sections, filtering.padding(self.order), position)
        velocity = filtering.differentiate(smooth, self.period, self.difference_order)
        acceleration = filtering.differentiate(velocity, self.period, self.difference_order)
        signals = [smooth, velocity, acceleration, effort, measured[None].astype(np.float64)]
        if measured.all():
            signals.pop()
        if self.decimator.factor > 1:
            sections = self.decimator.sections
            signals = [filtering.zero_phase(sections, PADDING, signal) for signal in signals]
        gain = self.decimator.gain
        found = [np.ascontiguousarray(signal[:, kept].T) / gain for signal in signals]
        lossless = len(signals) == _SIGNALS
        return found[:_SIGNALS], np.ones(len(kept)) if lossless else found[_SIGNALS][:, 0]


class OnlineFilter:
    """Turns a growing stream of samples into finished filtered ones.

    All signals pass the same decimation filter, made to pass constants unchanged; positions pass
    the Butterworth filter before.  Samples are ordered and split at gaps as those of a recording,
    but stamps that jitter stay as they are.  Short gaps are bridged, for a motion whose band is a
    tenth of the cut-off; outputs that lean on too few measured efforts are left out.  A long gap
    ends a run: what is pending is finished with the end treatment of a recording, and a new run
    begins.

    Args:
        joints: number of joints.
        cutoff_hz: cut-off of the Butterworth filter of the positions, in Hz.
        rate_hz: rate to decimate to; the nearest integer part of the sampling rate is taken.
        order: order of the Butterworth filter, one pass.
        difference_order: order of accuracy of the central differences.
        least_share: share of its weight that must be measured for an output to be given out.
        together: outputs that are made together, but for the last ones of a run.  The filters
            pass over all samples that they can feel each time, however few outputs are made.

    Raises:
        SettingError: from ``push``, once the period is known, where the cut-off does not suit it.
    """

    def __init__(
        self,
        joints: int,
        cutoff_hz: float,
        rate_hz: float,
        *,
        order: int = filtering.DEFAULT_ORDER,
        difference_order: int = filtering.DEFAULT_DIFFERENCE_ORDER,
        least_share: float = LEAST_SHARE,
        together: int = 1,
    ) -> None:
        self._joints = joints
        self._least_share = least_share
        self._together = together
        self._cutoff_hz = cutoff_hz
        self._rate_hz = rate_hz
        self._order = order
        self._difference_order = difference_order
        self._filters: _Filters | None = None
        self._grid: OnlineGrid | None = None
        self._begin_run()

    def _begin_run(self) -> None:
        self._stamps: Stamps = np.zeros(0, dtype=np.int64)
        self._position: Array = np.zeros((0, self._joints))
        self._effort: Array = np.zeros((0, self._joints))
        self._measured: Flags = np.zeros(0, dtype=np.bool_)
        # Place of the next output in the buffer: the first sample of a run is one.
        self._next = 0
        self._forgotten = 0  # samples of this run before the buffer
        self._begins = True  # whether no output of this run has been given out

    @property
    def delay(self) -> float | None:
        """Time in s by which finished samples lag behind, None before the period is known."""
        return None if self._filters is None else self._filters.reach * self._filters.period

    @property
    def waiting(self) -> int:
        """Number of samples in memory."""
        return len(self._stamps)

    def push(self, stamps: Stamps, position: Array, effort: Array) -> list[FilteredBlock]:
        """Take in samples and return what is finished.

        Args:
            stamps: (samples,) in ns.
            position: (samples, joints), finite, on the joint side.
            effort: (samples, joints), likewise.

        Raises:
            ShapeError: an array does not have a row per stamp and a column per joint.
            SettingError: the cut-off does not suit the sampling rate.
        """
        for name, values in (("position", position), ("effort", effort)):
            if values.shape != (len(stamps), self._joints):
                raise ShapeError(name, values.shape, f"({len(stamps)}, {self._joints})")
        if self._grid is None:
            self._append(stamps, position, effort, None)
            # Of a driver that repeats a stamp, or has none, one sample is kept.
            places = in_order(self._stamps).places
            stamps = self._stamps[places]
            position, effort = self._position[places], self._effort[places]
            self._begin_run()
            if len(stamps) < BEGINNING:
                self._append(stamps, position, effort, None)
                return []
            self._begin_grid(stamps)
        return self._filtered(self._grid.push(stamps, position, effort) if self._grid else [])

    def flush(self) -> list[FilteredBlock]:
        """End the run and return the rest of it."""
        blocks = self._filtered(self._grid.end() if self._grid else [])
        blocks += self._output(len(self._stamps))
        self._begin_run()
        return blocks

    def _begin_grid(self, stamps: Stamps) -> None:
        """Set the clock, and the filters for its period, from the first stamps."""
        band = self._cutoff_hz / BAND_FACTOR
        clock = split(stamps[:BEGINNING], fewest=2, band_hz=band).clock
        period = clock.period_ns / 1e9
        factor = max(1, round(1.0 / (period * self._rate_hz)))
        self._filters = _Filters(
            period, self._cutoff_hz, self._order, self._difference_order, Decimator(factor)
        )
        self._grid = OnlineGrid(replace(clock, resampled=False))

    def _append(
        self, stamps: Stamps, position: Array, effort: Array, measured: Flags | None
    ) -> None:
        there = np.ones(len(stamps), dtype=np.bool_) if measured is None else measured
        self._measured = np.concatenate([self._measured, there])
        self._stamps = np.concatenate([self._stamps, stamps])
        self._position = np.concatenate([self._position, position])
        self._effort = np.concatenate([self._effort, effort])

    def _filtered(self, pieces: Sequence[Piece]) -> list[FilteredBlock]:
        blocks: list[FilteredBlock] = []
        for piece in pieces:
            if piece.begins:
                blocks += self._output(len(self._stamps))
                self._begin_run()
            self._append(piece.stamps, piece.position, piece.effort, piece.measured)
            blocks += self._finished()
        return blocks

    def _finished(self) -> list[FilteredBlock]:
        if self._filters is None:
            return []
        limit = len(self._stamps) - self._filters.reach
        last = self._next + (self._together - 1) * self._filters.decimator.factor
        return self._output(limit) if last < limit else []

    def _output(self, limit: int) -> list[FilteredBlock]:
        """Return the outputs before a place in the buffer, and forget what none will need."""
        filters = self._filters
        if filters is None or self._next >= limit or len(self._stamps) < filters.shortest:
            return []
        factor = filters.decimator.factor
        kept = np.arange(self._next, limit, factor, dtype=np.intp)
        signals, shares = filters.apply(
            np.ascontiguousarray(self._position.T),
            np.ascontiguousarray(self._effort.T),
            self._measured,
            kept,
        )
        enough = shares >= self._least_share
        position, velocity, acceleration, effort = (signal[enough] for signal in signals)
        block = FilteredBlock(
            stamps=self._stamps[kept[enough]],
            position=position,
            velocity=velocity,
            acceleration=acceleration,
            effort=effort,
            rate_hz=1.0 / (filters.period * factor),
            whole=self._whole(kept[enough], filters.reach),
            begins=self._begins,
        )
        self._begins = self._begins and not enough.any()
        following = int(kept[-1]) + factor
        spare = max(following - filters.reach, 0)
        self._stamps = self._stamps[spare:]
        self._position, self._effort = self._position[spare:], self._effort[spare:]
        self._measured = self._measured[spare:]
        self._next = following - spare
        self._forgotten += spare
        return [block] if enough.any() else []

    def _whole(self, places: npt.NDArray[np.intp], reach: int) -> Flags:
        """Return (outputs,) which places of the buffer are so far from both ends of the run."""
        behind = places + self._forgotten >= reach
        return np.asarray(behind & (places + reach < len(self._stamps)), dtype=np.bool_)
