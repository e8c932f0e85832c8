"""Separate efforts while they come in: kept until the motion that they belong to is there."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque

import numpy as np

from robot_identification.robot.model import Array
from robot_identification.signals.clock import BEGINNING, Clock
from robot_identification.signals.recording import RawSamples
from robot_identification.signals.separate_efforts import (
    EffortSamples,
    delay_ns,
    efforts_at,
    with_efforts,
)

_MOST = 200_000


class EffortBuffer:
    """Efforts of the last seconds, merged block by block as :func:`merge_efforts` merges all.

    Where the clock of the efforts is set back, those that follow are kept apart until the motion
    gets there too (:meth:`next_clock`), so that no motion meets an effort of another clock.

    Args:
        joints: number of joints.
        delay: time in s by which the stamps of the efforts lie behind those of the motion.
        setback_ns: step back of the stamps from which on the clock was set back, in ns.
    """

    def __init__(self, joints: int, delay: float, setback_ns: int) -> None:
        self._joints = joints
        self._delay = delay_ns(delay)
        self._setback = setback_ns
        self._clocks: deque[_Efforts] = deque([_Efforts()])
        self._clock: Clock | None = None  # of the stamps, once there are enough to know it
        self._is_old = False
        self._held: tuple[int, Array] | None = None

    def add(self, stamp: int, effort: Array) -> None:
        """Take in an effort.

        Two in a row from far behind the newest say that the clock was set back.

        Args:
            stamp: in ns.
            effort: (joints,).
        """
        stamps = self._clocks[-1].stamps
        held, self._held = self._held, None
        if stamps and stamp <= stamps[-1] - self._setback:
            if held is None or held[0] >= stamp:
                self._held = (stamp, effort)
                return
            self._set_back()
            self._insert(*held)
        self._insert(stamp, effort)

    def _set_back(self) -> None:
        if self._is_old:
            self._clocks.clear()
            self._is_old = False
        self._clocks.append(_Efforts())

    def _insert(self, stamp: int, effort: Array) -> None:
        self._clocks[-1].insert(stamp, effort)
        if self._clock is None and len(self._clocks[-1].stamps) >= BEGINNING:
            self._clock = Clock.of(np.array(self._clocks[-1].stamps))

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
        merged = with_efforts(
            motion, *efforts_at(motion.stamps + self._delay, efforts.samples(), clock)
        )
        efforts.forget(int(motion.stamps[-1]) + self._delay)
        return merged

    def next_clock(self) -> None:
        """Go on with the efforts since the clock was set back: the motion is there now."""
        if len(self._clocks) > 1:
            self._clocks.popleft()
        else:
            self._is_old = True


class _Efforts:
    """Efforts of one clock, in the order of their stamps."""

    def __init__(self) -> None:
        self.stamps: list[int] = []
        self._values: list[Array] = []

    def insert(self, stamp: int, effort: Array) -> None:
        """Put an effort in its place; of two with the same stamp the first one counts."""
        place = bisect_left(self.stamps, stamp)
        if place < len(self.stamps) and self.stamps[place] == stamp:
            return
        self.stamps.insert(place, stamp)
        self._values.insert(place, effort)
        if len(self.stamps) > _MOST:
            del self.stamps[: _MOST // 2], self._values[: _MOST // 2]

    def samples(self) -> EffortSamples:
        return EffortSamples(np.array(self.stamps, dtype=np.int64), np.array(self._values))

    def forget(self, stamp: int) -> None:
        """Forget what lies before the last effort at or before a stamp."""
        passed = max(bisect_right(self.stamps, stamp) - 1, 0)
        del self.stamps[:passed], self._values[:passed]


def _latest(efforts: _Efforts) -> int:
    return efforts.stamps[-1] if efforts.stamps else 0
