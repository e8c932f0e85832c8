"""The whole least-squares pass: from filtered signals to base parameters, beside Pinocchio.

Ours folds blocks of rows into one triangular factor per joint and solves with these.  The peer
fills W sample by sample and hands it to `numpy.linalg.lstsq`; another one takes the base columns
only and a QR factorisation, with one thread.  Ours and the peer run with one thread and with two,
and each is taken with the number that is quicker in the run.  Nothing is decimated.  Memory is what
a run adds to the resident memory of its own process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.linalg
from passes import factors_of
from threadpoolctl import threadpool_limits

from goals import regressor as regressor_row
from goals import robots
from goals.measuring import (
    Candidate,
    Options,
    Row,
    Times,
    Verdict,
    interleaved,
    quickest,
    ratio,
)
from goals.robots import Arm
from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.identification.estimators.least_squares import Estimate, ordinary
from robot_identification.robot.arrays import Array
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.complete import Processing

TITLE = "whole least-squares pass"
THREADS = {"one thread": 1, "two threads": 2}
OURS = {f"ours, {words}": number for words, number in THREADS.items()}
LSTSQ = {f"Pinocchio loop and lstsq, {words}": number for words, number in THREADS.items()}
QR = "Pinocchio loop and QR of base columns"
_NOISE = 0.1
_MEMORY_FOR_A_MILLION = 11e9  # bytes that the peer needs for 1e6 samples of six joints


def whole_pass(arm: Arm, segment: FilteredSegment, threads: int = 1) -> Estimate:
    """Return the estimate from filtered signals."""
    settings = processing(arm.joints)
    return ordinary(factors_of(arm.base, [segment], settings, threads), arm.base.names)


def processing(joints: int, rate: float = 1000.0) -> Processing:
    """Return settings that keep every row of a recording of 1 kHz, or decimate to a rate."""
    return Processing(
        cutoff_hz=20.0,
        filter_order=4,
        difference_order=2,
        rate_hz=rate,
        velocity_threshold=(0.0,) * joints,
        velocity_threshold_window=0.0,
        velocity_threshold_scope="joint",
        drop_start=0,
        drop_end=0,
        ends="keep",
        residual_divisor="rows-parameters",
    )


def segment_of(arm: Arm, samples: int) -> FilteredSegment:
    """Return a motion with noisy efforts."""
    signals = robots.motion(arm.joints, samples)
    effort = np.empty((arm.joints, samples))
    for first in range(0, samples, 10_000):
        part = slice(first, first + 10_000)
        turned = (signal[:, part].T for signal in signals)
        effort[:, part] = inverse_dynamics(arm.robot, arm.values, *turned).T
    effort += _NOISE * np.random.default_rng(2).normal(size=effort.shape)
    return FilteredSegment(np.arange(samples) / 1000.0, *signals, effort, 1e-3)


def with_lstsq(arm: Arm, segment: FilteredSegment, threads: int) -> Callable[[], Array]:
    """Return the peer that hands all columns to lstsq, with some threads of linear algebra."""
    fill, effort = _filled(arm, segment)

    def work() -> Array:
        W = fill()
        with threadpool_limits(threads):
            solution: Array = np.linalg.lstsq(W.reshape(effort.size, -1), effort, rcond=None)[0]
        return solution

    return work


def with_qr(arm: Arm, segment: FilteredSegment) -> Callable[[], Array]:
    """Return the peer that factorises the base columns."""
    fill, effort = _filled(arm, segment)
    columns = peer_columns(arm)

    def work() -> Array:
        W = fill().reshape(effort.size, -1)[:, columns]
        r = np.linalg.qr(np.column_stack([W, effort]), mode="r")
        solution: Array = scipy.linalg.solve_triangular(r[:-1, :-1], r[:-1, -1])
        return solution

    return work


def _filled(arm: Arm, segment: FilteredSegment) -> tuple[Callable[[], Array], Array]:
    signals = (segment.position, segment.velocity, segment.acceleration)
    turned = np.stack([np.ascontiguousarray(signal.T) for signal in signals])
    return regressor_row.stored_loop(arm, turned), np.ascontiguousarray(segment.effort.T).ravel()


def peer_columns(arm: Arm) -> Array:
    """Return the places of the base columns in the peer's W.

    Pinocchio's ten columns of a link are M, MX MY MZ, XX XY YY XZ YZ ZZ; those of drives and
    friction follow behind all links, kind by kind.
    """
    order = {0: 4, 1: 5, 2: 7, 3: 6, 4: 8, 5: 9, 6: 1, 7: 2, 8: 3, 9: 0}
    joint, kind = np.divmod(arm.base.base_columns, 14)
    return np.array(
        [
            10 * j + order[int(k)] if k < 10 else int(k) * arm.joints + j
            for j, k in zip(joint, kind, strict=True)
        ],
        dtype=np.intp,
    )


def added_memory(samples: int, who: str) -> float:
    """Return the bytes that a run of one candidate adds at its peak to what its process held."""
    line = [sys.executable, "-m", "goals.least_squares", who, str(samples)]
    folder = Path(__file__).resolve().parents[1]
    found = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True)
    return float(json.loads(found.stdout)["bytes"])


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    six = robots.six_joints()
    cases = [(six, 10_000, 20.0), (six, 100_000, 25.0), (six, 1_000_000, 60.0)]
    cases += [(robots.seven_joints(), 10_000, 20.0), (robots.tree(), 2000, 25.0)]
    for arm, samples, wanted in cases[:1] if options.quick else cases:
        _measure(arm, samples, wanted, options, row)
    _memory(options, row)
    return row


def _measure(arm: Arm, samples: int, wanted: float, options: Options, row: Row) -> None:
    case = f"{arm.name}, {samples} samples"
    seldom = samples * arm.joints > 100_000
    rounds = 3 if seldom else options.rounds
    segment = segment_of(arm, samples)
    candidates = [
        Candidate(name, lambda n=n: whole_pass(arm, segment, n), samples, n)
        for name, n in OURS.items()
    ]
    fits = samples * arm.joints < 2e6 or _available() > _MEMORY_FOR_A_MILLION
    if fits:
        candidates += [
            Candidate(name, with_lstsq(arm, segment, n), samples, n, seldom)
            for name, n in LSTSQ.items()
        ]
    else:
        row.remarks.append(f"{case}: too little memory for the peer.")
    if samples * arm.joints < 2e6:
        candidates.append(Candidate(QR, with_qr(arm, segment), samples, seldom=seldom))
    times = interleaved(candidates, rounds)
    row.add_times(case, times, "us per sample", 1e6)
    _check(arm, case, row)
    if fits:
        ours, peer = quickest(times, list(OURS)), quickest(times, list(LSTSQ))
        threads = f"{ours.partition(', ')[2]} beside {peer.rpartition(', ')[2]}"
        goal = "times Pinocchio loop and lstsq, each with its best number of threads"
        reached = ratio(times[peer], times[ours])
        bound = f"{threads}; {_bound(arm, times[ours], options)}"
        row.verdicts.append(Verdict(case, goal, wanted, reached, bound=bound))


def _bound(arm: Arm, times: Times, options: Options) -> str:
    """Return the shares of the machine's limits: reflections touch a tile twice per column pair."""
    columns = _columns_per_joint(arm)
    folding = float(sum(2.0 * (n + 1) * (n + 2) for n in columns))
    operations = regressor_row.operations(arm) + folding
    return options.peaks.share(operations, 8.0 * 4 * arm.joints, times.median)


