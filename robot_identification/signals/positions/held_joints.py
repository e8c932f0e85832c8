"""Joints that a robot file holds fixed: do they stand where it says?"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from robot_identification.robot.arrays import Array
from robot_identification.signals.positions.turns import way_apart

_TOLD = 0.01
"""By how much a joint may stand elsewhere before that is told, in rad or m: gravity and inertia of
what it carries are off by about as much, a part of what the best fits of measured robots leave."""


class HeldJoints:
    """Compares where joints stand with where a robot file holds them.

    A joint that stands where its driver wraps positions stands still, whatever side it is told on:
    positions are taken in the turn around the first one.

    Args:
        expected: joint -> position in rad or m (``fixed_joints`` of the robot file).
    """

    def __init__(self, expected: Mapping[str, float]) -> None:
        self._expected = expected
        self._first: dict[str, float] = {}
        self._stood: dict[str, tuple[float, float]] = {}

    def forget(self) -> None:
        """Forget where they have stood."""
        self._first.clear()
        self._stood.clear()

    def add(self, name: str, *positions: float) -> None:
        """Take in where a joint stands; quick, as it is called for every state.

        Args:
            name: of the joint.
            positions: in rad or m; what is not a number is passed over.
        """
        told = tuple(filter(math.isfinite, positions))
        if told:
            first = self._first.setdefault(name, told[0])
            told = tuple(first + math.remainder(one - first, math.tau) for one in told)
            stood = self._stood.get(name, told)
            self._stood[name] = min(*stood, *told), max(*stood, *told)

    def add_samples(self, name: str, positions: Array) -> None:
        """Take in where a joint stands in (samples,) many states, as :meth:`add` does."""
        told = positions[np.isfinite(positions)]
        if len(told):
            first = self._first.setdefault(name, float(told[0]))
            away = told - first
            away -= math.tau * np.rint(away / math.tau)
            self.add(name, first + float(away.min()), first + float(away.max()))

    def lines(self) -> list[str]:
        """Return what there is to be told, one line for each joint that stands elsewhere."""
        return [line for name in self._stood if (line := self._line(name))]

    def _line(self, name: str) -> str:
        least, most = self._stood[name]
        expected, middle = self._expected[name], (least + most) / 2.0
        held = f"where fixed_joints of the robot file holds it at {expected:g}"
        if most - least > _TOLD:
            return (
                f"{name} moved from {least:.4g} to {most:.4g}, {held}: what it carries is not "
                "where the model has it; keep it still while the robot is identified"
            )
        if way_apart(expected, middle) > _TOLD:
            return (
                f"{name} stands at {middle:.4g}, {held}; move it there, or say "
                f"fixed_joints: {{{name}: {middle:.4g}}}"
            )
        return ""
