"""Covariance of estimates that small errors of the efforts move linearly.

With J the derivative of the predicted efforts, weighted, errors e move the estimate by
(J^T J)^-1 J^T e.  J is a combination of the columns of the rows, B, so that the Gram matrices of
the rows are enough: for white residuals s^2 (J^T J)^-1, for coloured ones as in
:mod:`robot_identification.identification.statistics.robust_std`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.identification.rows.bands import BandGrams
from robot_identification.identification.rows.factor import JointFactor, silent_columns, triangle_of
from robot_identification.identification.statistics.robust_std import sandwich_std
from robot_identification.robot.arrays import Array, by_value, read_only


@by_value
@dataclass(frozen=True)
class Linearised:
    """Derivative of the weighted residuals at a solution, through the factors of the rows.

    Attributes:
        factors: one per joint.
        weights: (joints,) factor on the rows of each joint.
        designs: for each joint (entries, unknowns) B: the derivative of the prediction is the
            columns of the rows, efforts left out, times B.
        residuals: for each joint (entries + 1,) what its columns and its effort are multiplied by
            to give the residual.
    """

    factors: Sequence[JointFactor]
    weights: Array
    designs: Sequence[Array]
    residuals: Sequence[Array]

    def jacobian(self) -> Array:
        """Return the rows of the weighted derivative, as few as the factors have."""
        return np.vstack(
            [
                w * factor.triangle[:, :-1] @ design
                for w, factor, design in zip(self.weights, self.factors, self.designs, strict=True)
            ]
        )

    def residual(self) -> Array:
        """Return the weighted residuals in the rows of :meth:`jacobian`."""
        return np.concatenate(
            [
                w * factor.triangle @ coefficients
                for w, factor, coefficients in zip(
                    self.weights, self.factors, self.residuals, strict=True
                )
            ]
        )

    @property
    def rows(self) -> int:
        """Number of rows behind the factors."""
        return sum(factor.rows for factor in self.factors)

    def bread(self) -> Array:
        """Return (J^T J)^-1."""
        r = triangle_of(self.jacobian())
        inverse = scipy.linalg.solve_triangular(r, np.eye(len(r)))
        return np.asarray(inverse @ inverse.T)

    def variance(self) -> float:
        """Return the variance s^2 of the weighted residuals."""
        residual = self.residual()
        freedom = max(self.rows - int(self.designs[0].shape[1]), 1)
        norm = float(np.linalg.norm(residual))
        return norm * norm / freedom

    def covariance(self) -> Array:
        """Return the (unknowns, unknowns) covariance for white residuals."""
        return read_only(self.variance() * self.bread())

    def robust_covariance(self, grams: BandGrams, outputs: Array) -> Array:
        """Return the (outputs, outputs) covariance for residuals of any colour.

        It is put together of the deviations of the outputs and of their sums in pairs.

        Args:
            grams: Gram matrices of the same rows, or of the part of them whose errors count.
            outputs: (unknowns, outputs) combinations of the unknowns that are asked for.
        """
        bread = self.bread()
        sizes = np.sqrt(np.einsum("up,uv,vp->p", outputs, bread, outputs))
        sizes[sizes == 0.0] = 1.0
        scaled = outputs / sizes
        first, second = np.triu_indices(outputs.shape[1], 1)
        wanted = np.hstack([scaled, scaled[:, first] + scaled[:, second]])
        variances = self._deviations(grams, bread, wanted) ** 2
        own, pairs = np.split(variances, [outputs.shape[1]])
        covariance = np.diag(own / 2.0)
        covariance[first, second] = (pairs - own[first] - own[second]) / 2.0
        return read_only((covariance + covariance.T) * np.outer(sizes, sizes))

    def _deviations(self, grams: BandGrams, bread: Array, wanted: Array) -> Array:
        empty = np.zeros((1, len(bread)))
        design = np.vstack(
            [w * np.vstack([own, empty]) for w, own in zip(self.weights, self.designs, strict=True)]
        )
        residual = np.concatenate(
            [w * own for w, own in zip(self.weights, self.residuals, strict=True)]
        )
        leverage = design @ bread @ design.T
        return sandwich_std(grams, residual, leverage, design @ bread @ wanted)


def independent(matrix: Array, rows: int) -> npt.NDArray[np.intp]:
    """Return the places of columns that are independent of each other, rising.

    Args:
        matrix: (any, columns) triangular factor of rows.
        rows: number of rows behind it.
    """
    norms = np.linalg.norm(matrix, axis=0)
    used = np.flatnonzero(~silent_columns(norms, rows))
    if not len(used):
        return used
    _, r, pivots = scipy.linalg.qr(matrix[:, used] / norms[used], mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = int(np.count_nonzero(diagonal > max(rows, 1) * np.finfo(float).eps * diagonal[0]))
    return np.array(sorted(used[pivots[:rank]]), dtype=np.intp)
