"""Least squares on all blocks of time but one, for many choices of columns.

The rows of all joints of the blocks that are fitted stand in one triangle with the columns of every
candidate.  Base parameters that no candidate replaces are in every choice, and stand first: below
their rows of the triangle stands all that a choice has to fit, and what they take of the blocks
left out is taken once.  A choice of the other columns needs one small factorisation for each fold;
what each further column would change follows for all of them together, as its part that is
orthogonal to the chosen columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

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

_PANEL = 16
"""Columns that are factored at a time: what is fastest for a hundred of them."""

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
        gone = rows.replaceable
        kept = np.delete(np.arange(rows.base.rank), gone)
        self._permanent = len(kept)
        order = np.concatenate([kept, gone, np.arange(rows.base.rank, rows.columns)])
        self._place = np.argsort(order)
        blocks = [_stacked(factors, weights, rows.columns) for factors in rows.factors]
        scale = np.sqrt(np.sum([np.sum(own**2, axis=0) for own in blocks], axis=0))
        scale[scale == 0.0] = 1.0
        scale[-1] = 1.0
        self._scale = scale[order]
        order = np.append(order, rows.columns)
        blocks = [_triangle((own / scale)[:, order]) for own in blocks]
        parts = [
            _without(fitted, left, self._permanent)
            for fitted, left in zip(_all_but_one(blocks), blocks, strict=True)
        ]
        self._taken, self._fitted, self._left = (
            np.array(own) for own in zip(*parts, strict=True)
        )  # fmt: skip
        self._known: dict[bytes, tuple[Array, Array]] = {}

    def squares(self, chosen: Places) -> tuple[Array, Array]:
        """Return (folds,) squared residuals of the blocks left out, and (folds, chosen) values.

        Args:
            chosen: places of columns, among them those of all base parameters but replaced ones.
        """
        own = self._own(chosen)
        q, r = self._solved(own)
        x = _back(r, q.transpose(0, 2, 1) @ self._fitted[:, :, -1:])
        residual = self._left[:, :, -1:] - self._left[:, :, own] @ x
        first = self._taken[:, :, -1:] - self._taken[:, :, own] @ x
        values = np.zeros((len(x), len(self._place)))
        values[:, : self._permanent] = first[..., 0]
        values[:, self._permanent + own] = x[..., 0]
        values /= self._scale
        return np.sum(residual**2, axis=(1, 2)), values[:, self._place[chosen]]

    def added(self, chosen: Places, further: Places) -> Addition:
        """Return what further columns do, each by itself beside those that are chosen.

        Args:
            chosen: as for :meth:`squares`.
            further: places of columns that no base parameter has that is always chosen.
        """
        own, more = self._own(chosen), self._place[further] - self._permanent
        q, r = self._solved(own)
        right = q.transpose(0, 2, 1)
        columns, effort = self._fitted[:, :, more], self._fitted[:, :, -1:]
        inside, explained = right @ columns, right @ effort
        beyond, rest = columns - q @ inside, effort - q @ explained
        size = np.einsum("fij,fij->fj", beyond, beyond)
        told = np.all(size > _DEPENDENT**2, axis=0)
        value = (beyond.transpose(0, 2, 1) @ rest)[..., 0] / np.maximum(size, _DEPENDENT**2)
        x = _back(r, explained - inside * value[:, None, :])
        residual = self._left[:, :, -1:] - self._left[:, :, own] @ x
        residual -= self._left[:, :, more] * value[:, None, :]
        return Addition(
            squares=np.einsum("fij,fij->fj", residual, residual),
            values=value / self._scale[self._permanent + more],
            told=told,
        )

    def _own(self, chosen: Places) -> Places:
        """Return the places of a choice's columns behind the permanent ones."""
        places = self._place[chosen]
        return places[places >= self._permanent] - self._permanent

    def _solved(self, own: Places) -> tuple[Array, Array]:
        """Return the factors of some columns in all folds; those asked for last are kept."""
        key = own.tobytes()
        found = self._known.pop(key, None)
        if found is None:
            q, r = np.linalg.qr(self._fitted[:, :, own])
            found = (q, r)
        self._known[key] = found
        if len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]
        return found


def _stacked(factors: Sequence[JointFactor], weights: Array, columns: int) -> Array:
    """Return the weighted rows of the factors of a block, the efforts behind all columns.

    Args:
        factors: one per joint of its rows at speed, then one per joint of those near standstill.
        weights: of each.
        columns: number of all columns.
    """
    triangles = [weight * own.triangle for own, weight in zip(factors, weights, strict=True)]
    joints = len(factors) // 2
    joined = list(map(_joined, triangles[:joints], triangles[joints:]))
    rows = np.zeros((sum(map(len, joined)), columns + 1))
    first = 0
    for factor, triangle in zip(factors, joined, strict=False):
        part = slice(first, first + len(triangle))
        rows[part, np.append(factor.columns, columns)] = triangle
        first = part.stop
    return rows


def _without(fitted: Array, left: Array, count: int) -> tuple[Array, Array, Array]:
    """Return what the first columns take of the others, and what they leave of them.

    Args:
        fitted: triangle of the rows that are fitted.
        left: of those that are left out.
        count: number of the first columns, which are in every fit.

    Returns:
        (count, others) coefficients of the other columns and the effort by the first ones; the
        triangle of the others where the first are fitted too; what is left of the rows left out.
    """
    taken = _back(fitted[:count, :count], fitted[:count, count:])
    rest = left[:, count:] - left[:, :count] @ taken
    return taken, fitted[count:, count:], _triangle(rest)


def _all_but_one(triangles: Sequence[Array]) -> list[Array]:
    """Return the triangles of all rows but those of each: of what is before and what is behind."""
    before = list(accumulate(triangles[:-1], _joined))
    behind = list(accumulate(triangles[:0:-1], _joined))[::-1]
    return [behind[0], *map(_joined, before[:-1], behind[1:]), before[-1]]


def _joined(first: Array, second: Array) -> Array:
    """Return the triangle of the rows of two triangles; a third of the work of their rows'.

    Below their diagonals both are 0, and so is what is returned.
    """
    size = len(first)
    return np.asarray(scipy.linalg.lapack.dtpqrt(size, min(_PANEL, size), first, second)[0])


def _triangle(rows: Array) -> Array:
    return np.asarray(np.linalg.qr(rows, mode="r"))


def _back(r: Array, right: Array) -> Array:
    """Solve triangular systems, one or one for each fold, whose columns may depend on each other.

    Args:
        r: (..., columns, columns).
        right: (..., columns, sides).
    """
    if not r.shape[-1]:
        return np.zeros_like(right)
    diagonal = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    if np.all(diagonal.min(-1) > np.finfo(float).eps * r.shape[-1] * diagonal.max(-1)):
        return np.asarray(np.linalg.solve(r, right), dtype=np.float64)
    if r.ndim > 2:
        return np.array([_back(*pair) for pair in zip(r, right, strict=True)])
    return np.asarray(np.linalg.lstsq(r, right, rcond=1e-10)[0])
