"""Standard parameters by singular values, from the triangular factor (Gautier and Venture 2013).

All of the papers' formulas use the tall regressor W_st and the torques Y.  With [W_st Y] = Q [R z;
0 rho], Q orthogonal and never formed, W_st has the singular values and right singular vectors of R,
and U^T Y becomes U_R^T z: nothing is lost by working with the factor, which has as many rows as
there are base parameters.  Its U is square.  (With the tall W the printed thin U would make the
residual of eq. 25, |U2^T Y|, too small; here the residual is sqrt(|z - R chi|^2 + rho^2).)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_identification.errors import ShapeError
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.factor import stack
from robot_identification.robot.arrays import Array, by_value, read_only

_ZERO = 1e-10  # singular values of parts of orthonormal rows that are smaller are rounding


@by_value
@dataclass(frozen=True)
class StandardSystem:
    """The weighted system Y = W_st chi_st of an identification, in triangular form.

    Attributes:
        names: (parameters,) names of the standard parameters of the model.
        factor: (base, base) R: the factor of the regressor of the base parameters.
        projection: (base, parameters) [1 beta]: base = projection standard.
        right: (base,) z.
        rest: norm of the torque that no parameters explain.
        rows: number of rows behind it.
    """

    names: tuple[str, ...]
    factor: Array
    projection: Array
    right: Array
    rest: float
    rows: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", read_only(self.factor))
        object.__setattr__(self, "projection", read_only(self.projection))
        object.__setattr__(self, "right", read_only(self.right))

    @classmethod
    def of(cls, result: IdentificationResult) -> StandardSystem:
        """Return the system of a result, its rows weighted as they were for the estimate."""
        base, factors = len(result.regrouping.names), result.triangles("calibrate")
        triangle = stack(factors, base, list(result.estimate.weights))
        return cls(
            names=result.regrouping.standard_names,
            factor=triangle[:-1, :-1],
            projection=result.regrouping.projection,
            right=triangle[:-1, -1],
            rest=abs(float(triangle[-1, -1])),
            rows=sum(factor.rows for factor in factors),
        )

    @cached_property
    def matrix(self) -> Array:
        """(base, parameters) R [1 beta]: the factor of the regressor of all standard parameters."""
        return read_only(self.factor @ self.projection)

    def residual_norm(self, values: npt.ArrayLike) -> float:
        """Return the norm of the weighted torque that standard parameters leave unexplained.

        Args:
            values: (parameters,) standard parameters.
        """
        return float(
            np.hypot(np.linalg.norm(self.right - self.matrix @ np.asarray(values)), self.rest)
        )

    def corrected(self, prior: npt.ArrayLike, gain: Array) -> Array:
        """Return a prior, corrected by the torque that it leaves unexplained (eq. 30, 32).

        Args:
            prior: (parameters,) prior values, 0 for those that it does not give.
            gain: (parameters, base) from :func:`prior_gain` or :func:`space_gain`.

        Returns:
            (parameters,) standard parameters.
        """
        values = np.asarray(prior, dtype=np.float64)
        return read_only(values + gain @ (self.right - self.matrix @ values))


@by_value
@dataclass(frozen=True)
class Decomposition:
    """Singular values of a matrix, split at a rank (Gautier and Venture 2013, eq. 13, 14).

    Attributes:
        U1: (rows, rank) left singular vectors that are kept.
        U2: (rows, rows - rank) the others; U is square.
        singular_values: (rank,) Sigma_1.
        V1: (columns, rank) right singular vectors that are kept.
        V2: (columns, columns - rank) basis of the null space.
        rejected: singular values that were set to zero, largest first.
    """

    U1: Array
    U2: Array
    singular_values: Array
    V1: Array
    V2: Array
    rejected: Array

    @property
    def nearest(self) -> Array:
        """(rows, columns) nearest matrix of that rank in the Frobenius norm (eq. 15)."""
        return np.asarray((self.U1 * self.singular_values) @ self.V1.T)

    @property
    def inverse(self) -> Array:
        """(columns, rows) V1 Sigma_1^-1 U1^T, the pseudo-inverse of ``nearest`` (eq. 26)."""
        return np.asarray(self.V1 @ (self.U1.T / self.singular_values[:, None]))


def decompose(matrix: npt.ArrayLike, rank: int | None = None, rows: int = 0) -> Decomposition:
    """Split a matrix by its singular values (Gautier and Venture 2013, eq. 13-15).

    Args:
        matrix: (rows, columns) matrix or its triangular factor.
        rank: number of singular values to keep; by default those above r eps times the largest,
            with r the number of rows (Gautier 1991, eq. 14).
        rows: number of rows behind a triangular factor; by default that of the matrix.

    Raises:
        ShapeError: the matrix does not have that many singular values.
        LinAlgError: it is not finite, or its singular values are not found.
    """
    array = np.asarray(matrix, dtype=np.float64)
    U, s, Vt = _singular(array)
    if rank is None:
        floor = max(rows, *array.shape) * np.finfo(float).eps * s.max(initial=0.0)
        rank = int(np.count_nonzero(s > floor))
    if not 0 <= rank <= len(s):
        raise ShapeError("matrix", array.shape, f"at least {rank} rows and columns")
    return _split(U, s, Vt, rank)


def _singular(matrix: Array) -> tuple[Array, Array, Array]:
    """Return the singular value decomposition of a matrix; LAPACK may not end on NaN."""
    if not np.isfinite(matrix).all():
        raise np.linalg.LinAlgError("the matrix is not finite")
    U, s, Vt = np.linalg.svd(matrix, full_matrices=True)
    return U, s, Vt


def _split(U: Array, s: Array, Vt: Array, rank: int) -> Decomposition:
    return Decomposition(
        U1=read_only(U[:, :rank]),
        U2=read_only(U[:, rank:]),
        singular_values=read_only(s[:rank]),
        V1=read_only(Vt[:rank].T),
        V2=read_only(Vt[rank:].T),
        rejected=read_only(s[rank:]),
    )


def prior_gain(system: StandardSystem, known: npt.NDArray[np.bool_] | None = None) -> Array:
    """Return the matrix that turns unexplained torque into the correction of the prior (eq. 30).

    The corrected prior is the least-squares solution nearest to it in the plain 2-norm of SI
    values, in which units are mixed; every parameter that is grouped with others moves.
    Parameters that the prior does not give are left out of the norm: they take whatever brings the
    others nearest, and of all such values the smallest.  Without any prior this is the shortest
    least-squares solution (eq. 26).

    Args:
        system: the weighted system.
        known: (parameters,) whether the prior gives a value; by default it gives all.

    Returns:
        (parameters, base) V1 Sigma_1^-1 U1^T where the prior gives all values.
    """
    if known is None or known.all():
        return decompose(system.matrix, rows=system.rows).inverse
    # V1^T chi = C z says of chi that it is a least-squares solution.  Which parameters take part
    # is read from the projection, where it does not depend on the data.
    split = decompose(system.projection)
    C = split.U1.T / split.singular_values[:, None] @ np.linalg.inv(system.factor)
    A_known, A_free = split.V1[known].T, split.V1[~known].T
    U, s, Vt = _singular(A_free)
    free = _split(U, s, Vt, int(np.count_nonzero(s > _ZERO)))
    demand = free.U2.T  # what the free parameters cannot give
    share = np.linalg.pinv(demand @ A_known, rcond=_ZERO) @ demand
    gain = np.zeros((len(known), len(C)))
    gain[known] = share @ C
    gain[~known] = free.inverse @ (C - A_known @ gain[known])
    return gain


def space_gain(system: StandardSystem, weights: npt.ArrayLike) -> Array:
    """Return the matrix that corrects the prior on weighted columns (eq. 32).

    With D = diag(weights) and the singular values of W D (eq. 33), the corrected prior is
    chi = prior + D V1e Sigma_1e^-1 U1e^T (Y - W prior).

    Where all weights differ from zero, this is the least-squares solution nearest in the weighted
    norm sum ((chi_i - prior_i) / D_ii)^2; signs do not matter.  A parameter with weight zero keeps
    exactly its prior value (it does not become zero), and the rest explains what torque the prior
    of those leaves.  Where the columns that are left are independent, as those of the essential
    parameters are, the values of the weights cancel: the result is the prior plus a plain
    least-squares correction on these columns.

    Args:
        system: the weighted system.
        weights: (parameters,) diagonal of D: the essential parameters in the places of the
            standard ones that lead them, zeros elsewhere.

    Returns:
        (parameters, base) D V1e Sigma_1e^-1 U1e^T.
    """
    D = np.asarray(weights, dtype=np.float64)
    split = decompose(system.matrix * D, rows=system.rows)
    return np.asarray(D[:, None] * split.inverse)


def relative_distance(
    values: npt.ArrayLike, prior: npt.ArrayLike, known: npt.NDArray[np.bool_] | None = None
) -> float:
    """Return |chi - chi_ref| / |chi_ref| (Gautier and Venture 2013, below table II).

    Args:
        values: (parameters,) standard parameters, SI units.
        prior: (parameters,) prior values.
        known: (parameters,) whether the prior gives a value; the others are left out.

    Returns:
        A fraction; NaN where the prior gives nothing but zeros.

    Raises:
        ShapeError: there is not one prior value for each parameter.
    """
    chi, ref = np.asarray(values, dtype=np.float64), np.asarray(prior, dtype=np.float64)
    if chi.shape != ref.shape:
        raise ShapeError("values", chi.shape, str(ref.shape))
    if known is not None:
        chi, ref = chi[known], ref[known]
    size = float(np.linalg.norm(ref))
    return float(np.linalg.norm(chi - ref)) / size if size > 0.0 else float("nan")
