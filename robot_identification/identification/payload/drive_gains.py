"""Gains of all drives at once, from runs without and with a payload that is known.

The motor torque that a recording holds is u = v g0: current times the gain g0 that is believed.
The true torque is f u, and with a = 1/f the rows of motor j are

    u_j = a_j (W_j chi + W_Lk,j chi_Lk + W_Lu,j chi_Lu)

with the base parameters chi of the robot, what is known of the payload, chi_Lk, and what is not,
chi_Lu.  W_Lk chi_Lk is the only torque of known size; it fixes the scale, which couplings between
the joints carry on to joints where the payload does nothing.

- ``ls``: least squares of f_j u_j - W_j chi - W_Lu,j chi_Lu = W_Lk,j chi_Lk.  It takes u for exact,
  so that noise of u draws f towards zero.
- ``tls``: total least squares of the homogeneous system [U -W -W_Lu -W_Lk chi_Lk] x = 0 by its
  smallest singular value, x scaled so that its last entry is 1 (Gautier and Briot 2012).
- ``currents``: least squares of the rows above (Gautier and Briot 2011 predict currents with the
  inverse gains as unknowns), by iteration, with noise in u only.  It has no bias from that noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.errors import DriveGainError, NotConvergedError
from robot_identification.identification.payload.linearised import Linearised, independent
from robot_identification.identification.rows.bands import BandGrams
from robot_identification.identification.rows.factor import JointFactor, silent_columns, triangle_of
from robot_identification.identification.statistics.joint_noise import (
    joint_noise,
    refuse_silent_joints,
)
from robot_identification.robot.arrays import Array, by_value, read_only

GAIN_METHODS = ("currents", "tls", "ls")
LARGEST_STD = 0.3
"""A gain whose relative standard deviation is above this is not given."""

_ITERATIONS = 50
_TOLERANCE = 1e-12

Motors = npt.NDArray[np.intp]


@by_value
@dataclass(frozen=True)
class GainEstimate:
    """True motor torque over the one recorded, for every motor.

    Attributes:
        factors: (motors,) f; 1 for those that were taken as known.
        std: (motors,) standard deviations for residuals of any colour, nowhere below the white
            ones; 0 for those taken as known.
        parameters: (base,) base parameters of the robot in true units; 0 where the motion does not
            tell them.
        parameter_std: (base,) their standard deviations.
        unknown_payload: (unknown,) what was not known of the payload.
        condition_number: of the derivative, with its columns scaled to unit norm.
        residual_std: (motors,) standard deviation of the residual, in recorded motor torque.
        relative_error: (motors,) unexplained share of the recorded torque.
        iterations: of the method.
        rows: number of rows.
    """

    factors: Array
    std: Array
    parameters: Array
    parameter_std: Array
    unknown_payload: Array
    condition_number: float
    residual_std: Array
    relative_error: Array
    iterations: int
    rows: int


@dataclass(frozen=True)
class GainRows:
    """Rows of the motors, bare and loaded together.

    Attributes:
        motors: names of the motors.
        factors: one per motor; the columns are the base parameters, what is unknown of the payload,
            and the torque of what is known.
        grams: Gram matrices of the same rows.
        base: number of base parameters.
        trusted: places of the motors whose gain is taken as right.
    """

    motors: tuple[str, ...]
    factors: tuple[JointFactor, ...]
    grams: BandGrams
    base: int
    trusted: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(factor.rows for factor in self.factors)


def estimate_gains(given: GainRows, method: str = GAIN_METHODS[0]) -> GainEstimate:
    """Estimate the gains of all drives.

    Args:
        given: the rows.
        method: ``currents``, ``tls`` or ``ls``.

    Raises:
        DriveGainError: the rows say nothing, or next to nothing, of a gain.
        NotConvergedError: the iterations of ``currents`` do not settle.
        NoEffortError: nobody measured the efforts of a joint.
    """
    refuse_silent_joints([given.factors])
    weights = 1.0 / joint_noise(given.factors).deviations
    sought = np.setdiff1d(np.arange(len(given.motors)), given.trusted)
    kept = _told_unknowns(given, weights)
    start = _linear(given, weights, kept, sought, total=method == "tls")
    _refuse_silent(given, weights, kept, sought, start)
    iterations = 1
    if method == "currents":
        start, iterations = _refined(given, weights, kept, sought, start)
    return _result(given, weights, kept, sought, start, iterations)


def _told_unknowns(given: GainRows, weights: Array) -> Motors:
    """Return the places of the robot's and payload's unknowns that the rows can tell apart."""
    rows = np.vstack(
        [w * factor.triangle[:, :-2] for w, factor in zip(weights, given.factors, strict=True)]
    )
    return independent(triangle_of(rows), given.rows)


def _linear(given: GainRows, weights: Array, kept: Motors, sought: Motors, *, total: bool) -> Array:
    """Return (kept + sought,) unknowns and inverse gains by (total) least squares."""
    blocks = []
    for j, (w, factor) in enumerate(zip(weights, given.factors, strict=True)):
        torque = factor.triangle[:, -1]
        own = np.outer(torque, sought == j)
        right = factor.triangle[:, -2] - (torque if j in given.trusted else 0.0)
        blocks.append(w * np.column_stack([-factor.triangle[:, kept], own, right]))
    matrix = np.vstack(blocks)
    if total:
        scale = np.linalg.norm(matrix, axis=0)
        scale[scale == 0.0] = 1.0
        x = np.linalg.svd(matrix / scale)[2][-1] / scale
        solution = -x[:-1] / x[-1]
    else:
        solution = _scaled_solution(matrix[:, :-1], matrix[:, -1])
    with np.errstate(divide="ignore"):
        return np.append(solution[: len(kept)], 1.0 / solution[len(kept) :])


def _scaled_solution(matrix: Array, right: Array) -> Array:
    norms = np.linalg.norm(matrix, axis=0)
    norms[norms == 0.0] = 1.0
    return np.asarray(np.linalg.lstsq(matrix / norms, right, rcond=None)[0] / norms)


def _at(given: GainRows, weights: Array, kept: Motors, sought: Motors, point: Array) -> Linearised:
    """Return the derivative of the predicted motor torques at a point."""
    x, a = point[: len(kept)], np.ones(len(given.factors))
    a[sought] = point[len(kept) :]
    designs, residuals = [], []
    for j, factor in enumerate(given.factors):
        prediction = np.zeros(len(factor.columns))
        prediction[kept], prediction[-1] = x, 1.0
        design = np.zeros((len(factor.columns), len(point)))
        design[kept, np.arange(len(kept))] = a[j]
        design[:, len(kept) :] = np.outer(prediction, sought == j)
        designs.append(design)
        residuals.append(np.append(-a[j] * prediction, 1.0))
    return Linearised(given.factors, weights, designs, residuals)


def _refined(
    given: GainRows, weights: Array, kept: Motors, sought: Motors, point: Array
) -> tuple[Array, int]:
    """Minimise the residual of the motor torques by Gauss and Newton's iteration.

    Raises:
        NotConvergedError: it does not settle.
    """
    for iteration in range(1, _ITERATIONS + 1):
        at = _at(given, weights, kept, sought, point)
        step = _scaled_solution(at.jacobian(), at.residual())
        point = point + step
        if np.abs(step[len(kept) :]).max(initial=0.0) <= _TOLERANCE * np.abs(
            point[len(kept) :]
        ).max(initial=1.0):
            return point, iteration
    raise NotConvergedError(
        f"the gains do not settle within {_ITERATIONS} iterations; the payload's torque is too "
        "small against the noise: take a heavier payload or a livelier motion"
    )


def _refuse_silent(
    given: GainRows, weights: Array, kept: Motors, sought: Motors, point: Array
) -> None:
    """Refuse gains that no predicted torque depends on by themselves.

    The columns of the gains are predicted torques, without the noise of the recorded ones.

    Raises:
        DriveGainError: names the motors.
    """
    usable = np.isfinite(point).all()
    here = point if usable else np.nan_to_num(point, nan=1.0, posinf=1.0, neginf=1.0)
    jacobian = _at(given, weights, kept, sought, here).jacobian()
    norms = np.linalg.norm(jacobian, axis=0)
    silent = silent_columns(norms, given.rows)[len(kept) :]
    scaled = jacobian / np.where(norms > 0.0, norms, 1.0)
    _, values, directions = np.linalg.svd(scaled)
    padded = np.zeros(len(directions))
    padded[: len(values)] = values
    lost = padded <= given.rows * np.finfo(float).eps * padded[0]
    share = np.abs(directions[lost][:, len(kept) :]).max(axis=0, initial=0.0)
    named = silent | (share > 1e-3)
    if named.any():
        raise DriveGainError([given.motors[j] for j in sought[named]])


def _result(
    given: GainRows, weights: Array, kept: Motors, sought: Motors, point: Array, iterations: int
) -> GainEstimate:
    at = _at(given, weights, kept, sought, point)
    white = np.sqrt(np.diag(at.covariance()))
    robust = np.sqrt(np.diag(at.robust_covariance(given.grams, np.eye(len(point)))))
    deviations = np.maximum(white, robust)
    a, std = np.ones(len(given.motors)), np.zeros(len(given.motors))
    a[sought], std[sought] = point[len(kept) :], deviations[len(kept) :]
    relative = std / np.abs(a)
    poor = relative > LARGEST_STD
    if poor.any():
        places = np.flatnonzero(poor)
        raise DriveGainError([given.motors[j] for j in places], relative[places].tolist())
    everything, errors = (
        np.zeros(given.factors[0].columns[-1]),
        np.zeros(given.factors[0].columns[-1]),
    )
    everything[kept], errors[kept] = point[: len(kept)], deviations[: len(kept)]
    norms = np.array(
        [
            np.linalg.norm(f.triangle @ coefficients)
            for f, coefficients in zip(given.factors, at.residuals, strict=True)
        ]
    )
    freedoms = np.array([max(f.rows - f.own_fit[1], 1) for f in given.factors])
    efforts = np.array([max(f.effort_norm, np.finfo(float).tiny) for f in given.factors])
    return GainEstimate(
        factors=read_only(1.0 / a),
        std=read_only(relative / np.abs(a)),
        parameters=read_only(everything[: given.base]),
        parameter_std=read_only(errors[: given.base]),
        unknown_payload=read_only(everything[given.base :]),
        condition_number=_scaled_condition(at.jacobian()),
        residual_std=read_only(norms / np.sqrt(freedoms)),
        relative_error=read_only(norms / efforts),
        iterations=iterations,
        rows=given.rows,
    )


def _scaled_condition(jacobian: Array) -> float:
    values = scipy.linalg.svdvals(jacobian / np.linalg.norm(jacobian, axis=0))
    return float(values[0] / values[-1])
