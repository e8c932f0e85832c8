"""Filtered samples while a recording is still running.

A zero-phase filter looks ahead, so a filtered sample is finished only when enough samples behind
it have come.  :class:`OnlineFilter` keeps as many samples as the filters can feel and gives out
what is finished; its results agree with those of the whole recording to about 1e-3 of the signal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_identification.errors import ShapeError
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array
from robot_identification.signals import filtering
from robot_identification.signals.decimation import PADDING, Decimator

# What is left of a filter's response where it is taken to have ended, as a part of its peak.
_LEVEL = 1e-4
# Samples from which the period is taken where nobody states it, and fewest that are filtered.
_SAMPLES_FOR_PERIOD = 50
# A step between stamps from here on, in periods, is a gap.
_GAP = 1.5

Stamps = npt.NDArray[np.int64]


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
    """

    stamps: Stamps
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array
    rate_hz: float


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

    def apply(self, position: Array, effort: Array, kept: npt.NDArray[np.intp]) -> list[Array]:
        """Return position, velocity, acceleration and effort at the samples that are kept.

        Args:
            position: (joints, samples).
            effort: (joints, samples).
            kept: (outputs,) places.
        """
        smooth = filtering.zero_phase(self.sections, filtering.padding(self.order), position)
        velocity = filtering.differentiate(smooth, self.period, self.difference_order)
        acceleration = filtering.differentiate(velocity, self.period, self.difference_order)
        signals = [smooth, velocity, acceleration, effort]
        if self.decimator.factor > 1:
            sections = self.decimator.sections
            signals = [filtering.zero_phase(sections, PADDING, signal) for signal in signals]
        gain = self.decimator.gain
        return [np.ascontiguousarray(signal[:, kept].T) / gain for signal in signals]


class OnlineFilter:
    """Turns a growing stream of samples into finished filtered ones.

    All signals pass the same decimation filter, made to pass constants unchanged; positions pass
    the Butterworth filter before.  A gap in the stamps ends a run: what is pending is finished
    with the end treatment of a recording, and a new run begins.  Samples that are not newer than
    the last one are dropped.

    Args:
        joints: number of joints.
        cutoff_hz: cut-off of the Butterworth filter of the positions, in Hz.
        rate_hz: rate to decimate to; the nearest integer part of the sampling rate is taken.
        order: order of the Butterworth filter, one pass.
        difference_order: order of accuracy of the central differences.
        period: sampling period in s; None takes it from the first samples.

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
        period: float | None = None,
    ) -> None:
        self._joints = joints
        self._cutoff_hz = cutoff_hz
        self._rate_hz = rate_hz
        self._order = order
        self._difference_order = difference_order
        self._filters = None if period is None else self._for_period(period)
        self._begin_run()

    def _for_period(self, period: float) -> _Filters:
        factor = max(1, round(1.0 / (period * self._rate_hz)))
        return _Filters(
            period, self._cutoff_hz, self._order, self._difference_order, Decimator(factor)
        )

    def _begin_run(self) -> None:
        self._stamps: Stamps = np.zeros(0, dtype=np.int64)
        self._position: Array = np.zeros((0, self._joints))
        self._effort: Array = np.zeros((0, self._joints))
        # Place of the next output in the buffer: the first sample of a run is one.
        self._next = 0

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
        newest = self._stamps[-1] if len(self._stamps) else np.iinfo(np.int64).min
        new = stamps > np.maximum.accumulate(np.concatenate([[newest], stamps]))[:-1]
        stamps, position, effort = stamps[new], position[new], effort[new]
        if self._filters is None:
            stamps, position, effort = self._with_waiting(stamps, position, effort)
            if len(stamps) >= _SAMPLES_FOR_PERIOD:
                self._filters = self._for_period(float(np.median(np.diff(stamps))) / 1e9)
        blocks: list[FilteredBlock] = []
        for run in np.split(np.arange(len(stamps)), self._gaps(stamps)):
            if len(run) and self._is_gap(int(stamps[run[0]])):
                blocks += self.flush()
            self._stamps = np.concatenate([self._stamps, stamps[run]])
            self._position = np.concatenate([self._position, position[run]])
            self._effort = np.concatenate([self._effort, effort[run]])
            blocks += self._finished()
        return blocks

    def flush(self) -> list[FilteredBlock]:
        """End the run and return the rest of it."""
        blocks = self._output(len(self._stamps))
        self._begin_run()
        return blocks

    def _with_waiting(
        self, stamps: Stamps, position: Array, effort: Array
    ) -> tuple[Stamps, Array, Array]:
        """Return samples behind those that wait for the period to be known; none wait then."""
        joined = (
            np.concatenate([self._stamps, stamps]),
            np.concatenate([self._position, position]),
            np.concatenate([self._effort, effort]),
        )
        self._begin_run()
        return joined

    def _gaps(self, stamps: Stamps) -> npt.NDArray[np.intp]:
        if self._filters is None:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(np.diff(stamps) > _GAP * self._filters.period * 1e9) + 1

    def _is_gap(self, stamp: int) -> bool:
        if self._filters is None or not len(self._stamps):
            return False
        return stamp - int(self._stamps[-1]) > _GAP * self._filters.period * 1e9

    def _finished(self) -> list[FilteredBlock]:
        if self._filters is None:
            return []
        return self._output(len(self._stamps) - self._filters.reach)

    def _output(self, limit: int) -> list[FilteredBlock]:
        """Return the outputs before a place in the buffer, and forget what none will need."""
        filters = self._filters
        if filters is None or self._next >= limit or len(self._stamps) < filters.shortest:
            return []
        factor = filters.decimator.factor
        kept = np.arange(self._next, limit, factor, dtype=np.intp)
        position, velocity, acceleration, effort = filters.apply(
            np.ascontiguousarray(self._position.T), np.ascontiguousarray(self._effort.T), kept
        )
        block = FilteredBlock(
            stamps=self._stamps[kept],
            position=position,
            velocity=velocity,
            acceleration=acceleration,
            effort=effort,
            rate_hz=1.0 / (filters.period * factor),
        )
        following = int(kept[-1]) + factor
        spare = max(following - filters.reach, 0)
        self._stamps = self._stamps[spare:]
        self._position, self._effort = self._position[spare:], self._effort[spare:]
        self._next = following - spare
        return [block]
