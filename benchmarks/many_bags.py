"""Very many bags: seconds, memory, and whether the result is the one of a single pass.

Makes bags of a TX-40 that follows random smooth motions at 1 kHz, with noise on the efforts, until
they have the size asked for; then identifies from all of them, and prints seconds, the largest
anonymous resident memory of all processes together, and

  one pass   largest difference of a parameter from that of one process that folds the rows of all
             bags one behind the other into one factor, relative to the largest parameter
  dense QR   likewise, from `numpy.linalg.qr` of the stacked rows of the first bags, some 1e5 rows
  killed     the processes are killed in the middle, by SIGKILL, and the command is given again

Usage: many_bags.py FOLDER [--gigabytes G] [--seconds S] [--workers N] [--parallel N]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.files.bags.joint_states.reading import JOINT_STATES
from robot_identification.files.bags.joint_states.stream import stream_joint_states
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.results import read_result
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.rows.growing_run import StreamedRun
from robot_identification.identification.rows.whole import FactorStream
from robot_identification.parallel.bags import find_bags
from robot_identification.parallel.settings import common_settings
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.raw_samples import RawSamples

ROBOT, VALUES = "tx40", "tx40_simulated"
PERIOD = 1e-3
NOISE = 0.3  # N m
DENSE_ROWS = 100_000
HARMONICS = 4


def main() -> None:
    """Make the bags, identify, compare, print."""
    options = _options()
    bags = _made(options)
    size = sum(bag.size for bag in find_bags(bags))
    print(f"{len(bags)} bags, {size / 1e9:.2f} GB")
    output = options.folder / "result.yaml"
    parts = Path(f"{output}.parts")
    _remove(parts)
    seconds, memory, about = _identify(options, bags, output)
    print(f"identified in {seconds:.0f} s with {options.workers} processes, {memory:.0f} MB")
    print(f"{about['bags']['used']} bags used, {len(about['bags']['skipped'])} left out")
    result = read_result(output).estimate.values
    _remove(parts)
    _identify(options, bags, output, kill_after=0.5 * seconds)
    done = len(list(parts.glob("*.npz")))
    again, _, about = _identify(options, bags, output)
    reused, jobs = about["bags"]["reused_jobs"], about["bags"]["jobs"]
    print(f"killed with {done} of {jobs} parts; the second run took over {reused}: {again:.0f} s")
    _compare("after the kill", read_result(output).estimate.values, result)
    compare_with_one_pass(bags, result)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--seconds", type=float, default=240.0, help="of a bag")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parallel", type=int, default=2, help="processes that make bags")
    return parser.parse_args()


def _made(options: argparse.Namespace) -> list[Path]:
    """Return bags, those made by an earlier call first."""
    folder = options.folder / "bags"
    folder.mkdir(parents=True, exist_ok=True)
    first = _make(folder, 0, options.seconds)
    (bag,) = find_bags([first])
    count = max(round(options.gigabytes * 1e9 / bag.size), 1)
    with ProcessPoolExecutor(options.parallel) as pool:
        numbers = range(count)
        return list(
            pool.map(_make, [folder] * count, numbers, [options.seconds] * count, chunksize=1)
        )


def _make(folder: Path, number: int, seconds: float) -> Path:
    path = folder / f"bag_{number:05}"
    if not path.exists():
        stamps, position, effort = _motion(number, round(seconds / PERIOD))
        samples = RawSamples(stamps, position, None, effort)
        storage: Any = "sqlite3" if number % 2 else "mcap"
        write_joint_states(path, load_robot(ROBOT).joint_names, samples, storage=storage)
    return path


def _motion(seed: int, count: int) -> tuple[Any, Array, Array]:
    robot = load_robot(ROBOT)
    rng = np.random.default_rng(seed)
    shape = (len(robot.joints), HARMONICS)
    rate = 2.0 * np.pi * rng.uniform(0.05, 0.8, shape)
    size, phase = rng.uniform(0.1, 0.4, shape), rng.uniform(0.0, 2.0 * np.pi, shape)
    time_ = np.arange(count) * PERIOD
    q, qd, qdd = (np.empty((count, shape[0])) for _ in range(3))
    for j in range(shape[0]):
        angle = rate[j] * time_[:, None] + phase[j]
        q[:, j] = np.sin(angle) @ size[j]
        qd[:, j] = np.cos(angle) @ (size[j] * rate[j])
        qdd[:, j] = -np.sin(angle) @ (size[j] * rate[j] ** 2)
    effort = inverse_dynamics(robot, load_values(VALUES, robot), q, qd, qdd)
    effort = effort + NOISE * rng.normal(size=effort.shape)
    stamps = 1_700_000_000_000_000_000 + (np.arange(count) * round(PERIOD * 1e9)).astype(np.int64)
    return stamps, q, effort


def _remove(folder: Path) -> None:
    for file in folder.glob("*.npz"):
        file.unlink()


def _identify(
    options: argparse.Namespace,
    bags: list[Path],
    output: Path,
    kill_after: float | None = None,
) -> tuple[float, float, Any]:
    """Return seconds, largest anonymous memory of all processes in MB, and what was printed."""
    command = [sys.executable, "-m", "robot_identification.cli.main", "identify-many", ROBOT]
    command += [str(bags[0].parent), "-o", str(output), "--workers", str(options.workers), "--json"]
    begin = time.monotonic()
    # A pipe would be full before anyone reads it.
    with tempfile.TemporaryFile() as printed:
        return _watched(command, begin, printed, kill_after)


def _watched(
    command: list[str], begin: float, printed: Any, kill_after: float | None
) -> tuple[float, float, Any]:
    process = subprocess.Popen(command, stdout=printed, start_new_session=True)
    largest = 0.0
    while process.poll() is None:
        largest = max(largest, sum(_anonymous(pid) for pid in _family(process.pid)))
        if kill_after is not None and time.monotonic() - begin > kill_after:
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.05)
    seconds = time.monotonic() - begin
    if kill_after is not None:
        return seconds, largest, None
    if process.returncode:
        raise SystemExit("identify-many failed")
    printed.seek(0)
    return seconds, largest, json.load(printed)


def _family(pid: int) -> list[int]:
    """Return the processes of a session; those of Dask have sessions of their own, or not."""
    found, waiting = [], [pid]
    while waiting:
        current = waiting.pop()
        found.append(current)
        waiting += _children(current)
    return found


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").glob("*/children"))
        return [int(child) for task in tasks for child in task.read_text().split()]
    except OSError:
        return []


def _anonymous(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) / 1e3


class Rows:
    """Takes rows into one factor, and keeps them too if asked."""

    def __init__(self, base: BaseParameters, *, keep: bool = False) -> None:
        self._keep = keep
        self._stream = FactorStream(base.robot, base.base_columns)
        self._regressor = Regressor(base.robot, base.base_columns, spare=1)
        self._rank = base.rank
        self.dense: list[list[Array]] = [[] for _ in base.robot.joints]
        self.dense_rows = 0

    def take(self, rows: Array, kept: Any) -> None:
        """Take in rows and which of them count."""
        self._stream.add(rows, kept)
        if not self._keep:
            return
        for own, joint, flags in zip(self.dense, self._regressor.joint_rows, kept, strict=True):
            block = np.zeros((int(flags.sum()), self._rank + 1))
            block[:, joint.columns] = rows[joint.rows][:, flags].T
            block[:, -1] = rows[joint.rows.stop][flags]
            own.append(block)
            self.dense_rows += len(block)

    def factors(self) -> Any:
        """Return the factors of everything taken in."""
        return self._stream.factors()


def compare_with_one_pass(bags: list[Path], values: Array) -> None:
    """Print how far a result is from that of one pass, and one pass from a dense QR."""
    robot = load_robot(ROBOT)
    base = base_parameters(robot)
    described = find_bags(bags)
    processing = common_settings(robot, described, JOINT_STATES, ProcessingSettings())
    rows, part = Rows(base), Rows(base, keep=True)
    for bag in described:
        _one_pass(base, processing, bag.path, rows)
        if part.dense_rows < DENSE_ROWS:
            _one_pass(base, processing, bag.path, part)
    estimate = least_squares.weighted(rows.factors(), base.names, processing.residual_divisor)
    _compare("one pass", values, estimate.values)
    streamed = least_squares.weighted(part.factors(), base.names, processing.residual_divisor)
    _compare(f"dense QR, {part.dense_rows} rows", streamed.values, _dense(part, streamed.weights))


def _one_pass(base: BaseParameters, processing: Processing, bag: str, rows: Rows) -> None:
    regressor = Regressor(base.robot, base.base_columns, spare=1)
    run = StreamedRun(base.robot, regressor, processing, PERIOD, rows.take, prompt=False)
    with stream_joint_states(bag, base.robot.joint_names) as stream:
        for samples in stream.batches():
            run.push(samples.position, samples.effort)
    run.end()


def _dense(rows: Rows, weights: Array) -> Array:
    stacked = np.vstack(
        [np.vstack(own) * weight for own, weight in zip(rows.dense, weights, strict=True)]
    )
    q, r = np.linalg.qr(stacked[:, :-1])
    solution: Array = np.linalg.solve(r, q.T @ stacked[:, -1])
    return solution


def _compare(name: str, values: Array, others: Array) -> None:
    difference = np.abs(values - others).max() / np.abs(others).max()
    print(f"{name}: largest difference {difference:.1e} of the largest parameter")


if __name__ == "__main__":
    main()
