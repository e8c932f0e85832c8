"""Ordinary and weighted least squares from triangular factors, with their statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from robot_identification.errors import NotExcitedError
from robot_identification.identification.rows.factor import JointFactor, silent_columns, stack
from robot_identification.identification.statistics.joint_noise import joint_noise
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.processing import Divisor


@by_value
@dataclass(frozen=True)
class RelativeError:
    """Norm of the unexplained effort divided by the norm of the effort, as fractions.

    Attributes:
        total: over all joints.
        joints: (joints,) per joint; NaN for one of which there were no rows to predict, where data
            had no part in the fit.
    """

    total: float
    joints: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", read_only(self.joints))


@by_value
@dataclass(frozen=True)
class Estimate:
    """Least-squares estimate of the base parameters.

    Attributes:
        values: (parameters,) estimates.
        std: (parameters,) standard deviations (Gautier et al. 2013, eq. 18, 19).
        weights: (joints,) factor on the rows of each joint; ones for ordinary least squares.
        residual_std: (joints,) standard deviation of each joint's residual, in N m or N.
        condition_number: ratio of the extreme singular values of the weighted regressor.
        scaled_condition_number: the same after scaling every column to unit norm.
        singular_values: (parameters,) of the weighted regressor, largest first.
        relative_error: error of the fit on its own data.
        rows: (joints,) number of rows of each joint.
        std_robust: (parameters,) standard deviations that hold for coloured residuals too
            (:mod:`.robust_std`); None where the rows themselves were not at hand, or the method has
            none.
    """

    values: Array
    std: Array
    weights: Array
    residual_std: Array
    condition_number: float
    scaled_condition_number: float
    singular_values: Array
    relative_error: RelativeError
    rows: tuple[int, ...]
    std_robust: Array | None = None

    def __post_init__(self) -> None:
        names = ("values", "std", "weights", "residual_std", "singular_values", "std_robust")
        for name in names:
            if (array := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(array))

    @property
    def larger_std(self) -> Array:
        """(parameters,) the larger of both standard deviations, by which estimates are judged."""
        return self.std if self.std_robust is None else np.maximum(self.std, self.std_robust)

    @property
    def freedom(self) -> int:
        """Rows beyond the parameters; without any, nothing tells how far off these are."""
        return sum(self.rows) - int(np.count_nonzero(self.values))

    @cached_property
    def relative_std_percent(self) -> Array:
        """(parameters,) standard deviations in percent of the values (Gautier et al. 2013, eq. 19).

        Infinite where a value is zero, or next to it.
        """
        sizes, infinite = np.abs(self.values), np.full(len(self.values), np.inf)
        with np.errstate(over="ignore"):
            return read_only(np.divide(100.0 * self.std, sizes, out=infinite, where=sizes > 0.0))


def relative_error(factors: Sequence[JointFactor], values: Array) -> RelativeError:
    """Return how much of the effort the given base parameters leave unexplained.

    Args:
        factors: one factor per joint, of the data to explain.
        values: (parameters,) base parameters.
    """
    residuals = np.array([factor.residual_norm(values) for factor in factors])
    efforts = np.array([factor.effort_norm for factor in factors])
    joints = np.divide(residuals, efforts, out=np.zeros_like(residuals), where=efforts > 0.0)
    total = float(np.linalg.norm(residuals) / max(np.linalg.norm(efforts), np.finfo(float).tiny))
    return RelativeError(total=total, joints=read_only(joints))


def error_entries(error: RelativeError, joint_names: Sequence[str]) -> dict[str, float | None]:
    """Return ``total`` and one entry per joint, as fractions; None for a joint without rows."""
    joints = zip(joint_names, error.joints.tolist(), strict=True)
    return {"total": error.total, **{name: None if np.isnan(e) else e for name, e in joints}}


def ordinary(
    factors: Sequence[JointFactor], names: Sequence[str], divisor: Divisor = "rows-parameters"
) -> Estimate:
    """Solve by ordinary least squares (Gautier et al. 2013, eq. 16-19).

    Args:
        factors: one factor per joint.
        names: names of the base parameters.
        divisor: what the squared residual is divided by to give its variance.

    Raises:
        NotExcitedError: if the data do not determine every parameter.
    """
    weights = np.ones(len(factors))
    return _solve(factors, names, weights, divisor)


def weighted(
    factors: Sequence[JointFactor], names: Sequence[str], divisor: Divisor = "rows-parameters"
) -> Estimate:
    """Solve by least squares weighted with each joint's residual (Gautier et al. 2013, eq. 20).

    The rows of a joint are divided by the standard deviation of the residual that ordinary least
    squares on its rows alone leaves; see :mod:`.statistics.joint_noise` for joints with few rows.

    Args:
        factors: one factor per joint.
        names: names of the base parameters.
        divisor: what the squared weighted residual is divided by to give its variance.

    Raises:
        NotExcitedError: if the data do not determine every parameter.
    """
    return _solve(factors, names, 1.0 / joint_noise(factors).deviations, divisor)


def with_weights(
    factors: Sequence[JointFactor],
    names: Sequence[str],
    weights: Array,
    divisor: Divisor = "rows-parameters",
) -> Estimate:
    """Solve by least squares with given weights.

    Args:
        factors: one factor per joint.
        names: names of the parameters, one per column of the factors.
        weights: (joints,) factor on the rows of each joint.
        divisor: what the squared weighted residual is divided by to give its variance.

    Raises:
        NotExcitedError: if the data do not determine every parameter.
    """
    return _solve(factors, names, weights, divisor)


def _solve(
    factors: Sequence[JointFactor], names: Sequence[str], weights: Array, divisor: Divisor
) -> Estimate:
    parameters = len(names)
    triangle = stack(factors, parameters, list(weights))
    r, z, rho = triangle[:-1, :-1], triangle[:-1, -1], triangle[-1, -1]
    rows = sum(factor.rows for factor in factors)
    norms = np.linalg.norm(r, axis=0)
    scaled_condition = _refuse_if_not_excited(r, norms, names, rows)
    values = scipy.linalg.solve_triangular(r, z)
    inverse = scipy.linalg.solve_triangular(r, np.eye(parameters))
    freedom = rows - (parameters if divisor == "rows-parameters" else 1)
    variance = rho**2 / max(freedom, 1)
    singular_values = np.linalg.svd(r, compute_uv=False)
    residuals = np.array([factor.residual_norm(values) for factor in factors])
    freedoms = np.array([max(factor.rows - factor.own_fit[1], 1) for factor in factors])
    return Estimate(
        values=read_only(values),
        std=read_only(np.sqrt(variance) * np.linalg.norm(inverse, axis=1)),
        weights=read_only(weights),
        residual_std=read_only(residuals / np.sqrt(freedoms)),
        condition_number=float(singular_values[0] / singular_values[-1]),
        scaled_condition_number=scaled_condition,
        singular_values=read_only(singular_values),
        relative_error=relative_error(factors, values),
        rows=tuple(factor.rows for factor in factors),
    )


def _refuse_if_not_excited(r: Array, norms: Array, names: Sequence[str], rows: int) -> float:
    """Return the condition number of the column-scaled system, or refuse to solve it.

    The parameters named are those that take part in the directions without effect.
    """
    if rows < len(names):
        raise NotExcitedError(names, float("inf"))
    silent = silent_columns(norms, rows)
    if silent.any():
        silent_names = [name for name, quiet in zip(names, silent, strict=True) if quiet]
        raise NotExcitedError(silent_names, float("inf"))
    singular_values = np.linalg.svd(r / norms, compute_uv=False)
    lost = singular_values <= rows * np.finfo(float).eps * singular_values[0]
    condition = float(singular_values[0] / max(singular_values[-1], np.finfo(float).tiny))
    if lost.any():
        directions = np.linalg.svd(r / norms)[2]
        share = np.abs(directions[lost]).max(axis=0)
        involved = [name for name, s in zip(names, share, strict=True) if s > 0.1]
        raise NotExcitedError(involved, condition)
    return condition
