"""Rows of the inverse dynamic model along a motion, with exact derivatives.

The effort of joint k depends on the links that it moves alone.  Of the system W only the entries
that can differ from zero are made, C_k for joint k (entries, samples), and

    W^T W = sum over k of C_k C_k^T    (put at the columns of joint k).

What has the derivatives S over W^T W, S symmetric, has 2 S C_k over C_k.  The entries are led back
to the motion by :mod:`~robot_identification.excitation.objective.entries`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

import numpy as np

from robot_identification.dynamics import friction
from robot_identification.excitation.objective.entries import Bends, Entries
from robot_identification.excitation.objective.motion_map import Motion, MotionMap, Pull
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.robot.arrays import Array


@dataclass(frozen=True, eq=False)
class _Rows:
    """Entries of W that can differ from zero.

    Attributes:
        motion: (3, joints, samples) position, velocity and acceleration.
        bends: what derivatives of the entries need besides.
        weights: (samples,) square roots of the time that every sample stands for.
        entries: (compact rows, samples) weighted entries.
        onto: (compact rows, samples) room for derivatives over them.
    """

    motion: Array
    bends: Bends
    weights: Array
    entries: Array
    onto: Array


class DynamicObservation(Generic[Motion]):
    """Rows of the inverse dynamic model at samples of a motion.

    Rows are weighted by the square root of the time that a sample stands for, so that W^T W is the
    integral over the motion: parts of it count by their durations, as in a recording.

    An observation works in memory of its own, because fresh memory costs as much time as what is
    written to it: one thread at a time may use it.

    Args:
        base: base parameters; their columns are those of W.
        curve: map from a motion to its samples.
        smoothing: width of the smoothed sign of velocities, in rad/s or m/s; 0 for the sign.
    """

    def __init__(
        self, base: BaseParameters, curve: MotionMap[Motion], smoothing: float = 0.0
    ) -> None:
        for refuse in (friction.refuse_user_terms, friction.refuse_temperature):
            refuse(base.robot, "planning")
        self._entries = Entries(base.robot, base.base_columns, smoothing)
        self._regressor = self._entries.regressor
        self._blocks = tuple((x.rows, x.columns) for x in self._regressor.joint_rows)
        own = [(self.columns * x[:, None] + x).ravel() for _, x in self._blocks]
        self._place = np.concatenate(own)  # of the entries of all C_k C_k^T in W^T W
        self._curve = curve
        self._room = np.zeros((2, self._regressor.compact_rows, 0))
        self._latest: _Rows | None = None

    @property
    def columns(self) -> int:
        """Number of columns of W."""
        return len(self._regressor.columns)

    def rows(self, motion: Motion) -> Array:
        """Return W, (samples x joints, columns)."""
        entries = self._rows(motion).entries
        W = np.zeros((entries.shape[1], len(self._blocks), self.columns))
        for k, (rows, columns) in enumerate(self._blocks):
            W[:, k, columns] = entries[rows].T
        return W.reshape(-1, self.columns)

    def pull(self, motion: Motion, slope: Array) -> Motion:
        """Return the gradient over the motion of what has the derivatives ``slope`` over W."""
        found = self._rows(motion)
        split = slope.reshape(-1, len(self._blocks), self.columns)
        for k, (rows, columns) in enumerate(self._blocks):
            found.onto[rows] = split[:, k, columns].T
        return self._pull(motion, found)

    def gram(self, motion: Motion) -> tuple[Array, Pull[Motion]]:
        """Return W^T W, and what leads derivatives over it back to the motion."""
        found = self._rows(motion)
        own = [found.entries[rows] @ found.entries[rows].T for rows, _ in self._blocks]
        entries = np.concatenate([block.ravel() for block in own])
        sums = np.asarray(np.bincount(self._place, entries, self.columns**2), dtype=np.float64)

        def pull(slope: Array) -> Motion:
            now = found if self._latest is found else self._rows(motion)
            first, shares = 0, 2.0 * slope.ravel()[self._place]
            for rows, columns in self._blocks:
                size = len(columns)
                share = shares[first : first + size**2].reshape(size, size)
                np.matmul(share, now.entries[rows], out=now.onto[rows])
                first += size**2
            return self._pull(motion, now)

        return sums.reshape(self.columns, self.columns), pull

    def _rows(self, motion: Motion) -> _Rows:
        """Return the entries of W; they last until the next call."""
        samples = self._curve.rows(motion)
        if self._room.shape[2] != samples.shape[2]:
            self._room = np.zeros((*self._room.shape[:2], samples.shape[2]))
        entries, onto = self._room
        bends = self._entries.put(samples, entries)
        weights = np.sqrt(self._curve.spans(motion))
        entries *= weights
        self._latest = _Rows(samples, bends, weights, entries, onto)
        return self._latest

    def _pull(self, motion: Motion, rows: _Rows) -> Motion:
        """Return the gradient over the motion of what has derivatives over weighted entries."""
        onto = self._entries.pull(rows.onto, rows.motion, rows.bends)
        onto *= rows.weights
        stretches = 0.5 * np.einsum("ij,ij->j", rows.onto, rows.entries)
        return self._curve.pull_rows(motion, onto, stretches)
