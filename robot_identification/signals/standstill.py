"""Samples that repeat the one before: a driver that sends its last state again and again."""

from __future__ import annotations

import numpy as np

from robot_identification.robot.model import Array


def longest_repetition(position: Array, effort: Array) -> int:
    """Return how many samples in a row, at most, repeat the one before bit by bit.

    Measured efforts hardly ever repeat exactly in all joints, so many such samples tell of a
    driver that is stuck, or of a robot at rest without power.

    Args:
        position: (samples, joints).
        effort: (samples, joints).

    Returns:
        The number of repetitions; 0 where every sample differs from the one before.
    """
    same = (np.diff(position, axis=0) == 0.0).all(axis=1) & (np.diff(effort, axis=0) == 0.0).all(
        axis=1
    )
    ends = np.flatnonzero(np.concatenate([[True], ~same, [True]]))
    return int(np.diff(ends).max() - 1)
