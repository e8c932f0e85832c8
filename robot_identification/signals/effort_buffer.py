"""Separate efforts while they come in: kept until the motion that they belong to is there."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque

import numpy as np

from robot_identification.robot.model import Array
from robot_identification.signals.recording import RawSamples
from robot_identification.signals.separate_efforts import (
    EffortSamples,
    delay_ns,
    efforts_at,
    gap_limit,
    with_efforts,
)

_MOST = 200_000
_STEPS = 1000
_ENOUGH = 8


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
        self._steps: deque[int] = deque(maxlen=_STEPS)
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
        step = self._clocks[-1].insert(stamp, effort)
        if step > 0:
            self._steps.append(step)

    @property
    def ready(self) -> int | None:
        """Stamp in ns up to which the motion can be merged; None while nothing is known."""
        if len(self._clocks) > 1:  # nothing more comes on the clock of the motion
            return _latest(self._clocks[0]) - self._delay
        stamps = self._clocks[0].stamps
        if self._is_old or not stamps or len(self._steps) < _ENOUGH:
            return None
        return stamps[-1] - self._delay

    def merge(self, motion: RawSamples) -> RawSamples:
        """Return the samples for which there are efforts, with these; forget what is passed.

        Args:
            motion: samples in the order of their stamps, later than all before.
        """
        efforts = self._clocks[0]
        known = not self._is_old and len(efforts.stamps) > 0 and len(self._steps) > 0
        if not known or len(motion.stamps) == 0:
            nothing = np.zeros(len(motion.stamps), dtype=np.bool_)
            return with_efforts(motion, np.zeros((len(nothing), self._joints)), nothing)
        limit = gap_limit(np.array(self._steps, dtype=np.int64))
        merged = with_efforts(
            motion, *efforts_at(motion.stamps + self._delay, efforts.samples(), limit)
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

    def insert(self, stamp: int, effort: Array) -> int:
        """Put an effort in its place; return the step since the newest one, 0 if it is not new."""
        step = 0 if not self.stamps else stamp - self.stamps[-1]
        if step > 0 or not self.stamps:
            self.stamps.append(stamp)
            self._values.append(effort)
            if len(self.stamps) > _MOST:
                del self.stamps[: _MOST // 2], self._values[: _MOST // 2]
            return step
        place = bisect_left(self.stamps, stamp)
        if self.stamps[place] != stamp:  # of two with the same stamp the first one counts
            self.stamps.insert(place, stamp)
            self._values.insert(place, effort)
        return 0

    def samples(self) -> EffortSamples:
        return EffortSamples(np.array(self.stamps, dtype=np.int64), np.array(self._values))

    def forget(self, stamp: int) -> None:
        """Forget what lies before the last effort at or before a stamp."""
        passed = max(bisect_right(self.stamps, stamp) - 1, 0)
        del self.stamps[:passed], self._values[:passed]


def _latest(efforts: _Efforts) -> int:
    return efforts.stamps[-1] if efforts.stamps else 0
