"""Samples that repeat the one before: a driver that sends its last state again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array


@by_value
@dataclass(frozen=True)
class Repetition:
    """How many samples in a row repeat the one before bit by bit, in samples that go on.

    Measured efforts hardly ever repeat exactly in all joints, so many such samples tell of a
    driver that is stuck, or of a robot at rest without power.

    Attributes:
        longest: repetitions in a row, at most; 0 where every sample differs from the one before.
        newest: repetitions in a row at the end.
        last: (2, joints) position and effort of the newest sample; None before the first.
    """

    longest: int = 0
    newest: int = 0
    last: Array | None = None

    def followed_by(self, position: Array, effort: Array) -> Repetition:
        """Return the repetitions with the samples that follow.

        Args:
            position: (samples, joints).
            effort: (samples, joints).
        """
        if not len(position):
            return self
        states = np.stack([position, effort], axis=1)
        before = states[:0] if self.last is None else self.last[None]
        same = (np.diff(np.concatenate([before, states]), axis=0) == 0.0).all(axis=(1, 2))
        differ = np.flatnonzero(~same)
        first = int(differ[0]) if len(differ) else len(same)
        newest = len(same) - 1 - int(differ[-1]) if len(differ) else self.newest + len(same)
        inside = int(np.diff(differ).max(initial=1)) - 1
        longest = max(self.longest, self.newest + first, inside, newest)
        return Repetition(longest, newest, states[-1].copy())
