"""Accuracy of the solution as the conditioning grows, beside an 80-bit Householder QR.

A shrinking motion makes the system worse conditioned.  Efforts are made with 80 bits from known
parameters and from entries of W that differ from the stored ones at random, by up to one unit in
the last of 64 bits: that is what rounding does to every regressor.  An 80-bit Householder QR
(NumPy's long double) solves the stored system as good as exactly; what it misses of the truth is
the fault of the stored numbers.  The parameters have 80 bits too: had they 64, its rounded solution
would now and then be the truth to the last bit.  All solutions are rounded to 64 bits, as
parameters are kept.  Errors are relative, in columns scaled to unit norm; each is the median of
several random choices of parameters and roundings, as is the ratio of two.  Ours is the
streamed factor of the identification; the peers are LAPACK's QR and `numpy.linalg.lstsq` on the
dense matrix, and normal equations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
from passes import factors_of

from goals import robots
from goals.least_squares import processing
from goals.measuring import Options, Row, Verdict
from goals.robots import Arm
from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import NotExcitedError
from robot_identification.identification.estimators.least_squares import ordinary
from robot_identification.robot.arrays import Array
from robot_identification.signals.filtered import FilteredSegment

TITLE = "accuracy"
AMPLITUDES = (0.5, 3e-2, 3e-3, 3e-4, 3e-5, 3e-6)
_SAMPLES = 1000
_DRAWS = 9  # random choices of parameters and of what rounding does


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
    truths, efforts = _draws(W, norms)
    condition = float(np.linalg.cond(W / norms))
    case = f"{arm.name}, condition {condition:.0e}"

    def errors(solutions: npt.NDArray[np.floating[Any]]) -> Array:
        missed = (solutions - truths) * norms[:, None]
        return np.array(_norms(missed) / _norms(truths * norms[:, None]), dtype=np.float64)

    best = errors(longdouble_qr(W, efforts))
    ours = _ours(arm, (q, qd, qdd), efforts)
    names = {
        "80-bit Householder QR": best,
        "LAPACK QR": errors(_lapack_qr(W, efforts)),
        "numpy lstsq": errors(np.linalg.lstsq(W, efforts, rcond=None)[0]),
        "normal equations": errors(_normal(W, efforts)),
    }
    for name, values in names.items():
        finite = np.isfinite(values).all()
        row.add_spread(case, f"error, {name}", list(values) if finite else [np.inf], "")
    if ours is None:
        row.remarks.append(f"{case}: ours refuses: the motion does not determine every parameter.")
        return
    row.add_spread(case, "error, ours", list(errors(ours)), "")
    row.verdicts.append(
        Verdict(
            case,
            "error over that of an 80-bit Householder QR",
            10.0,
            float(np.median(errors(ours) / best)),
            at_least=False,
            bound=f"rounding of the input: eps Cond = {np.finfo(float).eps * condition:.0e}",
        )
    )


def _draws(W: Array, norms: Array) -> tuple[npt.NDArray[np.longdouble], Array]:
    """Return (columns, draws) parameters with 80 bits and (rows, draws) efforts with 64."""
    rng = np.random.default_rng(3)
    truths = rng.normal(size=(len(norms), _DRAWS)) / norms.astype(np.longdouble)[:, None]
    efforts = np.empty((len(W), _DRAWS))
    for draw in range(_DRAWS):
        off = np.longdouble(np.finfo(float).eps) * rng.uniform(-1.0, 1.0, W.shape)
        efforts[:, draw] = (W.astype(np.longdouble) * (1 + off)) @ truths[:, draw]
    return truths, efforts


def _norms(columns: npt.NDArray[np.longdouble]) -> npt.NDArray[np.longdouble]:
    return np.asarray(np.sqrt((columns**2).sum(axis=0)))


def longdouble_qr(W: Array, efforts: Array) -> Array:
    """Return the (columns, draws) least-squares solutions by Householder with 80 bits."""
    A = np.column_stack([W, efforts]).astype(np.longdouble)
    columns = W.shape[1]
    for i in range(columns):
        v = A[i:, i].copy()
        norm = np.sqrt((v * v).sum())
        v[0] += norm if v[0] > 0 else -norm
        v /= np.sqrt((v * v).sum())
        A[i:, i:] -= 2 * np.outer(v, v @ A[i:, i:])
    solution = np.zeros((columns, efforts.shape[1]), dtype=np.longdouble)
    for i in range(columns - 1, -1, -1):
        solution[i] = (A[i, columns:] - A[i, i + 1 : columns] @ solution[i + 1 :]) / A[i, i]
    return solution.astype(np.float64)


def _ours(arm: Arm, signals: tuple[Array, Array, Array], efforts: Array) -> Array | None:
    solutions = []
    for effort in efforts.T:
        tau = effort.reshape(-1, arm.joints).T
        segment = FilteredSegment(np.arange(tau.shape[1]) / 1000.0, *signals, tau, 1e-3)
        factors = factors_of(arm.base, [segment], processing(arm.joints))
        try:
            solutions.append(ordinary(factors, arm.base.names).values)
        except NotExcitedError:
            return None
    return np.column_stack(solutions)


def _lapack_qr(W: Array, efforts: Array) -> Array:
    r = np.linalg.qr(np.column_stack([W, efforts])).R
    columns = W.shape[1]
    solution: Array = scipy.linalg.solve_triangular(r[:columns, :columns], r[:columns, columns:])
    return solution


def _normal(W: Array, efforts: Array) -> Array:
    try:
        solution: Array = scipy.linalg.cho_solve(scipy.linalg.cho_factor(W.T @ W), W.T @ efforts)
    except np.linalg.LinAlgError:
        return np.full((W.shape[1], efforts.shape[1]), np.inf)
    return solution
