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
import numpy.typing as npt
import scipy.linalg

from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import NotExcitedError, ShapeError
from robot_identification.identification import least_squares
from robot_identification.identification.bands import BandGrams
from robot_identification.identification.base import BaseParameters
from robot_identification.identification.factor import JointFactor
from robot_identification.identification.least_squares import Estimate
from robot_identification.identification.one_joint.conversion import JointwiseParameters
from robot_identification.identification.robust import sandwich_std
from robot_identification.robot.model import Array, read_only
from robot_identification.robot.processing import Divisor

_INVOLVED = 0.1
# Filters leave traces of 1e-9 of other motions in the rows of a joint that was never moved; a
# column-scaled system worse than this is told by them, not by the motion.
_FAINTEST = 1e-6


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


def sample_factors(
    base: BaseParameters,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    effort: npt.ArrayLike,
) -> tuple[JointFactor, ...]:
    """Return one factor per joint of samples that need no filter.

    Args:
        base: base parameters of the robot.
        q: (samples, joints) positions in rad or m.
        qd: (samples, joints) velocities.
        qdd: (samples, joints) accelerations.
        effort: (samples, joints) in N m or N.

    Raises:
        ShapeError: the arrays do not have the robot's number of joints or differ in shape.
    """
    regressor = Regressor(base.robot, base.base_columns)
    rows = regressor.dense(q, qd, qdd)
    y = np.asarray(effort, dtype=np.float64)
    if y.shape != rows.shape[:2]:
        raise ShapeError("effort", y.shape, str(rows.shape[:2]))
    factors = []
    for k, joint in enumerate(regressor.joint_rows):
        size = len(joint.columns) + 1
        stacked = np.column_stack([rows[:, k, joint.columns], y[:, k]])
        (triangle,) = scipy.linalg.qr(np.vstack([stacked, np.zeros((size, size))]), mode="r")
        name = base.robot.joint_names[k]
        factors.append(JointFactor(name, joint.columns, triangle[:size], len(y)))
    return tuple(factors)


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
    _refuse_untold(parameters, factors, matrices)
    values, covariance = np.zeros(parameters.rank), np.zeros((parameters.rank, parameters.rank))
    gains = [np.zeros((parameters.rank, len(factor.columns))) for factor in factors]
    systems: list[SmallSystem] = []
    for j in range(joints - 1, -1, -1):
        own, later = parameters.block(j), parameters.later(j)
        A, B, factor = matrices[j][:, own], matrices[j][:, later], factors[j]
        y = factor.triangle[:, -1] - B @ values[later]
        scaled, norms = _scaled(A)
        inverse = np.linalg.pinv(scaled, rcond=0.0) / norms[:, None]
        values[own] = inverse @ y
        freedom = max(factor.rows - (len(own) if divisor == "rows-parameters" else 1), 1)
        variance = float(np.sum((y - A @ values[own]) ** 2)) / freedom
        carried = -inverse @ B
        P = covariance[np.ix_(later, later)]
        _refuse_drowned(parameters, factor, B, np.diag(P), later, systems)
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


def identify_one_joint(
    base: BaseParameters,
    factors: Sequence[JointFactor],
    divisor: Divisor = "rows-parameters",
    bands: BandGrams | None = None,
) -> Estimate:
    """Return base parameters and their deviations by the backward recursion.

    Condition numbers are the worst among the small systems, singular values those of all of them;
    no joint is weighted.

    Args:
        base: base parameters of a serial robot.
        factors: one factor per joint, over the base parameters.
        divisor: what the squared residual of a joint is divided by to give its variance.
        bands: Gram matrices of the same rows, for deviations that hold for coloured residuals.

    Raises:
        SettingError: the robot is no chain.
        RankError: the inertia constants do not span the base parameters.
        NotExcitedError: the efforts do not tell every parameter.
    """
    found = estimate_jointwise(JointwiseParameters.of(base), factors, divisor)
    singular_values = np.concatenate([system.singular_values for system in found.systems])
    return Estimate(
        values=found.base_values,
        std=read_only(np.sqrt(np.diag(found.base_covariance))),
        weights=read_only(np.ones(len(factors))),
        residual_std=read_only([system.residual_std for system in found.systems]),
        condition_number=max(system.condition_number for system in found.systems),
        scaled_condition_number=max(system.scaled_condition_number for system in found.systems),
        singular_values=read_only(np.sort(singular_values)[::-1]),
        relative_error=least_squares.relative_error(factors, found.base_values),
        rows=tuple(factor.rows for factor in factors),
        std_robust=None if bands is None else _robust_std(found, bands),
    )


