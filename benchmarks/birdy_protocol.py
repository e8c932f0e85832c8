"""DIDIM beside least squares by the protocol of the BIRDy toolbox, on a 6-axis arm.

The arm is the TX-40 without the coupling of its wrist: 84 standard and 58 base parameters.  It is
simulated for 10 s under its controller at 5 kHz, which works with noisy positions, and recorded at
1 kHz.  For every level of noise there are 25 runs with noise and a start of their own: standard
parameters with a standard deviation of 15 %, drawn again until the mass matrix is positive definite
over the whole range of the joints.  DIDIM gets efforts and reference alone, ends when torque error
and parameters change by less than 2.5 % (Gautier et al. 2013, eq. 34), and has at most 10
iterations.  Least squares gets the positions, filtered as the package does by default.

Printed are, over the runs: how many converged, the largest number of iterations, and medians of
|chi - truth| / |truth| over the base parameters, of the relative torque error, of the evaluations
(passes of the inverse model, and simulations), and of the seconds by the clock and of the CPU.

Usage: birdy_protocol.py [--runs N] [--seconds S] [--position-noise DEG ...]
                         [--torque-noise NM ...] [--cold] [--json]
"""

from __future__ import annotations

import argparse
import json
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # small matrices: more threads would only slow down

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.errors import ModelMismatchError, NotConvergedError
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.didim.loop import inertias, positions_to_look_at
from robot_identification.identification.didim.run import identify_didim
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.starts import Start
from robot_identification.identification.identify import identify
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording

CONTROL_HZ, SAMPLES_HZ = 5000.0, 1000.0
DEVIATION = 0.15
EXCITATION = RandomPointsSettings(points=8, draws=20, seed=1)
SETTINGS = DidimSettings(max_iterations=10, tolerance_error=0.025, tolerance_parameters=0.025)


@dataclass(frozen=True)
class Bench:
    """The arm, its true parameters, and the motion that it follows."""

    robot: RobotModel
    base: BaseParameters
    standard: np.ndarray
    trajectory: Trajectory
    positions: np.ndarray

    @classmethod
    def without_coupling(cls) -> Bench:
        """Return the TX-40 with a drive for every joint."""
        coupled = load_robot("tx40")
        *arm, last = coupled.joints
        alone = replace(last, transmission={last.name: last.transmission[last.name]})
        robot = replace(
            coupled,
            joints=(*arm, alone),
            couplings=(),
            controller=replace(coupled.controller, rate_hz=CONTROL_HZ),
            processing=ProcessingSettings(),
        )
        standard = load_values("tx40_simulated", coupled)[: len(robot.all_parameter_names)]
        trajectory = random_points(robot, EXCITATION).trajectory
        way = trajectory.sample(np.linspace(0.0, trajectory.duration, 1000))[0]
        base = base_parameters(robot)
        return cls(robot, base, standard, trajectory, positions_to_look_at(robot, way))

    @property
    def truth(self) -> np.ndarray:
        """True base parameters."""
        return self.base.values(self.standard[self.base.columns])

    def recording(
        self, seconds: float, position_noise: float, torque_noise: float, seed: int
    ) -> Recording:
        """Return what is recorded of a run; the controller sees noisy positions too.

        The noise of the positions, in rad, acts through the proportional gains.
        """
        rng = np.random.default_rng(seed)
        loop = ClosedLoop(self.robot, self.standard, sample_rate_hz=SAMPLES_HZ)
        reference = self.trajectory.reference
        state = loop.settled(reference.coefficients[0, :, 0])
        steps = round(seconds * CONTROL_HZ) + 1
        seen = position_noise * rng.normal(size=(steps, len(self.robot.joints)))
        parts = []
        for noise in seen:
            state, samples = loop.advance(state, reference, 1, extra=-loop.law.kp * noise)
            if len(samples.time):
                parts.append(samples)
        effort = np.concatenate([part.effort for part in parts])
        position = np.concatenate([part.position for part in parts]) + seen[:: loop.every]
        stamps = np.round(np.concatenate([part.time for part in parts]) * 1e9).astype(np.int64)
        noisy = effort + torque_noise * rng.normal(size=effort.shape)
        return build_recording(RawSamples(stamps, position, None, noisy), self.robot.joint_names)

    def start(self, seed: int) -> tuple[Start, int]:
        """Return a start near the truth, and how many were drawn in vain."""
        rng = np.random.default_rng([seed, 15])
        redraws = 0
        while True:
            drawn = self.standard * (1.0 + DEVIATION * rng.normal(size=self.standard.shape))
            if inertias(self.robot, drawn, self.positions).smallest_eigenvalue > 0.0:
                values = self.base.values(drawn[self.base.columns])
                return Start(f"truth with {DEVIATION:.0%}", values), redraws
            redraws += 1

    def didim(self, recording: Recording, start: Start) -> IdentificationResult:
        """Return the result of DIDIM, whatever the verdict."""
        blind = without_positions(recording)
        try:
            return identify_didim(
                self.robot,
                [blind],
                [self.trajectory.reference],
                start=start,
                settings=SETTINGS,
                base=self.base,
            )
        except (NotConvergedError, ModelMismatchError) as error:
            if error.result is None:
                raise
            return error.result


