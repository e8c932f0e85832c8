"""Separate efforts while they come in: kept until the motion that they belong to is there."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from robot_identification.robot.arrays import Array
from robot_identification.signals.clock.arrivals import Arrivals, SetbackWatch
from robot_identification.signals.clock.stamps import BEGINNING, Clock
from robot_identification.signals.efforts.separate import (
    EffortSamples,
    delay_ns,
    efforts_at,
    with_efforts,
)
from robot_identification.signals.raw_samples import RawSamples

_MOST = 200_000


class _Effort(NamedTuple):
    stamp: int
    effort: Array


class EffortBuffer:
    """Efforts of the last seconds, merged block by block as :func:`merge_efforts` merges all.

    Where the clock of the efforts is set back, those that follow are kept apart until the motion
    gets there too (:meth:`next_clock`), so that no motion meets an effort of another clock.

    Args:
        joints: number of joints.
        delay: time in s by which the stamps of the efforts lie behind those of the motion.
    """

    def __init__(self, joints: int, delay: float) -> None:
        self._joints = joints
        self._delay = delay_ns(delay)
        self._setbacks = SetbackWatch[_Effort]()
        self._clocks = deque([Arrivals[Array]()])
        self._clock: Clock | None = None  # of the stamps, once there are enough to know it
        self._is_old = False

    def add(self, stamp: int, effort: Array) -> None:
        """Take in an effort.

        Two in a row from far behind the newest say that the clock was set back.

        Args:
            stamp: in ns.
            effort: (joints,).
        """
        kept, set_back = self._setbacks.take(_Effort(stamp, effort))
        if set_back:
            self._set_back()
        efforts = self._clocks[-1]
        for one in kept:
            efforts.add(*one)
        if len(efforts.stamps) > _MOST:
            efforts.take(_MOST // 2)
        if self._clock is None and len(efforts.stamps) >= BEGINNING:
            self._clock = Clock.of(np.array(efforts.stamps))

    def _set_back(self) -> None:
        if self._is_old:
            self._clocks.clear()
            self._is_old = False
        self._clocks.append(Arrivals())

    @property
    def ready(self) -> int | None:
        """Stamp in ns up to which the motion can be merged; None while nothing is known."""
        if len(self._clocks) > 1:  # nothing more comes on the clock of the motion
            return _latest(self._clocks[0]) - self._delay
        stamps = self._clocks[0].stamps
        if self._is_old or not stamps or self._clock is None:
            return None
        return stamps[-1] - self._delay

    def merge(self, motion: RawSamples) -> RawSamples:
        """Return the samples for which there are efforts, with these; forget what is passed.

        Args:
            motion: samples in the order of their stamps, later than all before.
        """
        efforts = self._clocks[0]
        clock = self._clock
        if clock is None and len(efforts.stamps) > 1:
            clock = Clock.of(np.array(efforts.stamps))
        if self._is_old or clock is None or not efforts.stamps or len(motion.stamps) == 0:
            nothing = np.zeros(len(motion.stamps), dtype=np.bool_)
            return with_efforts(motion, np.zeros((len(nothing), self._joints)), nothing)
        known = EffortSamples(np.array(efforts.stamps, dtype=np.int64), np.array(efforts.values))
        merged = with_efforts(motion, *efforts_at(motion.stamps + self._delay, known, clock))
        passed = efforts.until(int(motion.stamps[-1]) + self._delay)
        efforts.take(max(passed - 1, 0))  # the last of them holds until the next one
        return merged

    def next_clock(self) -> None:
        """Go on with the efforts since the clock was set back: the motion is there now."""
        if len(self._clocks) > 1:
            self._clocks.popleft()
        else:
            self._is_old = True


def _latest(efforts: Arrivals[Array]) -> int:
    return efforts.stamps[-1] if efforts.stamps else 0
