"""Triangular factors [R z] of the regressor's rows, one per joint (QR factorisation).

Row k of the regressor sees only the links that joint k moves.  The rows of one joint, with the
measured effort as the last column, are folded into

    T_k = [R_k z_k; 0 rho_k],    T_k^T T_k = [W_k Y_k]^T [W_k Y_k],

which says everything that least squares can ask of them: weights can change, recordings can be
merged and errors be computed without the samples.

Where the parameters p of a regressor are p = E x, the rows of the new unknowns x are W E, and with
[W Y] = Q [R z; 0 rho] all that is needed of them is R E: no sample is touched again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.errors import ShapeError
from robot_identification.identification.rows.bands import BandGrams
from robot_identification.identification.rows.householder_kernels import fold_rows
from robot_identification.robot.arrays import Array, by_value, read_only


@by_value
@dataclass(frozen=True)
class JointFactor:
    """Triangular factor of the rows of one joint.

    Attributes:
        joint: name of the joint.
        columns: (entries,) places among the base parameters of the columns that are not zero.
        triangle: (entries + 1, entries + 1) upper triangular [R z; 0 rho]; the last column
            belongs to the effort.
        rows: number of rows that were folded in.
    """

    joint: str
    columns: npt.NDArray[np.intp]
    triangle: Array
    rows: int

    def __post_init__(self) -> None:
        size = len(self.columns) + 1
        if self.triangle.shape != (size, size):
            raise ShapeError("triangle", self.triangle.shape, f"({size}, {size})")
        object.__setattr__(self, "columns", read_only(self.columns, np.intp))
        object.__setattr__(self, "triangle", read_only(np.triu(self.triangle)))

    @cached_property
    def effort_norm(self) -> float:
        """Euclidean norm of the efforts."""
        return float(np.linalg.norm(self.triangle[:, -1]))

    def residual_norm(self, values: npt.ArrayLike) -> float:
        """Return the norm of the effort that given parameters leave unexplained.

        Args:
            values: (base parameters,) values.
        """
        chosen = np.asarray(values, dtype=np.float64)[self.columns]
        return float(np.linalg.norm(self.triangle @ np.append(-chosen, 1.0)))

    @cached_property
    def own_fit(self) -> tuple[float, int]:
        """Norm of the residual of these rows' own least-squares fit, and the rank of the rows.

        The rank is that of the column-scaled rows by pivoted QR, with the tolerance r eps.  Columns
        that are rounding beside the largest one count as zero: scaled, they would pass for others.
        """
        matrix = self.triangle[:, :-1]
        norms = np.linalg.norm(matrix, axis=0)
        tolerance = max(self.rows, 1) * np.finfo(float).eps
        used = ~silent_columns(norms, self.rows)
        if not used.any():
            return self.effort_norm, 0
        if used.all() and _smallest_at_least(matrix[:-1] / norms, 2.0 * tolerance):
            return abs(float(self.triangle[-1, -1])), len(norms)
        q, r, _ = scipy.linalg.qr(matrix[:, used] / norms[used], mode="economic", pivoting=True)
        diagonal = np.abs(np.diag(r))
        rank = int(np.count_nonzero(diagonal > tolerance * diagonal[0]))
        effort = self.triangle[:, -1]
        unexplained = effort - q[:, :rank] @ (q[:, :rank].T @ effort)
        return float(np.linalg.norm(unexplained)), rank


def silent_columns(norms: Array, rows: int) -> npt.NDArray[np.bool_]:
    """Tell which columns are rounding, or zero, beside the largest one.

    Args:
        norms: (columns,) their norms.
        rows: number of rows behind them.
    """
    silent: npt.NDArray[np.bool_] = norms <= max(rows, 1) * np.finfo(float).eps * norms.max(
        initial=0.0
    )
    return silent


def _smallest_at_least(triangle: Array, level: float) -> bool:
    """Tell whether no singular value of a triangle is below a level, or if that is in doubt.

    The smallest one is at least one over the Frobenius norm of the inverse; none of the diagonal
    entries of a pivoted QR is below it.
    """
    inverse, singular = scipy.linalg.lapack.dtrtri(triangle)
    return not singular and bool(np.linalg.norm(inverse) * level <= 1.0)


def triangle_of(rows: Array) -> Array:
    """Return the upper triangular factor of (rows, columns) rows, with no negative diagonal."""
    triangle = np.zeros((rows.shape[1], rows.shape[1]))
    fold_rows(triangle, np.array(rows.T, order="C"), np.ones(len(rows), dtype=np.bool_))
    return triangle


def restrict(factor: JointFactor, columns: npt.ArrayLike) -> JointFactor:
    """Return the factor of the same rows without some of their columns.

    Args:
        factor: the factor.
        columns: (kept,) places of the parameters that stay, which are numbered anew in this order.
    """
    kept = np.asarray(columns, dtype=np.intp)
    place = {int(column): i for i, column in enumerate(factor.columns)}
    present = [i for i, column in enumerate(kept) if int(column) in place]
    chosen = [place[int(kept[i])] for i in present]
    return JointFactor(
        joint=factor.joint,
        columns=np.array(present, dtype=np.intp),
        triangle=triangle_of(factor.triangle[:, [*chosen, -1]]),
        rows=factor.rows,
    )


def scaled(factor: JointFactor, scale: float) -> JointFactor:
    """Return the factor of the same rows, all multiplied by a number."""
    if scale == 1.0:
        return factor
    return JointFactor(factor.joint, factor.columns, scale * factor.triangle, factor.rows)


def merge(factors: Sequence[JointFactor]) -> JointFactor:
    """Return the factor of all rows that the given factors of one joint stand for.

    Raises:
        ShapeError: if the factors belong to different joints or columns.
    """
    first = factors[0]
    for other in factors[1:]:
        if other.joint != first.joint or not np.array_equal(other.columns, first.columns):
            raise ShapeError("columns", other.columns.shape, f"those of joint {first.joint}")
    stacked = np.vstack([factor.triangle for factor in factors])
    return JointFactor(
        joint=first.joint,
        columns=first.columns,
        triangle=triangle_of(stacked),
        rows=sum(factor.rows for factor in factors),
    )


def stack(
    factors: Sequence[JointFactor], parameters: int, weights: Sequence[float] | None = None
) -> Array:
    """Return the triangular factor of all joints' rows together (Gautier et al. 2013, eq. 15, 20).

    Args:
        factors: one factor per joint.
        parameters: number of base parameters.
        weights: factor on the rows of each joint; 1 by default.

    Returns:
        (parameters + 1, parameters + 1) upper triangular [R z; 0 rho].
    """
    blocks = []
    for k, factor in enumerate(factors):
        block = np.zeros((len(factor.triangle), parameters + 1))
        block[:, factor.columns] = factor.triangle[:, :-1]
        block[:, -1] = factor.triangle[:, -1]
        blocks.append(block if weights is None else block * weights[k])
    return triangle_of(np.vstack(blocks))


def substituted(factor: JointFactor, substitution: Array) -> JointFactor:
    """Return the factor of the same rows for other unknowns.

    Args:
        factor: of the rows of one joint.
        substitution: (parameters, unknowns) E with parameters = E unknowns.

    Returns:
        The factor, whose columns are all unknowns.
    """
    unknowns = substitution.shape[1]
    left = factor.triangle[:, :-1] @ substitution[factor.columns]
    rows = np.column_stack([left, factor.triangle[:, -1]])
    return JointFactor(factor.joint, np.arange(unknowns), triangle_of(rows), factor.rows)


def substituted_grams(grams: BandGrams, substitution: Array) -> BandGrams:
    """Return the Gram matrices of the same rows for other unknowns; see :func:`substituted`."""
    size = substitution.shape[1] + 1
    blocks = []
    for first, columns in zip(grams.firsts, grams.columns, strict=True):
        mapping = np.zeros((len(columns) + 1, size))  # of the columns of a joint and its effort
        mapping[:-1, :-1] = substitution[columns]
        mapping[-1, -1] = 1.0
        blocks.append((slice(first, first + len(mapping)), mapping))
    right = np.concatenate([grams.grams[:, :, own] @ mapping for own, mapping in blocks], axis=2)
    both = np.concatenate([mapping.T @ right[:, own] for own, mapping in blocks], axis=1)
    every = tuple(np.arange(size - 1) for _ in grams.columns)
    return replace(grams, columns=every, grams=read_only(both))
