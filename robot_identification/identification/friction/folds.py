"""Least squares on all blocks of time but one, for many choices of columns.

The rows of all joints of the blocks that are fitted stand in one triangle with the columns of every
candidate.  A choice of columns needs one small factorisation of it; what each further column would
change follows for all of them together, as its part that is orthogonal to the chosen columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.identification.friction.candidates import CandidateRows
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.robot.arrays import Array, by_value

_DEPENDENT = 1e-5
"""Part of a column, orthogonal to the others, below which nothing is told of it."""

_KEPT = 8
"""Choices of columns whose factors are kept: a trial asks for three, one after the other."""

Places = npt.NDArray[np.intp]


@by_value
@dataclass(frozen=True)
class Addition:
    """What one further column does, fold by fold.

    Attributes:
        squares: (folds, columns) weighted squared residuals of the blocks left out.
        values: (folds, columns) estimates of the column's parameter.
        told: (columns,) whether the rows tell it from the others in every fold.
    """

    squares: Array
    values: Array
    told: npt.NDArray[np.bool_]


class Folds:
    """Fits without each block.

    Args:
        rows: of every block.
        weights: factors on the rows of every factor of a block.
    """

    def __init__(self, rows: CandidateRows, weights: Array) -> None:
        self.weights = weights
        self._columns = rows.columns
        own = [self._stacked(factors, weights) for factors in rows.factors]
        self._left = own
        self._fitted = _all_but_one(own)
        self._scale = np.linalg.norm(np.vstack(own)[:, :-1], axis=0)
        self._scale[self._scale == 0.0] = 1.0
        self._known: dict[bytes, list[tuple[Array, Array]]] = {}

    def _stacked(self, factors: Sequence[JointFactor], weights: Array) -> Array:
        blocks = []
        for factor, weight in zip(factors, weights, strict=True):
            block = np.zeros((len(factor.triangle), self._columns + 1))
            block[:, factor.columns] = factor.triangle[:, :-1]
            block[:, -1] = factor.triangle[:, -1]
            blocks.append(weight * block)
        return _triangle(blocks)

    def squares(self, chosen: Places) -> tuple[Array, Array]:
        """Return (folds,) squared residuals of the blocks left out, and (folds, chosen) values."""
        found, values = [], []
        factors = self._solved(chosen)
        for (q, r), fitted, left in zip(factors, self._fitted, self._left, strict=True):
            x = _back(r, q.T @ fitted[:, -1]) / self._scale[chosen]
            values.append(x)
            found.append(float(np.sum((left[:, -1] - left[:, chosen] @ x) ** 2)))
        return np.array(found), np.array(values)

    def added(self, chosen: Places, further: Places) -> Addition:
        """Return what further columns do, each by itself beside those that are chosen."""
        squares, values = np.zeros((2, len(self._left), len(further)))
        told = np.ones(len(further), dtype=np.bool_)
        for fold, (q, r) in enumerate(self._solved(chosen)):
            fitted, left = self._fitted[fold], self._left[fold]
            columns = fitted[:, further] / self._scale[further]
            inside = q.T @ columns
            beyond = columns - q @ inside
            rest = fitted[:, -1] - q @ (q.T @ fitted[:, -1])
            size = np.einsum("ij,ij->j", beyond, beyond)
            told &= size > _DEPENDENT**2
            value = beyond.T @ rest / np.maximum(size, _DEPENDENT**2)
            x = _back(r, q.T @ fitted[:, -1])[:, None] - _back(r, inside) * value
            x /= self._scale[chosen][:, None]
            value = value / self._scale[further]
            residual = left[:, -1:] - left[:, chosen] @ x - left[:, further] * value
            squares[fold] = np.einsum("ij,ij->j", residual, residual)
            values[fold] = value
        return Addition(squares, values, told)

    def _solved(self, chosen: Places) -> list[tuple[Array, Array]]:
        """Return the factors of some columns, fold by fold; those asked for last are kept."""
        key = chosen.tobytes()
        found = self._known.pop(key, None)
        if found is None:
            found = [np.linalg.qr(own[:, chosen] / self._scale[chosen]) for own in self._fitted]
        self._known[key] = found
        if len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]
        return found


def _all_but_one(triangles: Sequence[Array]) -> list[Array]:
    """Return the triangles of all rows but those of each: of what is before and what is behind."""
    empty = np.zeros((0, triangles[0].shape[1]))
    before, behind = [empty], [empty]
    for own, other in zip(triangles[:-1], triangles[:0:-1], strict=True):
        before.append(_triangle([before[-1], own]))
        behind.append(_triangle([behind[-1], other]))
    return [_triangle(pair) for pair in zip(before, reversed(behind), strict=True)]


def _triangle(blocks: Sequence[Array]) -> Array:
    return np.asarray(np.linalg.qr(np.vstack(blocks), mode="r"))


def _back(r: Array, right: Array) -> Array:
    """Solve a triangular system whose columns may depend on each other."""
    diagonal = np.abs(np.diag(r))
    if diagonal.min() > np.finfo(float).eps * len(r) * diagonal.max():
        solved: Array = scipy.linalg.solve_triangular(r, right, check_finite=False)
        return solved
    return np.asarray(np.linalg.lstsq(r, right, rcond=1e-10)[0])
