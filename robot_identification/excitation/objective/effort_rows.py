"""Rows of the inverse dynamic model along a motion, with exact derivatives.

The effort of joint k depends on the links that it moves alone.  Of the system W only the entries
that can differ from zero are made, C_k for joint k (entries, samples), and

    W^T W = sum over k of C_k C_k^T    (put at the columns of joint k).

What has the derivatives S over W^T W, S symmetric, has 2 S C_k over C_k.  The inertial entries are
led back to the motion by :mod:`~robot_identification.excitation.kernels.effort_gradient`, those of
friction and drives by matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Generic

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics import friction
from robot_identification.dynamics.kernels.terms import ACCELERATION, COULOMB, MAGNITUDE, VISCOUS
from robot_identification.dynamics.regressor import Regressor
from robot_identification.dynamics.tree import tree_of
from robot_identification.excitation.kernels.effort_gradient import effort_gradients
from robot_identification.excitation.objective.motion_map import Motion, MotionMap, Pull
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.robot.model import Array

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Entries of W that can differ from zero.

    Attributes:
        motion: (3, joints, samples) position, velocity and acceleration.
        bends: derivatives of what is not linear in the velocities, from ``put_signs``.
        weights: (samples,) square roots of the time that every sample stands for.
        entries: (compact rows, samples) weighted entries.
        onto: (compact rows, samples) room for derivatives over them.
    """

    motion: Array
    bends: tuple[Array, Array]
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
        robot = base.robot
        friction.require_kinds(robot, "planning", MAGNITUDE)
        self._regressor = Regressor(robot, base.base_columns)
        self._blocks = tuple((x.rows, x.columns) for x in self._regressor.joint_rows)
        own = [(self.columns * x[:, None] + x).ravel() for _, x in self._blocks]
        self._place = np.concatenate(own)  # of the entries of all C_k C_k^T in W^T W
        self._tree = tree_of(robot)
        places = np.full((len(robot.joints), self.columns), -1, dtype=np.int64)
        for k, (rows, columns) in enumerate(self._blocks):
            places[k, columns] = np.arange(rows.start, rows.stop)
        self._slots = np.full((len(robot.joints), len(robot.all_parameter_names)), -1)
        self._slots[:, base.base_columns] = places
        terms = friction.rate_terms(robot, base.base_columns)
        self._rates = _RateRows(terms, places, smoothing)
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
        self._regressor.compact(samples[0], samples[1], samples[2], out=entries)
        bends = self._rates.put_signs(samples[1], entries)
        weights = np.sqrt(self._curve.spans(motion))
        entries *= weights
        self._latest = _Rows(samples, bends, weights, entries, onto)
        return self._latest

    def _pull(self, motion: Motion, rows: _Rows) -> Motion:
        """Return the gradient over the motion of what has derivatives over weighted entries."""
        onto = np.empty_like(rows.motion)
        cosine, sine = _turned(rows.motion[0])
        effort_gradients(self._tree, self._slots, *rows.motion, cosine, sine, rows.onto, onto)
        self._rates.pull(rows.onto, rows.bends, onto)
        onto *= rows.weights
        stretches = 0.5 * np.einsum("ij,ij->j", rows.onto, rows.entries)
        return self._curve.pull_rows(motion, onto, stretches)


def _turned(angle: Array) -> tuple[Array, Array]:
    """Return cosine and sine from the tangent of half the angle, one function in place of two.

    With t = tan(x / 2) they are (1 - t^2) / (1 + t^2) and 2 t / (1 + t^2), to the last bit but one.
    """
    tangent = np.tan(0.5 * angle)
    square = tangent * tangent
    share = 1.0 / (1.0 + square)
    return (1.0 - square) * share, 2.0 * tangent * share


class _RateRows:
    """Entries of friction and drives, which are functions of combinations of rates.

    Args:
        terms: the entries.
        places: (joints, columns) row of the compact form that holds the entry; -1: none.
        smoothing: width of the smoothed sign of velocities; 0 for the sign.
    """

    def __init__(
        self, terms: tuple[friction.RateTerm, ...], places: Places, smoothing: float
    ) -> None:
        self._smoothing = smoothing
        self._inertia = _Kind.of([t for t in terms if t.kind == ACCELERATION], places)
        self._viscous = _Kind.of([t for t in terms if t.kind == VISCOUS], places)
        self._coulomb = _Kind.of([t for t in terms if t.kind == COULOMB], places)
        self._curved = _Kind.of([t for t in terms if t.of_rate], places)
        self._signs, of_term = np.unique(self._coulomb.rows, return_inverse=True)
        self._mixing = np.zeros((len(self._signs), len(of_term)))
        self._mixing[of_term, np.arange(len(of_term))] = self._coulomb.gains

    def put_signs(self, qd: Array, entries: Array) -> tuple[Array, Array]:
        """Replace the signs of velocities by smoothed ones.

        Args:
            qd: (joints, samples) velocities.
            entries: (compact rows, samples) entries before they are weighted.

        Returns:
            (Coulomb terms, samples) derivatives of the smoothed signs, and (curved terms, samples)
            those of other functions of the velocity that are not linear.
        """
        values, bends = friction.sign(self._coulomb.motions @ qd, self._smoothing)
        if self._smoothing > 0.0:
            entries[self._signs] = self._mixing @ values
        rates = self._curved.motions @ qd
        slopes = [t.slope(rate) for t, rate in zip(self._curved.terms, rates, strict=True)]
        return bends, np.array(slopes).reshape(rates.shape)

    def pull(self, onto_entries: Array, bends: tuple[Array, Array], onto: Array) -> None:
        """Add derivatives over the entries to those over the motion.

        Args:
            onto_entries: (compact rows, samples) derivatives over the entries.
            bends: from :meth:`put_signs`.
            onto: (3, joints, samples) takes those over position, velocity and acceleration.
        """
        onto[2] += self._inertia.back @ onto_entries[self._inertia.rows]
        onto[1] += self._viscous.back @ onto_entries[self._viscous.rows]
        for terms, slopes in zip((self._coulomb, self._curved), bends, strict=True):
            onto[1] += terms.back @ (onto_entries[terms.rows] * slopes)


@dataclass(frozen=True, eq=False)
class _Kind:
    """Terms of a kind: entry = gain times a function of motion times rates.

    Attributes:
        rows: (terms,) row of the compact form.
        motions: (terms, joints) combinations of rates.
        gains: (terms,) factors.
        terms: (terms,) the terms.
    """

    rows: Places
    motions: Array
    gains: Array
    terms: tuple[friction.RateTerm, ...]

    @classmethod
    def of(cls, terms: list[friction.RateTerm], places: Places) -> _Kind:
        return cls(
            np.array([places[term.joint, term.column] for term in terms], dtype=np.int64),
            np.array([term.motion for term in terms]).reshape(len(terms), len(places)),
            np.array([term.gain for term in terms]),
            tuple(terms),
        )

    @cached_property
    def back(self) -> Array:
        """(joints, terms) derivatives over the rates, but for those of the function."""
        return self.motions.T * self.gains
