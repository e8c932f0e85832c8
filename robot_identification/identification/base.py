"""Base parameters: the smallest set of combinations of standard parameters that fixes the torque.

Columns of the regressor that depend linearly on others on every motion cannot be told apart from
any data.  They are found on random states of the model itself, never on measured data (seed 001).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import ShapeError
from robot_identification.robot.model import Array, RobotModel, read_only

_SEED = 1991
_ROWS_PER_PARAMETER = 4
_NEGLIGIBLE = 1e-10


@dataclass(frozen=True)
class BaseParameters:
    """Base parameters of a robot: X_base = X1 + beta X2 (seed 001 eq. 20).

    Attributes:
        robot: the robot.
        columns: (standard,) columns of the full regressor that were considered.
        base: (rank,) places among ``columns`` of the leading parameters X1.
        regrouped: (dependent,) places of the parameters X2 that are regrouped into others.
        unaffecting: places of the parameters without any effect on the torque.
        beta: (rank, dependent) regrouping matrix.
    """

    robot: RobotModel
    columns: npt.NDArray[np.intp]
    base: npt.NDArray[np.intp]
    regrouped: npt.NDArray[np.intp]
    unaffecting: npt.NDArray[np.intp]
    beta: Array

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.base)

    @cached_property
    def standard_names(self) -> tuple[str, ...]:
        """Names of the standard parameters, one per considered column."""
        return tuple(self.robot.all_parameter_names[i] for i in self.columns)

    @cached_property
    def leading_names(self) -> tuple[str, ...]:
        """Name of the leading standard parameter of every base parameter."""
        return tuple(self.standard_names[i] for i in self.base)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters: the leading one's, with R if others are grouped in."""
        return tuple(
            f"{name}R" if self.beta[i].any() else name for i, name in enumerate(self.leading_names)
        )

    @property
    def base_columns(self) -> npt.NDArray[np.intp]:
        """Columns of the full regressor that belong to the base parameters."""
        return self.columns[self.base]

    @cached_property
    def groupings(self) -> tuple[Mapping[str, float], ...]:
        """For every base parameter the standard parameters in it, with their coefficients."""
        result = []
        for i, name in enumerate(self.leading_names):
            grouping = {name: 1.0}
            for place, coefficient in zip(self.regrouped, self.beta[i], strict=True):
                if coefficient:
                    grouping[self.standard_names[place]] = float(coefficient)
            result.append(grouping)
        return tuple(result)

    @cached_property
    def projection(self) -> Array:
        """(rank, standard) matrix that takes standard parameters to base parameters."""
        matrix = np.zeros((self.rank, len(self.columns)))
        matrix[np.arange(self.rank), self.base] = 1.0
        matrix[:, self.regrouped] = self.beta
        return read_only(matrix)

    def values(self, standard: npt.ArrayLike) -> Array:
        """Return the base parameters of given standard parameters (seed 001 eq. 20).

        Args:
            standard: (standard,) values in the order of ``standard_names``.

        Raises:
            ShapeError: if the number of values differs.
        """
        vector = np.asarray(standard, dtype=np.float64)
        if vector.shape != (len(self.columns),):
            raise ShapeError("standard", vector.shape, f"({len(self.columns)},)")
        return read_only(self.projection @ vector)


def base_parameters(robot: RobotModel) -> BaseParameters:
    """Return the base parameters of a robot from its dynamic model (seed 001 eq. 13-20).

    The rank comes from a QR factorisation with column pivoting; the columns that are kept come
    from one without pivoting, so that parameters of larger subscript are regrouped into those of
    smaller subscript.
    """
    regressor = Regressor(robot)
    columns = regressor.columns
    rng = np.random.default_rng(_SEED)
    joints = len(robot.joints)
    samples = max(_ROWS_PER_PARAMETER * len(columns) // joints, 8)
    q, qd, qdd = rng.uniform(-np.pi, np.pi, size=(3, samples, joints))
    w = regressor.dense(q, qd, qdd).reshape(samples * joints, len(columns))
    norms = np.linalg.norm(w, axis=0)
    affecting = np.flatnonzero(norms > _NEGLIGIBLE * norms.max())
    scaled = w[:, affecting] / norms[affecting]
    tolerance = len(scaled) * np.finfo(float).eps
    pivoted = np.abs(np.diag(scipy.linalg.qr(scaled, mode="r", pivoting=True)[0]))
    rank = int(np.count_nonzero(pivoted > tolerance * pivoted[0]))
    r = scipy.linalg.qr(scaled, mode="r")[0][: len(affecting)]
    independent = np.sort(np.argsort(-np.abs(np.diag(r)), kind="stable")[:rank])
    dependent = np.setdiff1d(np.arange(len(affecting)), independent)
    chosen = scaled[:, independent]
    beta = np.linalg.lstsq(chosen, scaled[:, dependent], rcond=None)[0]
    beta = beta * norms[affecting[dependent]] / norms[affecting[independent], None]
    beta[np.abs(beta) < _NEGLIGIBLE] = 0.0
    return BaseParameters(
        robot=robot,
        columns=columns,
        base=affecting[independent],
        regrouped=affecting[dependent],
        unaffecting=np.setdiff1d(np.arange(len(columns)), affecting),
        beta=read_only(beta),
    )
