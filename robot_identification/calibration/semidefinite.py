"""Least squares under conditions that matrices be positive: a thin coat around the solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from robot_identification.errors import SolverMissingError
from robot_identification.robot.model import Array

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
        A: (rows, variables); its columns should be of similar size.
        b: (rows,).
        inequalities: what y must meet; their matrices should be of size 1.

    Returns:
        (variables,) the minimiser, to the solver's tolerance; None where the solver finds that no
        y meets the inequalities, or cannot find one.

    Raises:
        SolverMissingError: the solver is not installed.
    """
    clarabel = _solver()
    A, b = _compressed(A, b)
    rows, variables = A.shape
    blocks, right, cones = [np.hstack([A, -np.eye(rows)])], [b], [clarabel.ZeroConeT(rows)]
    for linear, constant in inequalities:
        size = len(constant)
        blocks.append(np.hstack([-_vectors(linear), np.zeros((size * (size + 1) // 2, rows))]))
        right.append(_vectors(constant))
        cone = clarabel.PSDTriangleConeT if size > 1 else clarabel.NonnegativeConeT
        cones.append(cone(size))
    quadratic = scipy.sparse.diags(np.r_[np.zeros(variables), np.ones(rows)], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    solver = clarabel.DefaultSolver(
        quadratic,
        np.zeros(variables + rows),
        scipy.sparse.csc_matrix(np.vstack(blocks)),
        np.concatenate(right),
        cones,
        settings,
    )
    solution = solver.solve()
    solved = str(solution.status) in ("Solved", "AlmostSolved")
    return np.array(solution.x[:variables]) if solved else None


def _solver() -> Any:
    try:
        import clarabel
    except ImportError as error:
        raise SolverMissingError("clarabel") from error
    return clarabel


def _compressed(A: Array, b: Array) -> tuple[Array, Array]:
    """Return a square system with the same least-squares solution, where A has more rows."""
    if len(A) <= A.shape[1] + 1:
        return A, b
    joined = np.asarray(np.linalg.qr(np.column_stack([A, b]), mode="r"))
    return joined[:, :-1], joined[:, -1]


def _vectors(matrices: Array) -> Array:
    """Return upper triangles column by column, off-diagonal entries times the root of two.

    The inner product of such vectors is that of the matrices.
    """
    size = len(matrices)
    columns, rows = np.tril_indices(size)  # the upper triangle, column by column
    weight = np.where(rows == columns, 1.0, np.sqrt(2.0))
    picked = matrices[rows, columns]
    return np.asarray(picked * weight.reshape(-1, *[1] * (matrices.ndim - 2)))
