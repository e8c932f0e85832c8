"""DIDIM on the simulated SCARA beside the figures of its paper (Gautier et al. 2013, section VI).

The robot file says how the experiment is simulated: motion, noise, seeds.  Printed are

- the iterations from the regular start, for every seed: steps, and the parameters with a standard
  deviation below 5 % that lie within 1 % or three deviations of the truth;
- torque error and state error of every step, beside Table 3 and Figure 11;
- robustness: samples at 0.5 Hz without an anti-alias filter, no filter at 200 Hz (Tables 5, 7), a
  simulated loop of half, a third and a quarter of the bandwidth (Tables 8, 9);
- the output-error method on positions of section III, by Levenberg-Marquardt, on the same data.

Usage: didim_scara.py [--seeds N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # small matrices: more threads would only slow down

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.optimize
import yaml
from passes import factors_of

from robot_identification.dynamics import reference as references
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop, SimulatedSamples
from robot_identification.errors import ModelMismatchError, NotConvergedError, SimulationError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.didim.experiments import experiments_of
from robot_identification.identification.didim.iteration import Iterations
from robot_identification.identification.didim.preparation import first_trial, prepare
from robot_identification.identification.didim.run import identify_didim
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.simulation import explain, simulate
from robot_identification.identification.didim.starts import full_vector, regular
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.share import share_directory
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording

PAPER = Path(__file__).resolve().parents[1] / "test" / "reference" / "scara.yaml"
TRUSTED_PERCENT = 5.0


@dataclass(frozen=True)
class Bench:
    """The simulated robot, what it did, and the truth."""

    robot: RobotModel
    base: BaseParameters
    trajectory: Trajectory
    samples: SimulatedSamples
    acceleration: np.ndarray
    truth: np.ndarray

    @classmethod
    def of(cls, name: str) -> Bench:
        """Simulate the experiment of a robot file."""
        robot, base = load_robot(name), base_parameters(load_robot(name))
        folder = share_directory() / "config" / "trajectories"
        trajectory = read_trajectory(folder / f"{robot.experiment.trajectory}.yaml")
        values = load_values(name, robot)
        loop = ClosedLoop(robot, values, sample_rate_hz=robot.experiment.rate_hz)
        samples = loop.run(trajectory.reference, trajectory.duration)
        acceleration = explain(robot, loop.plant, samples).acceleration
        truth = base.values(values[base.columns])
        return cls(robot, base, trajectory, samples, acceleration, truth)

    def recording(self, seed: int, every: int = 1) -> Recording:
        """Return what the sensors make of it, one sample in ``every``."""
        said, true = self.robot.experiment, self.samples
        rng = np.random.default_rng(seed)
        position = true.position + rng.normal(size=true.position.shape) * said.position_noise
        effort = true.effort + rng.normal(size=true.effort.shape) * said.effort_noise
        stamps = np.round(true.time * 1e9).astype(np.int64)
        raw = RawSamples(stamps[::every], position[::every], None, effort[::every])
        return build_recording(raw, self.robot.joint_names)

    def didim(
        self, recording: Recording, overrides: ProcessingSettings | None = None, **settings: Any
    ) -> IdentificationResult:
        """Return the result from the regular start, whatever the verdict."""
        try:
            return identify_didim(
                self.robot,
                [recording],
                [self.trajectory.reference],
                settings=DidimSettings(**settings),
                overrides=overrides,
            )
        except (NotConvergedError, ModelMismatchError) as error:
            if error.result is None:
                raise
            return error.result


def figures(bench: Bench, result: IdentificationResult) -> dict[str, Any]:
    """Return steps, verdict and errors of a result."""
    estimate = result.estimate
    error = np.abs(estimate.values - bench.truth)
    std = np.fmax(estimate.std, estimate.std_robust)
    near = (error <= 0.01 * np.abs(bench.truth)) | (error <= 3.0 * std)
    trusted = 100.0 * std < TRUSTED_PERCENT * np.abs(estimate.values)
    last = result.history.iterations[-1].torque_error
    return {
        "steps": result.iterations,
        "verdict": result.history.verdict,
        "torque_error": [last.total, *last.joints.tolist()],
        "noise_floor": result.history.noise_floor.tolist(),
        "trusted": int(trusted.sum()),
        "near": int((near & trusted).sum()),
        "error": dict(zip(bench.base.names, (error / np.abs(bench.truth)).tolist(), strict=True)),
        "largest_trusted_error": float((error / np.abs(bench.truth))[trusted].max(initial=0.0)),
        "seconds": result.seconds,
    }


def convergence(bench: Bench, seed: int) -> list[dict[str, Any]]:
    """Return torque error and state errors of every step, (joint 1, joint 2) each."""
    recording = bench.recording(seed)
    problem, first = prepare(
        bench.base,
        [recording],
        [bench.trajectory.reference],
        "regular",
        DidimSettings(),
        None,
        None,
    )
    used = problem.experiments[0].used
    actual = [bench.samples.position, bench.samples.velocity, bench.acceleration]
    followed = references.sample(bench.trajectory.reference, bench.samples.time)
    iterations = Iterations(problem, first_trial(problem, first))
    rows = []
    while True:
        trial = iterations.trial
        (motion,) = trial.segments
        simulated = [motion.position.T, motion.velocity.T, motion.acceleration.T]
        rows.append(
            {
                "torque": trial.torque_error.joints.tolist(),
                "to_actual": relative(simulated, [x[used] for x in actual]),
                "to_reference": relative(simulated, [x[used] for x in followed]),
            }
        )
        if iterations.converged or iterations.failure:
            return rows
        iterations.advance()


def relative(found: list[np.ndarray], true: list[np.ndarray]) -> list[list[float]]:
    """Return the relative norms of the differences of q, qd, qdd, per joint."""
    return [
        (np.linalg.norm(a - b, axis=0) / np.linalg.norm(b, axis=0)).tolist()
        for a, b in zip(found, true, strict=True)
    ]


def without_filter(bench: Bench, seed: int, every: int) -> dict[str, Any]:
    """Return DIDIM and IDIM without any filter, on one sample in ``every``."""
    recording = bench.recording(seed, every)
    raw = ProcessingSettings(rate_hz=1.0 / recording.period, ends="keep", drop_start=0, drop_end=0)
    (segment,) = recording.segments
    q = segment.position.T
    qd = np.gradient(q, recording.period, axis=1)
    qdd = np.gradient(qd, recording.period, axis=1)
    measured = FilteredSegment(segment.time, q, qd, qdd, segment.effort.T, recording.period)
    free = replace(bench.robot, processing=replace(bench.robot.processing, cutoff_hz=None))
    processing = resolve_processing(free, [recording], replace(raw, velocity_threshold=()))
    factors = factors_of(bench.base, [measured], processing)
    idim = least_squares.weighted(factors, bench.base.names)
    error = np.abs(idim.values / bench.truth - 1.0)
    return {
        "rate_hz": 1.0 / recording.period,
        "idim": {
            "torque_error": idim.relative_error.total,
            "error": dict(zip(bench.base.names, error.tolist(), strict=True)),
        },
        "didim": figures(bench, bench.didim(recording, raw)),
    }


def output_error(bench: Bench, seed: int, start: np.ndarray) -> dict[str, Any]:
    """Return the output-error method on positions (section III) from given base parameters."""
    recording = bench.recording(seed)
    (experiment,) = experiments_of([recording], [bench.trajectory.reference])
    measured = recording.segments[0].position
    used = slice(round(0.4 / recording.period), None)
    evaluations = 0

    def residual(values: np.ndarray) -> np.ndarray:
        nonlocal evaluations
        evaluations += 1
        try:
            motion = simulate(bench.robot, full_vector(bench.base, values), experiment)
        except SimulationError:
            return np.full(measured[used].size, 1e3)
        return (motion.position.T - measured)[used].ravel()

    begin = time.monotonic()
    found = scipy.optimize.least_squares(
        residual, start, method="lm", x_scale=np.maximum(np.abs(start), 0.1), diff_step=1e-5
    )
    seconds = time.monotonic() - begin
    error = np.abs(found.x / bench.truth - 1.0)
    return {
        "evaluations": evaluations,
        "seconds": seconds,
        "position_error": float(np.sqrt(2.0 * found.cost / measured[used].size)),
        "success": bool(found.success),
        "error": dict(zip(bench.base.names, error.tolist(), strict=True)),
        "torque_error": torque_error(bench, found.x, recording),
    }


def torque_error(bench: Bench, values: np.ndarray, recording: Recording) -> float:
    """Return the relative torque error of a simulation with the declared gains."""
    experiments = experiments_of([recording], [bench.trajectory.reference])
    processing = resolve_processing(bench.robot, [recording], ProcessingSettings())
    try:
        motion = simulate(bench.robot, full_vector(bench.base, values), experiments[0])
    except SimulationError:
        return float("inf")
    still = replace(processing, velocity_threshold=(0.0, 0.0))
    factors = factors_of(bench.base, [motion], still)
    return least_squares.relative_error(factors, values).total


def measured(seeds: int) -> dict[str, Any]:
    """Return all figures."""
    bench = Bench.of("scara")
    chosen = bench.robot.experiment.seeds[:seeds]
    first = chosen[0]
    start = regular(bench.base, bench.samples.position[::100])[0].values
    return {
        "seeds": [figures(bench, bench.didim(bench.recording(seed))) for seed in chosen],
        "steps": convergence(bench, first),
        "without_filter": [without_filter(bench, first, every) for every in (400, 1)],
        "bandwidth": {
            name: figures(bench, bench.didim(bench.recording(first), bandwidth=share))
            for name, share in (("1", 1.0), ("1/2", 0.5), ("1/3", 1 / 3), ("1/4", 0.25))
        },
        "output_error": {
            "regular": output_error(bench, first, start),
            "truth x 1.3": output_error(bench, first, 1.3 * bench.truth),
        },
    }


def show(found: dict[str, Any]) -> None:
    """Print the tables."""
    paper = yaml.safe_load(PAPER.read_text())["didim_regular_initialisation"]
    print("seed  steps  verdict    torque error  noise floor      < 5 %  near  largest  seconds")
    for seed, row in enumerate(found["seeds"]):
        floor = " ".join(f"{x:.4f}" for x in row["noise_floor"])
        print(
            f"{seed:4d}  {row['steps']:5d}  {row['verdict']:9s}  {row['torque_error'][0]:12.4f}  "
            f"{floor}  {row['trusted']:5d}  {row['near']:4d}  {row['largest_trusted_error']:7.4f}  "
            f"{row['seconds']:7.2f}"
        )
    table = paper["relative_torque_error_by_step"]
    states = "q 1     q 2     qd 1    qd 2    qdd 1   qdd 2"
    print(f"\nstep  torque 1  (paper)  torque 2  (paper)   {states}")
    for k, row in enumerate(found["steps"]):
        said = [table[f"joint{j}"][k] if k < 4 else float("nan") for j in (1, 2)]
        states = "  ".join(f"{x:.4f}" for signal in row["to_actual"] for x in signal)
        print(
            f"{k:4d}  {row['torque'][0]:8.4f}  {said[0]:7.3f}  {row['torque'][1]:8.4f}  "
            f"{said[1]:7.3f}  {states}"
        )
    last = "  ".join(f"{x:.4f}" for s in found["steps"][-1]["to_reference"] for x in s)
    print(f"{'last, to the reference':44s}{last}")
    print(f"paper, to the actual state: {paper['state_error']}")
    print(f"paper, to the reference: {paper['reference_error']}")
    print("\nwithout filter   IDIM torque error  DIDIM torque error  steps  verdict")
    for row in found["without_filter"]:
        print(
            f"{row['rate_hz']:11.4g} Hz  {row['idim']['torque_error']:17.3f}  "
            f"{row['didim']['torque_error'][0]:18.3f}  {row['didim']['steps']:5d}  "
            f"{row['didim']['verdict']}"
        )
        for method in ("idim", "didim"):
            print(f"    {method:5s} errors  " + names_and_errors(row[method]["error"]))
    print("\nbandwidth  steps  torque error (total, joints)   verdict")
    for name, row in found["bandwidth"].items():
        errors = "  ".join(f"{x:.4f}" for x in row["torque_error"])
        print(f"{name:>9s}  {row['steps']:5d}  {errors}         {row['verdict']}")
        print(f"    errors  {names_and_errors(row['error'])}")
    print("\noutput error on positions  evaluations  seconds  torque error  position rms")
    for name, row in found["output_error"].items():
        print(
            f"{'start: ' + name:25s}  {row['evaluations']:11d}  {row['seconds']:7.1f}  "
            f"{row['torque_error']:12.4f}  {row['position_error']:.3g} rad"
        )
        print(f"    errors  {names_and_errors(row['error'])}")


def names_and_errors(errors: dict[str, float]) -> str:
    """Return relative errors of the parameters on one line."""
    return "  ".join(f"{name} {error:.3g}" for name, error in errors.items())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    found = measured(options.seeds)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)


if __name__ == "__main__":
    main()
