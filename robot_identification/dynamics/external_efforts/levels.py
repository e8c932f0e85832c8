"""Thresholds of external efforts, learned from the residual of free motion.

What the observer leaves of a motion without contact has passed its filter: its deviation, its
colour and the errors of the model are in it as they are.  A Gaussian residual with the deviation s
that changes its sign z times a second goes beyond +-u, newly, z exp(-u^2 / 2 s^2) times a second
(Rice 1945), so that

    u = s sqrt(2 ln(z / n))

is exceeded n times a second.  Errors of a model have longer tails.  The largest residual m in the
time T is what is exceeded once: s is at least m / sqrt(2 ln(z T)), and at least what the
identification left, as far as it passes the filter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robot_identification.dynamics.external_efforts.momentum_observer import ObservedEfforts
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import EffortSignError
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array, read_only

_HOUR = 3600.0
_REVERSED = 1.5  # residual over modelled efforts: 2 where the sign of efforts is wrong
_ALIKE = 0.7  # correlation of the two from which that counts
_SLIDING = 0.1  # of the largest stick band, below which a joint counts as sliding


@by_value
@dataclass(frozen=True)
class ResidualLevels:
    """What the observer leaves of free motion.

    Attributes:
        deviation: (joints,) standard deviation with the tail of what was seen, in N m or N.
        crossings: (joints,) changes of sign in a second.
    """

    deviation: Array
    crossings: Array

    def thresholds(self, false_alarms: float) -> Array:
        """Return (joints,) efforts that the residual exceeds so many times in an hour.

        Args:
            false_alarms: of all joints together, in an hour.
        """
        each = false_alarms / _HOUR / len(self.deviation)
        return read_only(self.deviation * _factor(self.crossings / each))


def _factor(crossings: Floats) -> Floats:
    """Return by how many deviations a residual goes beyond zero once in so many crossings."""
    return np.asarray(np.sqrt(2.0 * np.log(np.maximum(crossings, math.e))))


class LevelLearning:
    """Learns levels from blocks of observed efforts of free motion, in constant memory.

    Args:
        names: of the joints.
        floor: (joints,) deviations that levels do not go below, in N m or N.
        stick: (joints,) stick speeds: where no joint is faster, the robot does not move.
    """

    def __init__(self, names: tuple[str, ...], floor: Floats, stick: Floats) -> None:
        self._names, self._floor, self._stick = names, floor, stick
        self.restart()

    def restart(self) -> None:
        """Forget what was learned."""
        joints = len(self._names)
        self.moved = 0.0
        self._time = 0.0
        self._last: Floats | None = None
        self._squares, self._sliding, self._peak, self._changes = np.zeros((4, joints))
        self._widest, self._common, self._modelled, self._all_squares = np.zeros((4, joints))

    def add(self, block: ObservedEfforts) -> None:
        """Take in efforts of free motion.

        ``moved`` is the time in s, until now, in which a joint moved.
        """
        if not len(block.stamps):
            return
        r, band = block.effort, block.stick_band
        moving = (np.abs(block.velocity) > self._stick).any(axis=1)
        self.moved += float(block.interval[moving].sum())
        self._time += float(block.interval.sum())
        self._widest = np.maximum(self._widest, band.max(axis=0))
        sliding = band <= _SLIDING * self._widest
        self._squares += (r**2 * sliding).sum(axis=0)
        self._sliding += sliding.sum(axis=0)
        self._peak = np.maximum(self._peak, (np.abs(r) - band).max(axis=0))
        signs = np.sign(r if self._last is None else np.concatenate([[self._last], r]))
        self._changes += (np.diff(signs, axis=0) != 0.0).sum(axis=0)
        self._last = r[-1]
        self._all_squares += (r**2).sum(axis=0)
        self._common += (r * block.modelled).sum(axis=0)
        self._modelled += (block.modelled**2).sum(axis=0)

    def levels(self) -> ResidualLevels:
        """Return the levels of what has been taken in.

        Raises:
            EffortSignError: the residual of joints is about twice what the model says of them.
        """
        alike = self._common > _ALIKE * np.sqrt(self._all_squares * self._modelled)
        wrong = alike & (self._common > _REVERSED * self._modelled)
        if wrong.any():
            raise EffortSignError([self._names[j] for j in np.flatnonzero(wrong)])
        crossings = np.maximum(self._changes, 1.0) / max(self._time, 1e-9)
        deviation = np.sqrt(self._squares / np.maximum(self._sliding, 1.0))
        tail = self._peak / _factor(crossings * self._time)
        largest = np.maximum(np.maximum(deviation, tail), self._floor)
        return ResidualLevels(read_only(largest), read_only(crossings))
