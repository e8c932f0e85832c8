"""Speeds and loads that joints had in the recordings behind a friction law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robot_identification.robot.arrays import Array, by_value, read_only


@by_value
@dataclass(frozen=True)
class MeasuredRange:
    """Speeds and loads of the motion that a friction law was identified from.

    Attributes:
        speeds: (joints,) largest speeds, rad/s or m/s.
        loads: (joints, 2) mean and standard deviation of the size of the effort that the friction
            of a joint follows, N m or N; 0 where it follows none.
    """

    speeds: Array
    loads: Array

    def __post_init__(self) -> None:
        for name in ("speeds", "loads"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def entries(self, joint_names: Sequence[str]) -> dict[str, list[float]]:
        """Return the plain data: joint -> speed, mean and standard deviation of the load."""
        return {
            name: [float(speed), *map(float, load)]
            for name, speed, load in zip(joint_names, self.speeds, self.loads, strict=True)
        }


def range_of_entries(
    entries: Mapping[str, Sequence[float]], joint_names: Sequence[str]
) -> MeasuredRange:
    """Return what :meth:`MeasuredRange.entries` gave.

    Raises:
        KeyError, TypeError, ValueError: it did not.
    """
    table = np.array([entries[name] for name in joint_names], dtype=np.float64)
    if table.shape != (len(joint_names), 3) or not np.isfinite(table).all() or (table < 0.0).any():
        raise ValueError("give a speed, and mean and standard deviation of the load, of each joint")
    return MeasuredRange(table[:, 0], table[:, 1:])
