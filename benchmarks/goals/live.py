"""Live: from a block of samples to a refreshed estimate, seven joints at 1 kHz.

The Panda of example-robot-data follows random points.  Blocks of 100 samples are pushed one after
the other; after each the estimate is asked for.  Both are timed together, by the clock: a block
arrives every 100 ms.
"""

from __future__ import annotations

import time

import numpy as np
from didim_seven_joints import Bench
from streaming import samples

from goals.measuring import Options, Row, Verdict
from robot_identification.identification.rows.growing import StreamingIdentification
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.raw_samples import RawSamples

TITLE = "live, 7 joints at 1 kHz"
CASE = "7R, blocks of 100 samples"
_BLOCK, _ROWS, _ROBUST_EVERY = 100, 2000, 10


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    bench = Bench.of(25 if options.quick else 40)
    raw = samples(bench)
    _blocks(bench, raw)  # compiled code is loaded
    pushed, refreshed, robust = _blocks(bench, raw)
    together = np.array(pushed) + np.array(refreshed)
    for name, values in (
        ("samples in", pushed),
        ("estimate", refreshed),
        ("samples in to estimate", list(together)),
        ("estimate with deviations for coloured residuals", robust),
    ):
        row.add_spread(CASE, name, values, "ms")
    bound = "100 rows at the full rate, then a QR of 7 factors and their statistics"
    for name, reached in (
        ("median", float(np.median(together))),
        ("99th percentile", float(np.percentile(together, 99))),
    ):
        goal = f"ms from samples in to estimate, {name}"
        row.verdicts.append(Verdict(CASE, goal, 10.0, reached, at_least=False, bound=bound))
    row.remarks.append(f"{CASE}: {len(together)} blocks; by the clock, other load counts.")
    return row


def _blocks(bench: Bench, raw: RawSamples) -> tuple[list[float], list[float], list[float]]:
    """Return ms of every block, of every estimate, and of some estimates with robust deviations."""
    stream = StreamingIdentification(bench.robot, bench.base, "run", overrides=ProcessingSettings())
    pushed, refreshed, robust = [], [], []
    for first in range(0, len(raw.stamps), _BLOCK):
        part = slice(first, first + _BLOCK)
        block = RawSamples(raw.stamps[part], raw.position[part], None, raw.effort[part])
        begin = time.perf_counter()
        stream.push(block)
        folded = time.perf_counter()
        if stream.rows <= _ROWS:
            continue
        stream.result(robust=False)
        ended = time.perf_counter()
        pushed.append(1e3 * (folded - begin))
        refreshed.append(1e3 * (ended - folded))
        if len(pushed) % _ROBUST_EVERY == 1:
            begin = time.perf_counter()
            stream.result(robust=True)
            robust.append(1e3 * (time.perf_counter() - begin))
    return pushed, refreshed, robust
