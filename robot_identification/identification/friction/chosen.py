"""The terms that are chosen at the joints, and the columns of the model that has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from robot_identification.identification.friction.candidates import Candidate, CandidateRows, Key
from robot_identification.identification.friction.folds import Folds, Places

_SPEEDS = np.geomspace(1e-4, 1.0, 41)
"""Speeds over the largest one at which friction must take power from the motion."""

_TOLERATED = 0.05
"""Effort along the motion over the largest friction that estimates may be wrong by."""

_MOST = 4
"""Terms that are added to a joint at most: more laws than that are not known of one joint."""


@dataclass(frozen=True)
class Chosen:
    """Terms beyond those of the robot.

    Attributes:
        rows: rows with the columns of all candidates.
        keys: what is chosen, in that order.
        refused: places of joints and names of terms that may not be added.
    """

    rows: CandidateRows
    keys: tuple[Key, ...] = ()
    refused: frozenset[tuple[int, str]] = frozenset()

    def plus(self, keys: Iterable[Key]) -> Chosen:
        """Return these terms and others."""
        return replace(self, keys=(*self.keys, *keys))

    def without(self, key: Key) -> Chosen:
        """Return all terms but one."""
        return replace(self, keys=tuple(own for own in self.keys if own != key))

    @property
    def shaped(self) -> tuple[Key, ...]:
        """What is chosen with a shape."""
        return tuple(key for key in self.keys if self.rows.candidates[key[1]].shaped)

    def of_joint(self, joint: int) -> tuple[int, ...]:
        """Return the candidates of a joint."""
        return tuple(candidate for own, candidate in self.keys if own == joint)

    def columns(self, *, also: Iterable[Key] = (), but: Iterable[Key] = ()) -> Places:
        """Return the columns of the model, with the slopes of opened shapes.

        Args:
            also: candidates whose columns are there too, without taking another's place.
            but: candidates in whose place nothing stands.
        """
        rows = self.rows
        kept = np.zeros(rows.columns, dtype=np.bool_)
        kept[: rows.base.rank] = True
        for joint, candidate in (*self.keys, *but):
            gone = rows.own(joint, rows.candidates[candidate].replaces)
            if gone is not None:
                kept[gone] = False
        for joint, candidate in (*self.keys, *also):
            kept[rows.column(joint, candidate)] = True
        for key in self.keys:
            if (slope := rows.slope(*key)) is not None:
                kept[slope] = True
        return np.flatnonzero(kept)

    def admits(self, joint: int, candidate: int) -> bool:
        """Tell whether a joint's model has neither the term nor its like, and room for it."""
        own, mine = self.rows.candidates[candidate], self._candidates(joint)
        names = {known.term.name for known in mine} | self.rows.base.robot.joints[joint].terms
        gone = {known.replaces for known in mine}
        if own.replaces and (own.replaces in gone or own.replaces not in names):
            return False
        if (joint, own.term.name) in self.refused:
            return False
        return own.term.name not in names and len(mine) < _MOST

    def drives(self, folds: Folds, joint: int) -> bool:
        """Tell whether the friction of a joint would drive it at a speed that it reaches."""
        rows, chosen = self.rows, self.columns()
        values = dict(zip(chosen.tolist(), folds.squares(chosen)[1].mean(axis=0), strict=True))
        top = float(rows.speeds[joint])
        speed = top * np.concatenate([-_SPEEDS[::-1], _SPEEDS])
        effort = np.zeros_like(speed)
        for term in rows.base.robot.joints[joint].joint_terms:
            place = rows.own(joint, term.name)
            if term.dissipates and term.kind.of_rate and place in values:
                shape = rows.base.robot.joints[joint].shape_of(term)
                effort += values[place] * term.kind.of(speed, shape=shape)
        for own in self.of_joint(joint):
            known = rows.candidates[own]
            if known.term.kind.of_rate:
                factor = known.term.kind.of(speed, shape=rows.shape(joint, own))
                effort += values[rows.column(joint, own)] * factor
        against = effort * np.sign(speed)
        return bool(against.min() < -_TOLERATED * np.abs(effort).max())

    def _candidates(self, joint: int) -> tuple[Candidate, ...]:
        return tuple(self.rows.candidates[own] for own in self.of_joint(joint))
