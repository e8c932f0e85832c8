"""How long DIDIM takes, stage by stage: the TX-40 with its coupled wrist, 20 s sampled at 1 kHz.

The robot is simulated under its controller at 2 kHz and identified from the regular start to
convergence, weighted, positions not used.  After a first run, which compiles, runs are timed by the
clock and in seconds of the CPU; a further one under a profiler tells the CPU time of every stage.
Then independent experiments are simulated one after the other and in parallel threads, in turn:
compiled simulations do not hold Python's lock.

Usage: didim_speed.py [--seconds S] [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # small matrices: more threads would only slow down

import cProfile
import pstats
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_identification.dynamics.regressor import Regressor
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.didim.experiments import Experiment, experiments_of
from robot_identification.identification.didim.iteration import Problem
from robot_identification.identification.didim.run import identify_didim
from robot_identification.identification.didim.simulation import explain, simulate, simulate_all
from robot_identification.identification.didim.verdict import measured_noise
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.bands import BandStream
from robot_identification.identification.rows.householder_kernels import fold_rows
from robot_identification.identification.statistics.robust_std import robust_std
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.share import share_directory
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.filters.decimation import Decimator
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording

SAMPLES_HZ = 1000.0
NOISE = np.array([0.8, 0.8, 0.4, 0.2, 0.2, 0.12])  # N m
GOAL = "goal: 20 s at 1 kHz, six joints, under 1 s after the first run"
EXPERIMENTS = (2, 4)
STAGES: dict[str, Callable[..., Any]] = {
    "simulation": ClosedLoop.advance,
    "accelerations and shares of friction": explain,
    "regressor": Regressor.compact,
    "decimation": Decimator.decimate_window,
    "triangular factors": fold_rows.py_func,
    "least squares": Problem.solve,
    "inertias": Problem.inertia,
    "bands of the last fit": BandStream.add,
    "robust standard deviations": robust_std,
    "noise floor": measured_noise,
}


@dataclass(frozen=True)
class Bench:
    """The robot, what was recorded of it, and what it followed."""

    robot: RobotModel
    base: BaseParameters
    standard: Array
    trajectory: Trajectory
    recording: Recording

    @classmethod
    def of(cls, seconds: float) -> Bench:
        """Return the TX-40 along the first seconds of its motion."""
        robot = load_robot("tx40")
        standard = load_values("tx40_simulated", robot)
        path = share_directory() / "config" / "trajectories" / "tx40.yaml"
        trajectory = read_trajectory(path).reordered(robot.joint_names)
        loop = ClosedLoop(robot, standard, sample_rate_hz=SAMPLES_HZ)
        samples = loop.run(trajectory.reference, seconds)
        noise = NOISE * np.random.default_rng(0).normal(size=samples.effort.shape)
        stamps = np.round(samples.time * 1e9).astype(np.int64)
        nowhere = np.full(samples.position.shape, np.nan)
        raw = RawSamples(stamps, nowhere, None, samples.effort + noise)
        recording = build_recording(raw, robot.joint_names, positions_needed=False)
        return cls(robot, base_parameters(robot), standard, trajectory, recording)

    def identify(self) -> IdentificationResult:
        """Return the result of DIDIM."""
        references = [self.trajectory.reference]
        return identify_didim(self.robot, [self.recording], references, base=self.base)

    def experiment(self) -> Experiment:
        """Return the experiment to simulate."""
        return experiments_of([self.recording], [self.trajectory.reference])[0]


def clocked(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what some work gives, and how long it took by the clock and on the CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def stages(bench: Bench) -> dict[str, float]:
    """Return the CPU seconds of every stage of a run; a stage may be part of another one."""
    profile = cProfile.Profile(time.thread_time)
    profile.runcall(bench.identify)
    found = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    seconds = {}
    for name, function in STAGES.items():
        code = function.__code__
        entry = found.get((code.co_filename, code.co_firstlineno, code.co_name))
        seconds[name] = 0.0 if entry is None else entry[3]
    run = identify_didim.__code__
    whole = found[run.co_filename, run.co_firstlineno, run.co_name][3]
    return {**seconds, "everything else": whole - sum(seconds.values()), "whole": whole}


def in_threads(bench: Bench, rounds: int) -> dict[int, dict[str, float]]:
    """Return the seconds of simulating several experiments, apart and together."""
    figures = {}
    for count in EXPERIMENTS:
        experiments = [bench.experiment()] * count

        def apart(experiments: list[Experiment] = experiments) -> None:
            for experiment in experiments:
                simulate(bench.robot, bench.standard, experiment)

        def together(experiments: list[Experiment] = experiments) -> None:
            simulate_all(bench.robot, bench.standard, experiments)

        apart()
        pairs = [(clocked(apart)[1:], clocked(together)[1:]) for _ in range(rounds)]
        one, many = (np.median([pair[i] for pair in pairs], axis=0) for i in (0, 1))
        figures[count] = {
            "apart": one[0],
            "apart_cpu": one[1],
            "together": many[0],
            "together_cpu": many[1],
            "ratio": statistics.median(a[0] / b[0] for a, b in pairs),
        }
    return figures


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return all figures."""
    bench = Bench.of(options.seconds)
    first = clocked(bench.identify)
    runs = [clocked(bench.identify)[1:] for _ in range(options.rounds)]
    result = first[0]
    return {
        "seconds_of_motion": bench.recording.duration,
        "samples": bench.recording.samples,
        "parameters": bench.base.rank,
        "iterations": result.iterations,
        "simulations": result.history.simulations,
        "first": first[1],
        "wall": statistics.median(wall for wall, _ in runs),
        "cpu": statistics.median(cpu for _, cpu in runs),
        "least_wall": min(wall for wall, _ in runs),
        "least_cpu": min(cpu for _, cpu in runs),
        "stages": stages(bench),
        "threads": in_threads(bench, options.rounds),
        "load": os.getloadavg()[0],
        "cores": os.cpu_count(),
    }


def show(found: dict[str, Any]) -> None:
    """Print the figures."""
    print(
        f"{found['seconds_of_motion']:.1f} s, {found['samples']} samples, {found['parameters']} "
        f"base parameters: {found['iterations']} iterations, {found['simulations']} simulations\n"
        f"median {found['wall']:.2f} s, {found['cpu']:.2f} s of CPU; "
        f"least {found['least_wall']:.2f} s, {found['least_cpu']:.2f} s of CPU; "
        f"first run {found['first']:.2f} s\n"
        f"load {found['load']:.1f} on {found['cores']} cores; {GOAL}\n\nCPU seconds of a run"
    )
    for name, seconds in found["stages"].items():
        print(f"  {name:38s} {seconds:6.3f}  {100.0 * seconds / found['stages']['whole']:5.1f} %")
    print("\nexperiments  one after the other (CPU)  in threads (CPU)  ratio")
    for count, row in found["threads"].items():
        print(
            f"{count:11d}  {row['apart']:12.3f} s ({row['apart_cpu']:.3f} s)  "
            f"{row['together']:7.3f} s ({row['together_cpu']:.3f} s)  {row['ratio']:5.2f}"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="length of the recording")
    parser.add_argument("--rounds", type=int, default=7, help="runs, of which medians are taken")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    found = measured(options)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)


if __name__ == "__main__":
    main()
