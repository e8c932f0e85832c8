"""Backward recursion over the joints, with its errors carried along (Lin 1992, Algorithm 2).

The effort of joint j depends on the parameters of its own block and of later blocks.  From the last
joint to the first, least squares on all rows of a joint give its own block, with later blocks as
known:

    A_j x_j = y_j - B_j x_later.

The rows are those of the inverse dynamic model in the parameters of
:class:`~robot_identification.identification.one_joint.conversion.JointwiseParameters`; where only
one joint moves they are eq. 56-61.  What the later blocks are wrong by enters the own block through
G = -A_j^+ B_j, so that with the covariance P of the later ones

    cov(x_j) = s_j^2 (A_j^T A_j)^-1 + G P G^T,    cov(x_j, x_later) = G P.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_identification.errors import ShapeError
from robot_identification.identification.one_joint.conversion import JointwiseParameters
from robot_identification.identification.one_joint.identifiability import (
    column_scaled,
    refuse_drowned,
    refuse_untold,
)
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.processing import Divisor


@by_value
@dataclass(frozen=True)
class SmallSystem:
    """The system that one joint's effort gives for its block.

    Attributes:
        joint: name of the joint.
        names: names of the parameters of its block.
        rows: number of rows.
        condition_number: ratio of the extreme singular values, columns as they are; 1 for an empty
            block.
        scaled_condition_number: the same after scaling every column to unit norm.
        singular_values: (parameters,) largest first.
        residual_std: standard deviation of the unexplained effort, in N m or N.
    """

    joint: str
    names: tuple[str, ...]
    rows: int
    condition_number: float
    scaled_condition_number: float
    singular_values: Array
    residual_std: float


@by_value
@dataclass(frozen=True)
class JointwiseEstimate:
    """Parameters told by one joint at a time.

    Attributes:
        parameters: what the values stand for.
        values: (rank,) estimates.
        covariance: (rank, rank) with the errors of later blocks in earlier ones.
        gains: per joint the (rank, columns) matrix that its products W^T y with the efforts enter
            the values through; their sum over the joints is ``values``.
        systems: one per joint, in the order of the joints.
    """

    parameters: JointwiseParameters
    values: Array
    covariance: Array
    gains: tuple[Array, ...]
    systems: tuple[SmallSystem, ...]

    @property
    def std(self) -> Array:
        """(rank,) standard deviations."""
        return read_only(np.sqrt(np.diag(self.covariance)))

    @property
    def base_values(self) -> Array:
        """(rank,) base parameters."""
        return self.parameters.to_base(self.values)

    @property
    def base_covariance(self) -> Array:
        """(rank, rank) covariance of the base parameters."""
        matrix = self.parameters.base_matrix
        return read_only(matrix @ self.covariance @ matrix.T)


def estimate_jointwise(
    parameters: JointwiseParameters,
    factors: Sequence[JointFactor],
    divisor: Divisor = "rows-parameters",
) -> JointwiseEstimate:
    """Estimate block by block, from the last joint to the first.

    Args:
        parameters: what is to be estimated.
        factors: one factor per joint, over the base parameters; of all experiments together.
        divisor: what the squared residual of a joint is divided by to give its variance.

    Raises:
        ShapeError: there is not one factor per joint.
        NotExcitedError: the efforts do not tell every parameter, or later blocks so badly that
            they drown the effort of an earlier joint; it names the parameters.
    """
    joints = len(parameters.base.robot.joints)
    if len(factors) != joints:
        raise ShapeError("factors", (len(factors),), f"({joints},)")
    matrices = [_own_rows(parameters, factor) for factor in factors]
    refuse_untold(parameters, factors, matrices)
    values, covariance = np.zeros(parameters.rank), np.zeros((parameters.rank, parameters.rank))
    gains = [np.zeros((parameters.rank, len(factor.columns))) for factor in factors]
    systems: list[SmallSystem] = []
    for j in range(joints - 1, -1, -1):
        own, later = parameters.block(j), parameters.later(j)
        A, B, factor = matrices[j][:, own], matrices[j][:, later], factors[j]
        y = factor.triangle[:, -1] - B @ values[later]
        scaled, norms = column_scaled(A)
        inverse = np.linalg.pinv(scaled, rcond=0.0) / norms[:, None]
        values[own] = inverse @ y
        freedom = max(factor.rows - (len(own) if divisor == "rows-parameters" else 1), 1)
        variance = float(np.sum((y - A @ values[own]) ** 2)) / freedom
        carried = -inverse @ B
        P = covariance[np.ix_(later, later)]
        worst = max((system.scaled_condition_number for system in systems), default=1.0)
        refuse_drowned(parameters, factor, B, P, worst)
        covariance[np.ix_(own, own)] = variance * inverse @ inverse.T + carried @ P @ carried.T
        covariance[np.ix_(own, later)] = carried @ P
        covariance[np.ix_(later, own)] = (carried @ P).T
        for gain in gains[j + 1 :]:
            gain[own] = carried @ gain[later]
        gains[j][own] = inverse @ inverse.T @ parameters.base_matrix[np.ix_(factor.columns, own)].T
        systems.append(_system(parameters, factor, j, A, variance))
    return JointwiseEstimate(
        parameters,
        read_only(values),
        read_only(covariance),
        tuple(read_only(gain) for gain in gains),
        tuple(reversed(systems)),
    )


def _own_rows(parameters: JointwiseParameters, factor: JointFactor) -> Array:
    """Return the (size + 1, rank) triangular rows of one joint in the parameters."""
    result: Array = factor.triangle[:, :-1] @ parameters.base_matrix[factor.columns]
    return result


def _system(
    parameters: JointwiseParameters, factor: JointFactor, joint: int, A: Array, variance: float
) -> SmallSystem:
    names = tuple(parameters.names[i] for i in parameters.block(joint))
    singular_values = np.linalg.svd(A, compute_uv=False) if names else np.zeros(0)
    return SmallSystem(
        joint=factor.joint,
        names=names,
        rows=factor.rows,
        condition_number=float(singular_values[0] / singular_values[-1]) if names else 1.0,
        scaled_condition_number=float(np.linalg.cond(column_scaled(A)[0])) if names else 1.0,
        singular_values=read_only(singular_values),
        residual_std=variance**0.5,
    )
