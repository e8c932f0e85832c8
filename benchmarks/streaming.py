"""Streaming identification of a simulated arm with seven joints at 1 kHz, block by block.

Robot, motion and noise are those of ``didim_seven_joints.py``, with positions recorded too.
Printed are the time that a block of samples takes until it is folded in, the time of a refreshed
estimate without and with the standard deviations for coloured residuals, the memory of the process,
and how the last estimate lies to the one of the whole recording.

Usage: streaming.py [--points N] [--block N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # small matrices: more threads would only slow down

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from didim_seven_joints import NOISE, Bench

from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.identification.identify import identify
from robot_identification.identification.rows.growing import StreamingIdentification
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.raw_samples import RawSamples

RATE_HZ = 1000.0
RESOLUTION = 1e-5  # standard deviation of the noise of the positions, rad


def samples(bench: Bench) -> RawSamples:
    """Return noisy samples of the arm along its motion."""
    loop = ClosedLoop(bench.robot, bench.standard, sample_rate_hz=RATE_HZ)
    exact = loop.run(bench.trajectory.reference, bench.trajectory.duration)
    rng = np.random.default_rng(1)
    position = exact.position + RESOLUTION * rng.normal(size=exact.position.shape)
    effort = exact.effort + NOISE * rng.normal(size=exact.effort.shape)
    return RawSamples(np.round(1e9 * exact.time).astype(np.int64), position, None, effort)


def resident_mb() -> float:
    """Return the resident memory of this process, MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measured(bench: Bench, size: int) -> dict[str, Any]:
    """Return the figures of one run."""
    raw = samples(bench)
    options = ProcessingSettings()
    stream = StreamingIdentification(bench.robot, bench.base, "run", overrides=options)
    folding, refreshing, robust, memory = [], [], [], []
    settled = False
    for number, first in enumerate(range(0, len(raw.stamps), size)):
        part = slice(first, first + size)
        block = RawSamples(raw.stamps[part], raw.position[part], None, raw.effort[part])
        begin = time.perf_counter()
        stream.push(block)
        passed = time.perf_counter() - begin
        if settled:
            folding.append(passed)
        settled = settled or stream.rows > 0
        if stream.rows > 2000 and number % 10 == 0:
            for times, with_robust in ((refreshing, False), (robust, True)):
                begin = time.perf_counter()
                stream.result(robust=with_robust)
                times.append(time.perf_counter() - begin)
            memory.append(resident_mb())
    stream.finish()
    result = stream.result()
    names = ("cutoff_hz", "rate_hz", "velocity_threshold")
    same = replace(options, **{n: _plain(result.settings[n]["value"]) for n in names})
    recording = joint_side_recording(raw, bench.robot, source="run")
    begin = time.perf_counter()
    whole = identify(bench.robot, [recording], overrides=same)
    offline = time.perf_counter() - begin
    difference = np.abs(result.estimate.values - whole.estimate.values) / whole.estimate.std
    return {
        "seconds": result.sources[0].duration,
        "block": size,
        "base_parameters": bench.base.rank,
        "rate_hz": result.settings["rate_hz"]["value"],
        "rows": sum(result.estimate.rows),
        "rows_offline": sum(whole.estimate.rows),
        "fold_ms": percentiles(folding),
        "refresh_ms": percentiles(refreshing),
        "refresh_with_robust_ms": percentiles(robust),
        "offline_s": offline,
        "memory_mb_first_last": [memory[0], memory[-1]],
        "largest_difference_in_std": float(difference.max()),
    }


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Return median, 99th percentile and largest of times, ms."""
    values = 1e3 * np.array(seconds)
    return {
        "median": float(np.median(values)),
        "p99": float(np.percentile(values, 99)),
        "largest": float(values.max()),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=60, help="points that the motion visits")
    parser.add_argument("--block", type=int, default=100, help="samples of a block")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bench = Bench.of(options.points)
    measured(bench, options.block)  # compiled code is loaded
    figures = measured(bench, options.block)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name:28s} {value}")


if __name__ == "__main__":
    main()