def _columns_per_joint(arm: Arm) -> list[int]:
    rows = Regressor(arm.robot, arm.base.base_columns).joint_rows
    return [len(joint.columns) for joint in rows]


def _check(arm: Arm, case: str, row: Row) -> None:
    """Say how far ours and the peer are apart for a few samples."""
    few = segment_of(arm, 5000)
    ours, peer = whole_pass(arm, few).values, with_qr(arm, few)()
    apart = np.abs(ours - peer).max() / np.abs(peer).max()
    row.remarks.append(f"{case}: ours and the peer's parameters are {apart:.0e} apart, relatively.")


def _memory(options: Options, row: Row) -> None:
    sizes = (10_000, 20_000) if options.quick else (100_000, 1_000_000)
    needed = [added_memory(samples, "ours") for samples in sizes]
    for samples, found in zip(sizes, needed, strict=True):
        row.add_spread(f"6R, {samples} samples", "memory, ours", [found / 1e6], "MB")
    peer = added_memory(sizes[0], "peer")
    row.add_spread(
        f"6R, {sizes[0]} samples", "memory, Pinocchio loop and lstsq", [peer / 1e6], "MB"
    )
    growth = (needed[1] - needed[0]) / (sizes[1] - sizes[0])
    row.verdicts.append(
        Verdict(
            f"6R, {sizes[0]} to {sizes[1]} samples",
            "bytes that memory grows by per sample beyond the input, at most",
            8.0,
            growth,
            at_least=False,
            bound="blocks of 1024 rows and factors whose size does not grow",
        )
    )


def _available() -> float:
    for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("MemAvailable"):
            return 1024.0 * float(line.split()[1])
    return 0.0


def _report_memory(who: str, samples: int) -> None:
    """Print the bytes that a run adds to the peak memory of this process, as JSON."""
    arm = robots.six_joints()
    small, segment = segment_of(arm, 5000), segment_of(arm, samples)
    run = whole_pass if who == "ours" else (lambda a, s: with_lstsq(a, s, 1)())
    run(arm, small)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak is counted anew
    before = _status_bytes("VmRSS")
    run(arm, segment)
    print(json.dumps({"bytes": _status_bytes("VmHWM") - before}))


def _status_bytes(name: str) -> float:
    """Return an entry of this process's status: VmRSS is the memory now, VmHWM its peak."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return 1024.0 * float(line.split()[1])
    return 0.0


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _report_memory(sys.argv[1], int(sys.argv[2]))
