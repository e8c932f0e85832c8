"""Payload of a robot from bare and loaded runs, fitted together.

Both runs share the base parameters of the robot; the loaded ones have the payload's ten standard
parameters besides:

    Y_bare   = W_bare   chi
    Y_loaded = W_loaded chi + W_L,loaded chi_L

(the model of Gautier and Briot 2012, with the payload as the unknown).  Fitting both
together, rather than subtracting one torque from the other, asks no equal motions and lets every
row count with its own noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.errors import NotExcitedError
from robot_identification.identification.payload.body import (
    STANDARD,
    BodyEstimate,
    body_estimate,
    told,
)
from robot_identification.identification.payload.linearised import Linearised, independent
from robot_identification.identification.rows.bands import BandGrams, summed
from robot_identification.identification.rows.factor import (
    JointFactor,
    silent_columns,
    stack,
    substituted,
    substituted_grams,
)
from robot_identification.identification.rows.groups import merged
from robot_identification.identification.statistics.joint_noise import (
    joint_noise,
    refuse_silent_joints,
)
from robot_identification.robot.arrays import Array, by_value, read_only

Flags = npt.NDArray[np.bool_]


@by_value
@dataclass(frozen=True)
class Rows:
    """Rows of one kind of run, with the substitution of their columns by the unknowns.

    Attributes:
        factors: one per joint.
        grams: Gram matrices of the same rows; None where they are not at hand.
        substitution: (columns, unknowns).
        inflation: standard deviation of the errors over that of white residuals, for rows without
            Gram matrices.
    """

    factors: tuple[JointFactor, ...]
    grams: BandGrams | None
    substitution: Array
    inflation: float = 1.0


@by_value
@dataclass(frozen=True)
class PayloadEstimate:
    """Estimate of a payload's ten standard parameters.

    Attributes:
        values: (10,) XX XY XZ YY YZ ZZ MX MY MZ M in the frame of the mounting, SI units; where
            the motion does not tell all of them, the shortest vector in units of their effect.
        covariance: (10, 10) for residuals of any colour; its variances are nowhere below those
            of white residuals.
        std_white: (10,) standard deviations that white residuals would have.
        told: (10,) whether the motion tells the parameter by itself.
        body: mass, centre of mass and inertia about it.
        rank: number of combinations of the ten that the motion tells.
        singular_values: (10,) of the weighted columns of the payload, scaled to unit norm, after
            those of the robot have been taken out; largest first.
        others: (unknowns - 10,) values of the base parameters, then of friction changes; 0 where
            the runs do not tell them.
        weights: (joints,) factor on the rows of each joint.
        residual_std: (joints,) standard deviation of the residual, in N m or N.
        error_bare: (joints,) unexplained share of the effort in the bare runs.
        error_loaded: the same in the loaded runs.
        error_without: the same in the loaded runs, had there been no payload.
        rows: number of rows, bare and loaded.
    """

    values: Array
    covariance: Array
    std_white: Array
    told: Flags
    body: BodyEstimate
    rank: int
    singular_values: Array
    others: Array
    weights: Array
    residual_std: Array
    error_bare: Array
    error_loaded: Array
    error_without: Array
    rows: tuple[int, int]

    @property
    def std(self) -> Array:
        """(10,) standard deviations for residuals of any colour."""
        return read_only(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def condition_number(self) -> float:
        """Ratio of the extreme singular values of what the motion tells."""
        return float(self.singular_values[0] / self.singular_values[self.rank - 1])


def estimate_payload(bare: Sequence[Rows], loaded: Rows) -> PayloadEstimate:
    """Fit bare and loaded rows together; the last ten unknowns are the payload's.

    Rows are weighted with the residual of each joint (Gautier et al. 2013, eq. 20).

    Args:
        bare: rows without the payload; the last ten columns of their substitutions are zero.
        loaded: rows with it.

    Raises:
        NotExcitedError: the motion tells nothing of the payload.
        NoEffortError: nobody measured the efforts of a joint.
    """
    runs = (*bare, loaded)
    each = [[substituted(f, run.substitution) for f in run.factors] for run in runs]
    factors = merged(each)
    weights = 1.0 / joint_noise(factors).deviations
    unknowns = loaded.substitution.shape[1]
    basis, singular_values, rank, silent, sizes = _told_basis(factors, weights, unknowns)
    refuse_silent_joints([factors])
    triangle = stack(factors, unknowns, list(weights))
    design = triangle[:-1, :-1] @ basis
    solution = basis @ np.linalg.lstsq(design, triangle[:-1, -1], rcond=None)[0]
    at_solution = _linearised(factors, weights, basis, solution)
    own = basis[-10:]
    white = own @ at_solution.covariance() @ own.T
    covariance = _at_least(_covariance(at_solution, runs, own.T), np.diag(white))
    body = body_estimate(solution[-10:], covariance, silent, sizes)
    residuals = np.array([factor.residual_norm(solution) for factor in factors])
    freedoms = np.array([max(factor.rows - factor.own_fit[1], 1) for factor in factors])
    without = np.append(solution[:-10], np.zeros(10))
    return PayloadEstimate(
        values=read_only(solution[-10:]),
        covariance=read_only(covariance),
        std_white=read_only(np.sqrt(np.maximum(np.diag(white), 0.0))),
        told=told(np.eye(10), silent, sizes),
        body=body,
        rank=rank,
        singular_values=read_only(singular_values),
        others=read_only(solution[:-10]),
        weights=read_only(weights),
        residual_std=read_only(residuals / np.sqrt(freedoms)),
        error_bare=_unexplained(merged(each[:-1]), solution),
        error_loaded=_unexplained(each[-1], solution),
        error_without=_unexplained(each[-1], without),
        rows=(
            sum(f.rows for run in bare for f in run.factors),
            sum(f.rows for f in loaded.factors),
        ),
    )


def _told_basis(
    factors: Sequence[JointFactor], weights: Array, unknowns: int
) -> tuple[Array, Array, int, Array, Array]:
    """Return what the rows tell: a basis of the unknowns, and directions they are silent about.

    Unknowns of the robot that depend on others are left out (zero), which changes no prediction.

    Returns:
        (unknowns, told) basis; (10,) singular values of the payload's scaled columns after the
        robot's have been taken out; how many of them count; (10, silent) orthonormal directions
        of parameters divided by their sizes; (10,) sizes.

    Raises:
        NotExcitedError: none counts.
    """
    rows = sum(factor.rows for factor in factors)
    r = stack(factors, unknowns, list(weights))[:-1, :-1]
    others = independent(r[:, :-10], rows)
    left = np.linalg.qr(r[:, others], mode="reduced")[0]
    payload = r[:, -10:]
    norms = np.linalg.norm(payload, axis=0)
    scale = np.where(silent_columns(norms, rows), np.inf, norms)
    scaled = payload / scale
    scaled = scaled - left @ (left.T @ scaled)
    scaled = scaled - left @ (left.T @ scaled)  # twice, against rounding
    _, singular_values, directions = np.linalg.svd(scaled)
    floor = rows * np.finfo(float).eps
    rank = int(np.count_nonzero(singular_values > floor))
    if rank == 0:
        raise NotExcitedError([f"{name} of the payload" for name in STANDARD], float("inf"))
    sizes = 1.0 / np.where(np.isfinite(scale), scale, 1.0)
    basis = np.zeros((unknowns, len(others) + rank))
    basis[others, np.arange(len(others))] = 1.0
    basis[-10:, len(others) :] = directions[:rank].T * sizes[:, None]
    return basis, singular_values, rank, directions[rank:].T, sizes


def _linearised(
    factors: tuple[JointFactor, ...], weights: Array, basis: Array, solution: Array
) -> Linearised:
    joints = len(factors)
    return Linearised(factors, weights, [basis] * joints, [np.append(-solution, 1.0)] * joints)


def _covariance(at: Linearised, runs: Sequence[Rows], outputs: Array) -> Array:
    """Return the (outputs, outputs) covariance for residuals of any colour.

    Rows without Gram matrices count as white, with the deviation that they are said to have.
    """
    known = [substituted_grams(run.grams, run.substitution) for run in runs if run.grams]
    if not known:
        return np.asarray(outputs.T @ at.covariance() @ outputs)
    total = np.array(at.robust_covariance(summed(known), outputs))
    gain = at.bread() @ outputs
    for run in runs:
        if run.grams is None:
            of_run = [substituted(factor, run.substitution) for factor in run.factors]
            part = Linearised(of_run, at.weights, at.designs, at.residuals).jacobian() @ gain
            total += run.inflation**2 * at.variance() * part.T @ part
    return total


def _at_least(covariance: Array, variances: Array) -> Array:
    """Return a covariance with the same correlations, whose variances are nowhere smaller."""
    own = np.maximum(np.diag(covariance), np.finfo(float).tiny)
    growth = np.sqrt(np.maximum(variances / own, 1.0))
    return np.asarray(covariance * np.outer(growth, growth))


def _unexplained(factors: Sequence[JointFactor], values: Array) -> Array:
    """Return the (joints,) shares of the effort that values leave unexplained."""
    efforts = np.array([factor.effort_norm for factor in factors])
    residuals = np.array([factor.residual_norm(values) for factor in factors])
    return read_only(
        np.divide(residuals, efforts, out=np.zeros_like(residuals), where=efforts > 0.0)
    )
