"""Sequential least squares in square-root form (Bierman 1977): one triangle, updated row by row.

The square root of the information, [R z; 0 rho] with R^T R the information matrix, is updated by
orthogonal transformations only, so that what arrives one row at a time gives the same estimate as
all rows together, to rounding, and the covariance stays positive.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.errors import NotExcitedError, SampleError, SettingError, ShapeError
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.householder_kernels import fold_rows
from robot_identification.robot.arrays import Array, read_only


class SequentialEstimator:
    """Least squares whose rows may arrive at any time.

    Args:
        names: names of the parameters.
        memory: factor, at most 1, by which the information of older rows shrinks at every update;
            1 forgets nothing.

    Raises:
        SettingError: the memory is not above 0 and at most 1.
    """

    def __init__(self, names: Sequence[str], memory: float = 1.0) -> None:
        if not 0.0 < memory <= 1.0:
            raise SettingError("memory", memory, "must be above 0 and at most 1")
        self.names = tuple(names)
        self.rows = 0
        self._memory = memory
        self._triangle = np.zeros((len(self.names) + 1, len(self.names) + 1))

    def update(self, W: npt.ArrayLike, Y: npt.ArrayLike, std: npt.ArrayLike = 1.0) -> None:
        """Take in rows of Y = W chi + noise.

        Args:
            W: (rows, parameters).
            Y: (rows,).
            std: standard deviation of the noise, one for all or one per row, positive.

        Raises:
            ShapeError: the arrays do not fit.
            SampleError: a value is NaN or infinite, or a deviation not positive; nothing was
                taken in.
        """
        block = np.atleast_2d(np.asarray(W, dtype=np.float64))
        right = np.atleast_1d(np.asarray(Y, dtype=np.float64))
        if block.shape != (len(right), len(self.names)):
            raise ShapeError("W", block.shape, f"({len(right)}, {len(self.names)})")
        deviations = np.broadcast_to(np.asarray(std, dtype=np.float64), right.shape)
        for row in np.flatnonzero(~((deviations > 0.0) & np.isfinite(deviations))):
            raise SampleError("standard deviation", "", int(row), float(deviations[row]))
        joined = np.column_stack([block, right]) / deviations[:, None]
        for row, column in np.argwhere(~np.isfinite(joined)):
            name = (*self.names, "right-hand side")[column]
            raise SampleError("row", name, int(row), float(joined[row, column]))
        self._triangle *= np.sqrt(self._memory)
        fold_rows(
            self._triangle, np.ascontiguousarray(joined.T), np.ones(len(joined), dtype=np.bool_)
        )
        self.rows += len(joined)

    @property
    def factor(self) -> JointFactor:
        """The triangle, with which estimates of several machines can be merged."""
        return JointFactor("", np.arange(len(self.names)), self._triangle, self.rows)

    @property
    def values(self) -> Array:
        """(parameters,) estimate.

        Raises:
            NotExcitedError: the rows so far do not determine every parameter.
        """
        r = self._root()
        return read_only(scipy.linalg.solve_triangular(r, self._triangle[:-1, -1]))

    @property
    def covariance(self) -> Array:
        """(parameters, parameters) covariance for the stated deviations of the rows.

        Raises:
            NotExcitedError: the rows so far do not determine every parameter.
        """
        inverse = scipy.linalg.solve_triangular(self._root(), np.eye(len(self.names)))
        return read_only(inverse @ inverse.T)

    def _root(self) -> Array:
        r = self._triangle[:-1, :-1]
        norms = np.linalg.norm(r, axis=0)
        diagonal = np.abs(np.diag(r))
        lost = diagonal <= max(self.rows, 1) * np.finfo(float).eps * norms
        if lost.any():
            names = [name for name, gone in zip(self.names, lost, strict=True) if gone]
            raise NotExcitedError(names, float("inf"))
        return r
