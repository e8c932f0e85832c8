"""Least squares under linear matrix inequalities, solved by Clarabel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.linalg

from robot_identification.errors import SolverMissingError
from robot_identification.robot.arrays import Array

_TOLERANCE = 1e-10


class Inequality(NamedTuple):
    """The demand that constant + linear y be positive semidefinite.

    Attributes:
        linear: (size, size, variables) symmetric matrices.
        constant: (size, size) symmetric matrix.
    """

    linear: Array
    constant: Array


def least_squares(A: Array, b: Array, inequalities: Sequence[Inequality]) -> Array | None:
    """Minimise |A y - b| under linear matrix inequalities.

    Args:
        A: (rows, variables) of full column rank.
        b: (rows,).
        inequalities: what y must meet; their matrices should be of size 1.

    Returns:
        (variables,) the minimiser, to the solver's tolerance; None where the solver finds that no
        y meets the inequalities, or cannot find one.

    Raises:
        SolverMissingError: the solver is not installed.
    """
    clarabel = _solver()
    # In y = R^-1 (Q^T b + step) the objective is |step|^2, however unlike the columns of A are.
    Q, R = scipy.linalg.qr(A, mode="economic")
    inverse = scipy.linalg.solve_triangular(R, np.eye(len(R)))
    start = inverse @ (Q.T @ b)
    if all(np.linalg.eigvalsh(c + linear @ start)[0] >= 0.0 for linear, c in inequalities):
        return np.asarray(start)
    blocks, right, cones = [], [], []
    for linear, constant in inequalities:
        blocks.append(-_vectors(linear @ inverse))
        right.append(_vectors(constant + linear @ start))
        size = len(constant)
        cones.append(clarabel.PSDTriangleConeT(size) if size > 1 else clarabel.NonnegativeConeT(1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    solver = clarabel.DefaultSolver(
        scipy.sparse.identity(len(R), format="csc"),
        np.zeros(len(R)),
        scipy.sparse.csc_matrix(np.vstack(blocks)),
        np.concatenate(right),
        cones,
        settings,
    )
    solution = _solved(solver)
    if solution is None or str(solution.status) not in ("Solved", "AlmostSolved"):
        return None
    return np.asarray(start + inverse @ np.array(solution.x))


def _solved(solver: Any) -> Any:
    """Return what the solver has found; None where it has broken down.

    Where a factorisation in it fails, it panics: with an exception that is no Exception, and would
    end the process.
    """
    try:
        return solver.solve()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


def _solver() -> Any:
    try:
        import clarabel
    except ImportError as error:
        raise SolverMissingError("clarabel") from error
    return clarabel


def _vectors(matrices: Array) -> Array:
    """Return upper triangles column by column, off-diagonal entries times the root of two.

    The inner product of such vectors is that of the matrices.
    """
    size = len(matrices)
    columns, rows = np.tril_indices(size)  # the upper triangle, column by column
    weight = np.where(rows == columns, 1.0, np.sqrt(2.0))
    picked = matrices[rows, columns]
    return np.asarray(picked * weight.reshape(-1, *[1] * (matrices.ndim - 2)))
