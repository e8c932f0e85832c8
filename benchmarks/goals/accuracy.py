"""Accuracy of the solution as the conditioning grows, beside an 80-bit Householder QR.

A shrinking motion makes the system worse conditioned.  Efforts are made with 80 bits from known
parameters and from entries of W that differ from the stored ones at random, by up to one unit in
the last of 64 bits: that is what rounding does to every regressor.  An 80-bit Householder QR
(NumPy's long double) solves the stored system as good as exactly; what it misses of the truth is
the fault of the stored numbers.  Errors are relative, in columns scaled to unit norm.  Ours is the
streamed factor of the identification; the peers are LAPACK's QR and `numpy.linalg.lstsq` on the
dense matrix, and normal equations.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from goals import robots
from goals.least_squares import processing
from goals.measuring import Options, Row, Verdict
from goals.robots import Arm
from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import NotExcitedError
from robot_identification.identification.least_squares import ordinary
from robot_identification.identification.stream import factorise
from robot_identification.robot.model import Array
from robot_identification.signals.samples import FilteredSegment

TITLE = "accuracy"
AMPLITUDES = (0.5, 3e-2, 3e-3, 3e-4, 3e-5, 3e-6)
_SAMPLES = 1000


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    arms = [robots.six_joints()] if options.quick else [robots.six_joints(), robots.seven_joints()]
    for arm in arms:
        for amplitude in AMPLITUDES[:2] if options.quick else AMPLITUDES:
            _measure(arm, amplitude, row)
    return row


def _measure(arm: Arm, amplitude: float, row: Row) -> None:
    q, qd, qdd = robots.motion(arm.joints, _SAMPLES * 20, amplitude)[:, :, ::20]
    regressor = Regressor(arm.robot, arm.base.base_columns)
    W = regressor.dense(q.T, qd.T, qdd.T)
    W = W.reshape(-1, W.shape[2])
    norms = np.linalg.norm(W, axis=0)
    truth = np.random.default_rng(3).normal(size=len(norms)) / norms
    off = np.longdouble(np.finfo(float).eps) * np.random.default_rng(4).uniform(-1.0, 1.0, W.shape)
    exact = (W.astype(np.longdouble) * (1 + off)) @ truth.astype(np.longdouble)
    effort = exact.astype(np.float64)
    condition = float(np.linalg.cond(W / norms))
    case = f"{arm.name}, condition {condition:.0e}"

    def error(solution: Array) -> float:
        missed = (solution - truth) * norms
        return float(np.linalg.norm(missed) / np.linalg.norm(truth * norms))

    best = error(longdouble_qr(W, effort))
    ours = _ours(arm, (q, qd, qdd), effort)
    names = {
        "80-bit Householder QR": best,
        "LAPACK QR": error(_lapack_qr(W, effort)),
        "numpy lstsq": error(np.linalg.lstsq(W, effort, rcond=None)[0]),
        "normal equations": _normal(W, effort, error),
    }
    for name, value in names.items():
        row.add_spread(case, f"error, {name}", [value], "")
    if ours is None:
        row.remarks.append(f"{case}: ours refuses: the motion does not determine every parameter.")
        return
    row.add_spread(case, "error, ours", [error(ours)], "")
    row.verdicts.append(
        Verdict(
            case,
            "error over that of an 80-bit Householder QR",
            10.0,
            error(ours) / best,
            at_least=False,
            bound=f"rounding of the input: eps Cond = {np.finfo(float).eps * condition:.0e}",
        )
    )


def longdouble_qr(W: Array, effort: Array) -> Array:
    """Return the least-squares solution by Householder reflections with 80 bits."""
    A = np.column_stack([W, effort]).astype(np.longdouble)
    columns = W.shape[1]
    for i in range(columns):
        v = A[i:, i].copy()
        norm = np.sqrt((v * v).sum())
        v[0] += norm if v[0] > 0 else -norm
        v /= np.sqrt((v * v).sum())
        A[i:, i:] -= 2 * np.outer(v, v @ A[i:, i:])
    solution = np.zeros(columns, dtype=np.longdouble)
    for i in range(columns - 1, -1, -1):
        solution[i] = (A[i, -1] - A[i, i + 1 : columns] @ solution[i + 1 :]) / A[i, i]
    return solution.astype(np.float64)


def _ours(arm: Arm, signals: tuple[Array, Array, Array], effort: Array) -> Array | None:
    tau = effort.reshape(-1, arm.joints).T
    segment = FilteredSegment(np.arange(tau.shape[1]) / 1000.0, *signals, tau, 1e-3)
    factors = factorise(arm.robot, arm.base.base_columns, (segment,), processing(arm.joints))
    try:
        return np.array(ordinary(factors, arm.base.names).values)
    except NotExcitedError:
        return None


def _lapack_qr(W: Array, effort: Array) -> Array:
    r = np.linalg.qr(np.column_stack([W, effort]), mode="r")
    solution: Array = scipy.linalg.solve_triangular(r[:-1, :-1], r[:-1, -1])
    return solution


def _normal(W: Array, effort: Array, error: object) -> float:
    try:
        solution = scipy.linalg.cho_solve(scipy.linalg.cho_factor(W.T @ W), W.T @ effort)
    except np.linalg.LinAlgError:
        return float("inf")
    return error(solution)  # type: ignore[operator,no-any-return]
