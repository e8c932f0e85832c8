"""Least squares on few instants, joint by joint, in which any one thing can be changed.

Each joint has a variance of its own, as its rows are unlike those of others in size and in what
the model lacks; the fit is that of the largest likelihood, by a few steps of reweighting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.diagnosis.refits.motion import Motion
from robot_identification.robot.arrays import Array, by_value

_STEPS = 3
_ROWS_PER_COLUMN = 3
FLOOR = 0.01
"""Residual, over the effort of a joint, below which no row gets more weight: no model is better."""

_TINY = float(np.finfo(float).tiny)

_RIDGE = 1e-10
"""Added to the diagonal of the scaled normal equations, whose columns may depend on each other; the
residual, which alone counts here, does not notice it."""


@by_value
@dataclass(frozen=True)
class JointRows:
    """Rows of one joint.

    Attributes:
        columns: (own,) places of the columns that are not zero.
        matrix: (rows, own) the regressor.
        effort: (rows,) in N m or N.
        part: (rows,) the part of time of each row: 0, then 1.
    """

    columns: npt.NDArray[np.intp]
    matrix: Array
    effort: Array
    part: npt.NDArray[np.intp]

    @property
    def size(self) -> float:
        """Root mean square of the effort; 1 where there is none."""
        size = rms(self.effort)
        return size if size > _TINY else 1.0

    @property
    def enough(self) -> bool:
        """Whether there are rows enough that something is left of them to be explained."""
        return len(self.effort) >= _ROWS_PER_COLUMN * len(self.columns)

    @cached_property
    def parts(self) -> tuple[slice, slice]:
        """Rows of either part of time."""
        first = len(self.part) - int(np.count_nonzero(self.part))
        return slice(None, first), slice(first, None)

    def within(self, part: slice) -> JointRows:
        """Return the rows of a part of time."""
        return JointRows(self.columns, self.matrix[part], self.effort[part], self.part[part])

    def extended(self, columns: npt.NDArray[np.intp], matrix: Array) -> JointRows:
        """Return the rows with further columns.

        Args:
            columns: (extra,) their places.
            matrix: (rows, extra) their entries.
        """
        both = np.concatenate([self.columns, columns])
        return JointRows(both, np.column_stack([self.matrix, matrix]), self.effort, self.part)


@by_value
@dataclass(frozen=True)
class Refit:
    """A fit to the rows of all joints.

    Attributes:
        left: (joints,) residual over effort, root mean squares.
        left_in_parts: (joints, 2) the same in either part of time.
        residuals: (rows,) of every joint, in N m or N.
    """

    left: Array
    left_in_parts: Array
    residuals: tuple[Array, ...]


def rows_of(motion: Motion, regressor: Regressor) -> tuple[JointRows, ...]:
    """Return the rows of every joint of a motion."""
    q, qd, qdd = (np.array(s) for s in (motion.position, motion.velocity, motion.acceleration))
    compact = regressor.compact(q, qd, qdd, temperature=motion.temperature)
    rows = []
    for joint, effort, kept in zip(regressor.joint_rows, motion.effort, motion.kept, strict=True):
        places = np.flatnonzero(kept)
        matrix = compact[joint.rows].take(places, axis=1).T
        rows.append(
            JointRows(np.asarray(joint.columns), matrix, effort[places], motion.part[places])
        )
    return tuple(rows)


class Grams:
    """Normal equations of every joint, which are formed once and solved for many efforts.

    Args:
        rows: of every joint.
        columns: number of columns.
    """

    def __init__(self, rows: Sequence[JointRows], columns: int) -> None:
        self.rows = tuple(rows)
        self.columns = columns
        self._counts = np.array([max(len(joint.effort), 1) for joint in rows])
        self._matrices = np.zeros((len(rows), columns, columns))
        for matrix, joint in zip(self._matrices, rows, strict=True):
            matrix[np.ix_(joint.columns, joint.columns)] = joint.matrix.T @ joint.matrix
        sides = [self._side(place, joint.effort) for place, joint in enumerate(rows)]
        self._sides = np.array(sides)
        self._squares = np.array([joint.effort @ joint.effort for joint in rows])

    def fit(self, efforts: Mapping[int, Array] | None = None) -> Refit:
        """Fit parameters.

        Args:
            efforts: (rows,) of joints by their places, in place of those measured.
        """
        changed = efforts or {}
        measured = [changed.get(place, joint.effort) for place, joint in enumerate(self.rows)]
        values, sizes = self._fitted(changed)
        residuals = tuple(
            effort - joint.matrix @ values[joint.columns]
            for joint, effort in zip(self.rows, measured, strict=True)
        )
        left = np.array([rms(residual) for residual in residuals]) / sizes
        parts = np.array(
            [
                [rms(residual[part]) / size for part in joint.parts]
                for joint, residual, size in zip(self.rows, residuals, sizes, strict=True)
            ]
        )
        return Refit(left, parts, residuals)

    def values(self) -> Array:
        """Return the (columns,) parameters of a fit to the efforts that were measured."""
        return self._fitted({})[0]

    def _fitted(self, changed: Mapping[int, Array]) -> tuple[Array, Array]:
        """Return (columns,) parameters, and (joints,) root mean squares of the efforts."""
        sides, squares = self._sides.copy(), self._squares.copy()
        for place, effort in changed.items():
            sides[place] = self._side(place, effort)
            squares[place] = effort @ effort
        heard = squares > 0.0  # a joint without effort weighs nothing
        sizes = np.where(heard, np.sqrt(squares / self._counts), 1.0)
        values = self._solved(heard / sizes**2, sides)
        for _ in range(_STEPS - 1):
            # What is left, of the normal equations alone: exact enough for weights.
            explained = 2.0 * sides @ values - (self._matrices @ values) @ values
            left = np.sqrt(np.maximum(squares - explained, 0.0) / self._counts) / sizes
            values = self._solved(heard / (np.maximum(left, FLOOR) * sizes) ** 2, sides)
        return values, sizes

    def _side(self, place: int, effort: Array) -> Array:
        joint = self.rows[place]
        side = np.zeros(self.columns)
        side[joint.columns] = effort @ joint.matrix
        return side

    def _solved(self, weights: Array, sides: Array) -> Array:
        joints = len(self.rows)
        gram = (weights @ self._matrices.reshape(joints, -1)).reshape(self.columns, -1)
        scale = np.sqrt(gram.diagonal())
        scale[scale == 0.0] = 1.0
        gram /= scale[:, None]
        gram /= scale
        gram.flat[:: self.columns + 1] += _RIDGE
        solved, failed = scipy.linalg.lapack.dposv(gram, weights @ sides / scale)[1:]
        if failed:  # by rounding: the matrix is positive but for that
            solved = np.linalg.solve(gram, weights @ sides / scale)
        found: Array = solved / scale
        return found


def foretold(rows: Sequence[JointRows], columns: int) -> Array:
    """Return what a fit to either part of time leaves of the other one, over the effort.

    Args:
        rows: of every joint.
        columns: number of columns.

    Returns:
        (joints, 2) root mean squares.
    """
    left = np.empty((len(rows), 2))
    for part, other in ((0, 1), (1, 0)):
        values = Grams([joint.within(joint.parts[other]) for joint in rows], columns).values()
        for place, joint in enumerate(rows):
            own = joint.within(joint.parts[part])
            left[place, part] = rms(own.effort - own.matrix @ values[own.columns]) / joint.size
    return left


def independent_rows(residual: Array) -> float:
    """Return how many independent rows as many with this residual are worth.

    Residuals are taken for a process of first order, by the correlation of those that follow each
    other.
    """
    if len(residual) < 2:
        return float(len(residual))
    size = max(float(residual @ residual), _TINY)
    alike = float(np.clip(residual[1:] @ residual[:-1] / size, 0.0, 0.99))
    return len(residual) * (1.0 - alike) / (1.0 + alike)


def rms(values: Array) -> float:
    """Return the root mean square of values, or the least positive number if that is zero."""
    return max(float(values @ values / len(values)) ** 0.5, _TINY) if len(values) else _TINY


def gain(before: Refit, after: Refit) -> float:
    """Return by how much a change raises the likelihood; see :func:`gain_in_parts`."""
    return gain_in_parts(before.left_in_parts, after.left_in_parts)


def gain_below_floor(before: Refit, after: Refit) -> float:
    """Return a gain that goes on where a residual is below one percent of the effort.

    There the gain itself is the same for all amounts of a change; this one tells which is best.
    """
    sizes = (np.hypot(fit.left_in_parts, FLOOR) for fit in (before, after))
    return gain_in_parts(*sizes)


def gain_in_parts(before: Array, after: Array) -> float:
    """Return by how much a change raises the likelihood, in halvings of one joint's variance.

    It is that of the part of time in which it helps less: a mistake acts all the time.  Residuals
    below one percent of the effort are as good as none.

    Args:
        before: (joints, 2) what is left over the effort, in either part of time.
        after: the same with the change.
    """
    ratios = np.log2(np.maximum(before, FLOOR) / np.maximum(after, FLOOR))
    return float(2.0 * ratios.sum(axis=0).min())
