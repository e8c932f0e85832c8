"""Numerical rank of an observation matrix, and how clear that decision is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import Array, by_value, read_only

CLEAR_GAP = 1e6
Indices = npt.NDArray[np.intp]


@by_value
@dataclass(frozen=True)
class Decision:
    """A series of non-negative values, largest first, cut into accepted and rejected ones.

    The rule is two-sided: what is accepted lies above the tolerance, what is rejected does not.

    Attributes:
        values: (count,) the values, largest first.
        tolerance: values up to this count as zero.
        widest: accepted values that span more than this are doubtful.
    """

    values: Array
    tolerance: float
    widest: float = CLEAR_GAP

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))

    @classmethod
    def of(
        cls,
        values: npt.ArrayLike,
        rows: int,
        *,
        amplification: float = 1.0,
        widest: float = CLEAR_GAP,
        floor: float = 0.0,
    ) -> Decision:
        """Return the decision for absolute values of any order.

        The tolerance is rows * eps * largest value (Gautier 1991, "Rank Deficiency").  Scaling
        small columns to norm 1 amplifies the rounding in them; where values lie between the
        tolerance and that many times it, the cut is at the widest gap there.

        Args:
            values: the values.
            rows: number of rows of the matrix that they belong to.
            amplification: largest factor by which rounding in its columns was amplified.
            widest: accepted values that span more than this are doubtful.
            floor: values up to this fraction of the largest count as zero in any case.
        """
        ordered = np.sort(np.abs(np.asarray(values, dtype=np.float64)))[::-1]
        largest = float(ordered[0]) if len(ordered) else 0.0
        tolerance = max(rows * float(np.finfo(np.float64).eps), floor) * largest
        doubtful = np.flatnonzero((ordered > tolerance) & (ordered <= amplification * tolerance))
        if len(doubtful) and doubtful[0] > 0:
            cuts = np.arange(doubtful[0], min(doubtful[-1] + 2, len(ordered)))
            below = np.maximum(ordered[cuts], tolerance)
            best = int(cuts[np.argmax(ordered[cuts - 1] / below)])
            tolerance = max(tolerance, float(ordered[best]))
        return cls(ordered, tolerance, widest)

    @property
    def rank(self) -> int:
        """Number of accepted values."""
        return int(np.count_nonzero(self.values > self.tolerance))

    @property
    def last_accepted(self) -> float:
        """The smallest accepted value; 0 where none is."""
        return float(self.values[self.rank - 1]) if self.rank else 0.0

    @property
    def first_rejected(self) -> float:
        """The largest rejected value; 0 where none is."""
        return float(self.values[self.rank]) if self.rank < len(self.values) else 0.0

    @property
    def gap(self) -> float:
        """Last accepted over first rejected value; infinite where nothing above 0 is rejected."""
        return self.last_accepted / self.first_rejected if self.first_rejected else math.inf

    @property
    def reach(self) -> float:
        """Last accepted over largest value; 1 where there are none."""
        return self.last_accepted / float(self.values[0]) if self.rank else 1.0

    @property
    def is_clear(self) -> bool:
        """Whether the gap spans six decades, and the accepted values do not span too many."""
        return self.gap >= CLEAR_GAP and self.reach * self.widest >= 1.0

    def report(self) -> dict[str, float]:
        """Return the numbers around the cut."""
        return {
            "last_accepted": self.last_accepted,
            "first_rejected": self.first_rejected,
            "ratio": self.gap,
            "tolerance": self.tolerance,
        }


def leading_independent(columns: Array, count: int, tolerance: float) -> Indices | None:
    """Return the first ``count`` columns that do not depend on those before them.

    A QR factorisation without pivoting (Gautier 1991, "Choice of the Columns to Be Deleted")
    in which dependent columns take no direction of their own, so that rounding in them cannot
    hide a later one.  Rounding grows with the coefficients of a dependence; the tolerance is
    therefore raised until the count is that of the factorisation with pivoting.

    Args:
        columns: (rows, columns) matrix.
        count: rank of the matrix.
        tolerance: residuals up to this count as zero.

    Returns:
        The places of the columns, or None if no tolerance gives that many.
    """
    for decade in range(7):
        chosen = _independent(columns, count, tolerance * 10.0**decade)
        if len(chosen) == count:
            return np.array(chosen, dtype=np.intp)
        if len(chosen) < count:
            return None
    return None


def _independent(columns: Array, count: int, tolerance: float) -> list[int]:
    basis = np.empty((count + 1, columns.shape[0]))
    chosen: list[int] = []
    for i in range(columns.shape[1]):
        known = basis[: len(chosen)]
        rest = columns[:, i] - known.T @ (known @ columns[:, i])
        rest = rest - known.T @ (known @ rest)
        size = float(np.linalg.norm(rest))
        if size > tolerance:
            if len(chosen) > count - 1:
                return [*chosen, i]
            basis[len(chosen)] = rest / size
            chosen.append(i)
    return chosen