def _robust_std(found: JointwiseEstimate, bands: BandGrams) -> Array:
    """Return the deviations of the base parameters for residuals of any colour."""
    parameters = found.parameters
    values, matrix = found.base_values, parameters.base_matrix
    residual = [np.append(-values[columns], 1.0) for columns in bands.columns]
    gains, leverages = [], []
    for joint, (columns, gain) in enumerate(zip(bands.columns, found.gains, strict=True)):
        own = parameters.block(joint)
        gains.append(np.vstack([(matrix @ gain).T, np.zeros(len(values))]))
        leverage = np.zeros((len(columns) + 1, len(columns) + 1))
        leverage[:-1, :-1] = matrix[np.ix_(columns, own)] @ gain[own]
        leverages.append(leverage)
    return sandwich_std(
        bands, np.concatenate(residual), scipy.linalg.block_diag(*leverages), np.vstack(gains)
    )


def _own_rows(parameters: JointwiseParameters, factor: JointFactor) -> Array:
    """Return the (size + 1, rank) triangular rows of one joint in the parameters."""
    result: Array = factor.triangle[:, :-1] @ parameters.base_matrix[factor.columns]
    return result


def _scaled(A: Array) -> tuple[Array, Array]:
    """Return a matrix with columns of unit norm, zero ones left, and the norms."""
    norms = np.linalg.norm(A, axis=0)
    return A / np.where(norms > 0.0, norms, 1.0), norms


def untold(A: Array, names: Sequence[str], tolerance: float) -> tuple[list[str], float]:
    """Return the parameters that a system does not tell, and its scaled condition number.

    Args:
        A: (rows, parameters).
        names: names of the parameters.
        tolerance: singular values of the column-scaled system up to this share of the largest one
            count as zero; a parameter is not told if it takes part in one of their directions.
    """
    if not names:
        return [], 1.0
    scaled, norms = _scaled(A)
    silent = norms <= np.finfo(float).eps * norms.max(initial=0.0)
    _, found, directions = np.linalg.svd(np.linalg.qr(scaled, mode="r"), full_matrices=True)
    values = np.zeros(len(names))
    values[: len(found)] = found
    lost = values <= tolerance * values[0]
    share = np.abs(directions[lost]).max(axis=0, initial=0.0)
    missing = [n for n, s, q in zip(names, share, silent, strict=True) if q or s > _INVOLVED]
    condition = float(values[0] / values[-1]) if values[-1] > 0.0 else float("inf")
    return missing, condition


def _refuse_untold(
    parameters: JointwiseParameters, factors: Sequence[JointFactor], matrices: Sequence[Array]
) -> None:
    missing: list[str] = []
    worst = 1.0
    for j, (factor, matrix) in enumerate(zip(factors, matrices, strict=True)):
        own = parameters.block(j)
        names = [parameters.names[i] for i in own]
        here, condition = untold(matrix[:, own], names, _FAINTEST)
        if factor.rows < len(names) and not here:
            here = names
        missing += here
        worst = max(worst, condition)
    if missing:
        raise NotExcitedError(missing, worst)


def _refuse_drowned(
    parameters: JointwiseParameters,
    factor: JointFactor,
    B: Array,
    variances: Array,
    later: npt.NDArray[np.intp],
    systems: Sequence[SmallSystem],
) -> None:
    """Refuse later blocks whose errors are larger than the effort that they are taken from."""
    errors = np.linalg.norm(B, axis=0) * np.sqrt(variances)
    drowning = later[errors > factor.effort_norm]
    if drowning.size:
        worst = max(system.scaled_condition_number for system in systems)
        raise NotExcitedError([parameters.names[i] for i in drowning], worst)


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
        scaled_condition_number=float(np.linalg.cond(_scaled(A)[0])) if names else 1.0,
        singular_values=read_only(singular_values),
        residual_std=variance**0.5,
    )
