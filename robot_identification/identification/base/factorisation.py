"""Rank, choice of columns and their relations by QR and by singular values.

All factorisations are SciPy's: its linear algebra and NumPy's may each bring threads of their
own, and two sets of them in turn make these small problems slower by a factor of ten.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from robot_identification.errors import RankError
from robot_identification.identification.base.rank import Decision, Indices, leading_independent
from robot_identification.robot.arrays import Array, by_value, cover, read_only

AGREEMENT = 1e-7
# The rows of V2 have norms up to 1 and errors far below this.
NULL_TOLERANCE = 1e-9
# Columns have different units, so their norms may lie far apart.
WIDEST_NORMS = 1e9
NORM_FLOOR = 1e-11


@by_value
@dataclass(frozen=True)
class Choice:
    """Independent columns of a matrix, and the others as combinations of them.

    Attributes:
        independent: (rank,) places of the columns that are kept.
        dependent: (dependent,) places of the columns that are combinations of them.
        beta: (rank, dependent) W2 = W1 beta (Gautier 1991, eq. 17).
    """

    independent: Indices
    dependent: Indices
    beta: Array

    def __post_init__(self) -> None:
        cover(self, "independent", "dependent", "beta")


@by_value
@dataclass(frozen=True)
class Factorisation:
    """Independent columns of a matrix, and the others as their combinations.

    Attributes:
        rows: number of rows.
        norms: the decision which columns differ from zero, by their norms.
        diagonal: the decision about the rank, by the diagonal of the pivoted triangular factor
            of the non-zero columns, scaled to norm 1.
        singular_values: the same by the singular values.
        zero: places of the columns without effect.
        qr: columns and relations by QR (eq. 13-17).
        svd: columns and relations by singular vectors (eq. 21-27).
        null_space: (affecting, dependent) matrix V2 of the scaled non-zero columns (eq. 22).
        affecting: places of the non-zero columns.
        disagreement: largest difference between the two beta, for columns of norm 1.
    """

    rows: int
    norms: Decision
    diagonal: Decision
    singular_values: Decision
    zero: Indices
    affecting: Indices
    qr: Choice
    svd: Choice
    null_space: Array
    disagreement: float

    def __post_init__(self) -> None:
        cover(self, "zero", "affecting", "null_space")

    @property
    def rank(self) -> int:
        """Number of independent columns."""
        return len(self.qr.independent)

    @property
    def clarity(self) -> float:
        """Smallest gap of the three decisions."""
        return min(d.gap for d in (self.norms, self.diagonal, self.singular_values))

    @property
    def is_clear(self) -> bool:
        """Whether all three decisions are clear."""
        return all(d.is_clear for d in (self.norms, self.diagonal, self.singular_values))


def factorise(w: Array) -> Factorisation:
    """Return rank, independent columns and relations of an observation matrix.

    Columns of larger subscript are expressed by those of smaller subscript.

    Args:
        w: (rows, columns) matrix with at least as many rows as columns.

    Raises:
        RankError: the two factorisations disagree.
    """
    rows = len(w)
    sizes = np.linalg.norm(w, axis=0)
    norms = Decision.of(sizes, rows, widest=WIDEST_NORMS, floor=NORM_FLOOR)
    affecting = np.flatnonzero(sizes > norms.tolerance)
    if not affecting.size:
        return _without_effect(rows, norms, w.shape[1])
    scaled = w[:, affecting] / sizes[affecting]
    triangle = scipy.linalg.qr(scaled, mode="r", check_finite=False)[0][: len(affecting)]
    pivoted = scipy.linalg.qr(triangle, mode="r", pivoting=True, check_finite=False)[0]
    _, sigma, directions = scipy.linalg.svd(triangle, check_finite=False)
    amplification = norms.values[0] / sizes[affecting].min()
    diagonal = Decision.of(np.diag(pivoted), rows, amplification=amplification)
    singular_values = Decision.of(sigma, rows, amplification=amplification)
    if diagonal.rank != singular_values.rank:
        raise RankError(
            f"QR gives rank {diagonal.rank} and the singular values {singular_values.rank}; "
            + _around(singular_values),
            sigma.tolist(),
        )
    null_space = directions[diagonal.rank :].T
    qr = _by_qr(triangle, diagonal)
    svd = _by_svd(null_space, singular_values)
    disagreement = _disagreement(qr, svd, singular_values)
    unscaled = [_unscaled(choice, affecting, sizes) for choice in (qr, svd)]
    return Factorisation(
        rows=rows,
        norms=norms,
        diagonal=diagonal,
        singular_values=singular_values,
        zero=np.setdiff1d(np.arange(w.shape[1]), affecting),
        affecting=affecting,
        qr=unscaled[0],
        svd=unscaled[1],
        null_space=read_only(null_space),
        disagreement=disagreement,
    )


def _without_effect(rows: int, norms: Decision, columns: int) -> Factorisation:
    """Return what a matrix of zeros says."""
    nothing = np.zeros(0, dtype=np.intp)
    none, choice = Decision.of([], rows), Choice(nothing, nothing, np.zeros((0, 0)))
    return Factorisation(
        rows=rows,
        norms=norms,
        diagonal=none,
        singular_values=none,
        zero=np.arange(columns),
        affecting=nothing,
        qr=choice,
        svd=choice,
        null_space=np.zeros((0, 0)),
        disagreement=0.0,
    )


def _by_qr(triangle: Array, diagonal: Decision) -> Choice:
    """Return the choice by QR without pivoting, beta = R1^-1 R2 (eq. 17)."""
    independent = leading_independent(triangle, diagonal.rank, diagonal.tolerance)
    if independent is None:
        raise RankError(
            f"no {diagonal.rank} columns stand out by QR without pivoting; {_around(diagonal)}",
            diagonal.values.tolist(),
        )
    dependent = np.setdiff1d(np.arange(triangle.shape[1]), independent)
    if not dependent.size:
        return Choice(independent, dependent, np.zeros((len(independent), 0)))
    permuted = np.concatenate([independent, dependent])
    r = scipy.linalg.qr(triangle[:, permuted], mode="r", check_finite=False)[0]
    b = diagonal.rank
    beta = scipy.linalg.solve_triangular(r[:b, :b], r[:b, b:], check_finite=False)
    return Choice(independent, dependent, beta)


def _by_svd(null_space: Array, singular_values: Decision) -> Choice:
    """Return the choice by the null space V2, beta = -V21 V22^-1 (eq. 26, 27).

    V22 is the first regular block that is met from the last row of V2 upwards.
    """
    count, nullity = null_space.shape
    found = leading_independent(null_space[::-1].T, nullity, NULL_TOLERANCE)
    beta = None
    if found is not None:
        dependent = np.sort(count - 1 - found)
        independent = np.setdiff1d(np.arange(count), dependent)
        beta = _solved_from_right(null_space[independent], null_space[dependent])
    if beta is None:
        raise RankError(
            f"the null space of dimension {nullity} has no regular block that stands out; "
            f"{_around(singular_values)}",
            singular_values.values.tolist(),
        )
    return Choice(independent, dependent, -beta)


def _solved_from_right(left: Array, block: Array) -> Array | None:
    """Return left block^-1, or None where the block is singular but for rounding."""
    if not block.size:
        return np.zeros((len(left), 0))
    q, r = scipy.linalg.qr(block.T, check_finite=False)
    if np.abs(np.diag(r)).min(initial=1.0) <= NULL_TOLERANCE**1.5:
        return None
    result: Array = scipy.linalg.solve_triangular(r, q.T @ left.T, check_finite=False).T
    return result


def _disagreement(qr: Choice, svd: Choice, singular_values: Decision) -> float:
    """Return the largest difference of the two beta, or refuse a difference that matters."""
    if not np.array_equal(qr.independent, svd.independent):
        raise RankError(
            "QR and the singular vectors keep different columns; " + _around(singular_values),
            singular_values.values.tolist(),
        )
    difference = float(np.abs(qr.beta - svd.beta).max(initial=0.0))
    if difference > AGREEMENT * max(1.0, float(np.abs(qr.beta).max(initial=0.0))):
        raise RankError(
            f"QR and the singular vectors differ by {difference:.2g} in the relations; "
            + _around(singular_values),
            singular_values.values.tolist(),
        )
    return difference


def _unscaled(choice: Choice, affecting: Indices, sizes: Array) -> Choice:
    independent, dependent = affecting[choice.independent], affecting[choice.dependent]
    beta = choice.beta * sizes[dependent] / sizes[independent, None]
    return Choice(independent, dependent, read_only(beta))


def _around(decision: Decision) -> str:
    """Return text with the values around the cut."""
    cut = decision.rank
    shown = " ".join(f"{value:.3g}" for value in decision.values[max(cut - 3, 0) : cut + 3])
    return f"values around the cut: {shown} (tolerance {decision.tolerance:.3g})"