def without_positions(recording: Recording) -> Recording:
    """Return a recording whose positions nobody measured."""
    segments = (
        replace(segment, position=np.full(segment.position.shape, np.nan))
        for segment in recording.segments
    )
    return replace(recording, segments=tuple(segments))


def timed(bench: Bench, run: Callable[[], IdentificationResult]) -> dict[str, Any]:
    """Return the figures of an identification."""
    wall, computation = time.perf_counter(), time.process_time()
    result = run()
    computation, wall = time.process_time() - computation, time.perf_counter() - wall
    estimate, history = result.estimate, result.history
    last = estimate.relative_error if history is None else history.iterations[-1].torque_error
    truth = bench.truth
    return {
        "converged": result.converged,
        "iterations": result.iterations,
        "parameter_error": float(np.linalg.norm(estimate.values - truth) / np.linalg.norm(truth)),
        "torque_error": last.total,
        "noise_floor": None if history is None else history.noise_floor.tolist(),
        "inverse_models": 1 if history is None else history.simulations,
        "simulations": 0 if history is None else history.simulations,
        "wall": wall,
        "computation": computation,
    }


def run(bench: Bench, recording: Recording, seed: int) -> dict[str, Any]:
    """Return the figures of all methods on one recording."""
    start, redraws = bench.start(seed)

    def least_squares(method: str) -> Callable[[], IdentificationResult]:
        return lambda: identify(bench.robot, [recording], method=method)

    return {
        "redraws": redraws,
        "IDIM-OLS": timed(bench, least_squares("ols")),
        "IDIM-WLS": timed(bench, least_squares("wls")),
        "DIDIM": timed(bench, lambda: bench.didim(recording, start)),
    }


def measured(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the runs of every level of noise."""
    bench = Bench.without_coupling()
    if not options.cold:
        run(bench, bench.recording(min(options.seconds, 2.0), 0.0, 0.05, 0), 0)  # compiles
    cases = []
    for torque_noise in options.torque_noise:
        for position_noise in options.position_noise:
            runs = []
            for seed in range(options.runs):
                recording = bench.recording(
                    options.seconds, np.deg2rad(position_noise), torque_noise, seed
                )
                runs.append(run(bench, recording, seed))
            cases.append(
                {"position_noise": position_noise, "torque_noise": torque_noise, "runs": runs}
            )
    return cases


def show(cases: list[dict[str, Any]]) -> None:
    """Print the table."""
    redrawn = sum(row["redraws"] for row in cases[0]["runs"])
    print(f"{len(cases[0]['runs'])} starts, {redrawn} redrawn")
    print("torque   position            con-    largest     parameter  torque     inverse  simula-")
    print(
        "N m      deg       method    verged  iterations  error      error      models   tions    "
        "wall s  CPU s"
    )
    for case in cases:
        for method in ("IDIM-OLS", "IDIM-WLS", "DIDIM"):
            rows = [row[method] for row in case["runs"]]
            median = {
                name: np.median([row[name] for row in rows])
                for name in rows[0]
                if name != "noise_floor"
            }
            print(
                f"{case['torque_noise']:<7g}  {case['position_noise']:<8g}  {method:8s}  "
                f"{sum(row['converged'] for row in rows):6d}  "
                f"{max(row['iterations'] for row in rows):10d}  "
                f"{median['parameter_error']:9.2e}  {median['torque_error']:9.2e}  "
                f"{median['inverse_models']:7.0f}  {median['simulations']:7.0f}  "
                f"{median['wall']:7.2f}  {median['computation']:5.2f}"
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=25, help="runs for every level of noise")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of a recording")
    noise = {"type": float, "nargs": "+"}
    parser.add_argument("--position-noise", default=[1e-4, 1e-3, 1e-2], help="degrees", **noise)
    parser.add_argument("--torque-noise", default=[0.05, 0.10], help="N m", **noise)
    parser.add_argument("--cold", action="store_true", help="no run before those that are timed")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    cases = measured(options)
    if options.json:
        print(json.dumps(cases))
    else:
        show(cases)


if __name__ == "__main__":
    main()
