"""Identifications of robots whose parameters are known, made without recordings."""

from dataclasses import replace

import numpy as np
import scipy.linalg

from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.essential import Elimination, Removal
from robot_identification.identification.estimators.huber import Robustness
from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.identification.estimators.outliers import Outliers
from robot_identification.identification.history import History, Iteration
from robot_identification.identification.regrouping import Regrouping
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.source import Source
from robot_identification.identification.statistics.cross_validation import CrossValidation, Fold


def numerical_regrouping(w, names):
    """Return the regrouping of a (rows, parameters) regressor by pivoted QR on scaled columns."""
    norms = np.linalg.norm(w, axis=0)
    used = np.flatnonzero(norms > 1e-12 * norms.max())
    r, pivots = scipy.linalg.qr(w[:, used] / norms[used], mode="r", pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = int(np.count_nonzero(diagonal > 1e-9 * diagonal[0]))
    base, rest = used[pivots[:rank]], used[pivots[rank:]]
    beta = np.linalg.solve(r[:rank, :rank], r[:rank, rank:]) / norms[base][:, None] * norms[rest]
    beta[np.abs(beta) < 1e-11] = 0.0
    return Regrouping(
        standard_names=names,
        names=tuple(names[i] for i in base),
        leading=tuple(names[i] for i in base),
        regrouped=tuple(names[i] for i in rest),
        beta=beta,
    )


def made_up_result(robot, values, rng, *, samples=300, noise=0.0, method="wls"):
    """Return the identification of a robot on random states.

    Args:
        robot: the robot.
        values: its parameters, in the order of ``robot.all_parameter_names``.
        rng: where the states and the noise come from.
        samples: number of states.
        noise: standard deviation of each joint's noise, relative to that of its effort.
        method: ``wls`` or ``ols``.
    """
    shape = (samples, len(robot.joints))
    q, qd, qdd = (rng.uniform(-s, s, size=shape) for s in (2.0, 1.5, 3.0))
    w = Regressor(robot).dense(q, qd, qdd)
    effort = w @ np.asarray(values)[robot.standard_indices]
    effort = effort + noise * effort.std(axis=0) * rng.normal(size=shape)
    regrouping = numerical_regrouping(w.reshape(-1, w.shape[2]), robot.standard_names)
    base = [robot.standard_names.index(name) for name in regrouping.leading]
    factors = []
    for k, joint in enumerate(robot.joint_names):
        columns = np.flatnonzero(np.abs(w[:, k, base]).max(axis=0) > 0.0)
        rows = np.column_stack([w[:, k, np.array(base)[columns]], effort[:, k]])
        triangle = np.zeros((len(columns) + 1, len(columns) + 1))
        r = np.linalg.qr(rows, mode="r")
        triangle[: len(r)] = r
        factors.append(JointFactor(joint, columns, triangle, samples))
    solve = least_squares.weighted if method == "wls" else least_squares.ordinary
    return IdentificationResult(
        robot=robot.name,
        robot_digest=robot.digest,
        joint_names=robot.joint_names,
        sources=(Source("made up", "", samples, 1.0),),
        method=method,
        settings={},
        regrouping=regrouping,
        estimate=solve(factors, regrouping.names),
        factors=tuple(factors),
    )


def tall_system(robot, rng, samples=60):
    """Return the (rows, parameters) regressor of random states of a robot."""
    shape = (samples, len(robot.joints))
    w = Regressor(robot).dense(*(rng.uniform(-2.0, 2.0, size=shape) for _ in range(3)))
    return w.reshape(-1, w.shape[2])


def with_everything(result):
    """Return a result with everything that a result may hold."""
    estimate, n = result.estimate, len(result.joint_names)
    error = RelativeError(0.2, np.full(n, 0.2))
    fold = Fold("monday", (100,) * n, (2.0,) * n, error, None, reason="joint 1 rests")
    outliers = Outliers("monday", result.joint_names[0], 100, 5, 1, 0, 0.3, ((1.5, 2.0),))
    kept = np.arange(len(estimate.values)) > 0
    removal = Removal(result.regrouping.names[0], 0.1, 40.0, 30.0, 0.01)
    iterations = tuple(
        Iteration(number, error, 1.0, 0.1, np.ones(n), estimate.values, 7) for number in range(2)
    )
    return replace(
        result,
        estimate=replace(estimate, std_robust=2.0 * estimate.std),
        held_out=error,
        held_out_bags=(fold,),
        cross_validation=CrossValidation("bags", (fold, replace(fold, error=error)), error),
        robustness=Robustness(1.345, 4, True, np.full(n, 0.95), (outliers,)),
        elimination=Elimination("ratio", 10.0, kept, (removal,), estimate),
        warnings=("one", "two"),
        history=History("regular", 0.4, iterations, np.full(n, 0.01), "high band", "converged"),
    )


def minimum_norm(system):
    """Return the shortest least-squares solution of a system (Gautier and Venture 2013, eq. 26)."""
    return np.linalg.pinv(system.matrix, rcond=1e-10) @ system.right
