"""Parallel decimation by ten, beside `scipy.signal.decimate` on the dense regressor.

Ours decimates what can differ from zero of the base columns, with the efforts, window by window as
identification does.  The peer filters the dense W of all columns, zeros included, forward and
backward with the same filter; another one only the rows that ours decimates.  What ours costs is
also compared with the regressor at the full rate and the factorisation of the decimated rows.
"""

from __future__ import annotations

import numpy as np
import scipy.signal

from goals import regressor as regressor_row
from goals import robots
from goals.least_squares import processing, segment_of
from goals.measuring import Candidate, Options, Row, Verdict, interleaved, ratio
from goals.robots import Arm
from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.rows.householder_kernels import fold_rows
from robot_identification.identification.rows.whole import BLOCK_OUTPUTS
from robot_identification.robot.arrays import Array

TITLE = "parallel decimation"
FACTOR = 10
OURS, DENSE, SPARSE = "ours", "scipy decimate, dense W", "scipy decimate, rows that can differ"
MAKING, FOLDING = "regressor", "factorisation of decimated rows"

# Operations of a sample and row: sixteen sums over pairs of samples; and per kept sample the sums
# of both directions and four modes each way.
_PER_SAMPLE, _PER_KEPT = 17.0, 114.0


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    cases = ((robots.six_joints(), 40_000), (robots.seven_joints(), 40_000))
    for arm, samples in (*cases, (robots.tree(), 20_480)):
        _measure(arm, 10_240 if options.quick else samples, options, row)
    row.remarks.append(
        f"Decimation by {FACTOR}, per input sample.  SciPy's dense W of the tree has 30 x 420 "
        "columns; a fiftieth of them is filtered and the time multiplied."
    )
    return row


def _measure(arm: Arm, samples: int, options: Options, row: Row) -> None:
    segment = segment_of(arm, samples)
    signals = [np.array(s) for s in (segment.position, segment.velocity, segment.acceleration)]
    regressor = Regressor(arm.robot, arm.base.base_columns, spare=1)
    rows = regressor.compact(*signals)
    for joint, effort in zip(regressor.joint_rows, segment.effort, strict=True):
        rows[joint.rows.stop] = effort
    decimator = processing(arm.joints, 1000.0 / FACTOR).decimator(segment.period)
    windows = list(decimator.blocks(samples, BLOCK_OUTPUTS))
    parts = [np.ascontiguousarray(rows[:, w.inputs]) for w in windows]
    decimated = [decimator.decimate_window(p, w) for p, w in zip(parts, windows, strict=True)]
    share = 50 if arm.joints > 7 else 1
    dense = _dense(arm, signals, share)
    spare = np.zeros((regressor.compact_rows, samples))
    candidates = [
        Candidate(
            OURS,
            lambda: [decimator.decimate_window(p, w) for p, w in zip(parts, windows, strict=True)],
            samples,
        ),
        Candidate(
            DENSE,
            lambda: scipy.signal.decimate(dense, FACTOR, ftype="iir", axis=0, zero_phase=True),
            samples / share,
            seldom=arm.joints > 7,
        ),
        Candidate(MAKING, lambda: regressor.compact(*signals, out=spare), samples),
        Candidate(FOLDING, lambda: _fold(regressor, decimated), samples),
    ]
    if arm.joints <= 7:
        few = np.ascontiguousarray(rows)
        candidates.append(
            Candidate(SPARSE, lambda: scipy.signal.decimate(few, FACTOR, ftype="iir"), samples)
        )
    times = interleaved(candidates, min(options.rounds, 5))
    case = f"{arm.name}, {samples} samples"
    row.add_times(case, times, "us per sample", 1e6)
    bound = options.peaks.share(
        regressor.compact_rows * (_PER_SAMPLE + _PER_KEPT / FACTOR),
        8.0 * regressor.compact_rows * (1.0 + 1.0 / FACTOR),
        times[OURS].median,
    )
    row.verdicts.append(
        Verdict(
            case,
            "times scipy decimate on the dense W",
            20.0,
            ratio(times[DENSE], times[OURS]),
            bound=bound,
        )
    )
    others = [a + b for a, b in zip(times[MAKING].seconds, times[FOLDING].seconds, strict=True)]
    cost = float(np.median([a / b for a, b in zip(times[OURS].seconds, others, strict=True)]))
    goal = "cost of decimation over that of regressor and QR"
    row.verdicts.append(Verdict(case, goal, 1.5, cost, at_least=False, bound=bound))
    _check(decimated, rows, row, case)


def _dense(arm: Arm, signals: list[Array], share: int) -> Array:
    """Return the peer's W, (samples, joints x columns), or every ``share``-th of its columns."""
    turned = np.stack([np.ascontiguousarray(s.T) for s in signals])
    W = regressor_row.stored_loop(arm, turned)()
    return np.ascontiguousarray(W.reshape(len(W), -1)[:, ::share])


def _fold(regressor: Regressor, decimated: list[Array]) -> None:
    for joint in regressor.joint_rows:
        size = len(joint.columns) + 1
        triangle = np.zeros((size, size))
        for part in decimated:
            own = np.ascontiguousarray(part[joint.first : joint.rows.stop + 1])
            fold_rows(triangle, own, np.ones(own.shape[1], dtype=np.bool_))


def _check(decimated: list[Array], rows: Array, row: Row, case: str) -> None:
    """Say how far ours and the peer are apart, away from the ends."""
    ours = np.hstack(decimated)[:50]
    peer = scipy.signal.decimate(rows[:50], FACTOR, ftype="iir")
    inner = slice(100, -100)
    apart = np.abs(ours[:, inner] - peer[:, inner]).max() / np.abs(peer).max()
    row.remarks.append(
        f"{case}: ours and SciPy's decimated rows are {apart:.0e} apart, relatively."
    )
