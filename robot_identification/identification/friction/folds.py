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
        weights: (joints,) factors on the rows of the joints.
    """

    def __init__(self, rows: CandidateRows, weights: Array) -> None:
        self._columns = rows.columns
        own = [self._stacked(factors, weights) for factors in rows.factors]
        self._left = own
        self._fitted = [
            _triangle([block for other, block in enumerate(own) if other != fold])
            for fold in range(len(own))
        ]
        self._scale = np.linalg.norm(np.vstack(own)[:, :-1], axis=0)
        self._scale[self._scale == 0.0] = 1.0

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
        for fitted, left in zip(self._fitted, self._left, strict=True):
            q, r = self._solved(fitted, chosen)
            x = _back(r, q.T @ fitted[:, -1]) / self._scale[chosen]
            values.append(x)
            found.append(float(np.sum((left[:, -1] - left[:, chosen] @ x) ** 2)))
        return np.array(found), np.array(values)

    def added(self, chosen: Places, further: Places) -> Addition:
        """Return what further columns do, each by itself beside those that are chosen."""
        squares, values = np.zeros((2, len(self._left), len(further)))
        told = np.ones(len(further), dtype=np.bool_)
        for fold, (fitted, left) in enumerate(zip(self._fitted, self._left, strict=True)):
            q, r = self._solved(fitted, chosen)
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

    def _solved(self, fitted: Array, chosen: Places) -> tuple[Array, Array]:
        q, r = np.linalg.qr(fitted[:, chosen] / self._scale[chosen])
        return q, r


def inverse_roots(squares: Array) -> Array:
    """Return one over the roots of (joints,) squares: weights of joints, large where one is 0."""
    return np.asarray(1.0 / np.maximum(np.sqrt(squares), 1e-300))


def _triangle(blocks: Sequence[Array]) -> Array:
    return np.asarray(np.linalg.qr(np.vstack(blocks), mode="r"))


def _back(r: Array, right: Array) -> Array:
    """Solve a triangular system whose columns may depend on each other."""
    diagonal = np.abs(np.diag(r))
    if diagonal.min() > np.finfo(float).eps * len(r) * diagonal.max():
        solved: Array = scipy.linalg.solve_triangular(r, right, check_finite=False)
        return solved
    return np.asarray(np.linalg.lstsq(r, right, rcond=1e-10)[0])
