"""DIDIM on a simulated arm with seven joints, from the regular start.

The arm is the Panda of example-robot-data: geometry and bodies are those of its URDF, with the
fingers fixed; drive inertias, friction, offsets and controller are chosen here.  It follows random
points under a PID controller at 1 kHz with feed-forward of the inertia; efforts are recorded at
500 Hz with white noise, positions are not.

Printed are the torque error of every step and joint beside the noise floor, and how the parameters
with a standard deviation below 5 % lie to the truth: within 1 % or three deviations.

Usage: didim_seven_joints.py [--points N] [--seeds N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # small matrices: more threads would only slow down

import re
import time
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.errors import ModelMismatchError, NotConvergedError
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.didim.run import identify_didim
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.arrays import Array
from robot_identification.robot.experiment import Controller
from robot_identification.robot.files.urdf.prior import values_of_urdf
from robot_identification.robot.files.urdf.robot import parse_urdf
from robot_identification.robot.model import EffortMeaning, RobotModel
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording

URDF = "cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf"
ACCELERATION = (15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0)  # rad/s^2, of the manufacturer
DRIVES = {
    "Ia": (0.6, 0.6, 0.5, 0.5, 0.2, 0.2, 0.2),
    "Fv": (4.0, 4.0, 3.0, 3.0, 1.5, 1.5, 1.2),
    "Fc": (3.0, 3.0, 2.5, 2.5, 1.2, 1.2, 0.8),
    "off": (0.3, -0.2, 0.1, 0.0, 0.1, -0.1, 0.05),
}
FREQUENCY = np.array([50.0] * 4 + [80.0] * 3)  # rad/s, at damping 1
INTEGRAL = 0.1  # of the cube of the natural frequency
CONTROL_HZ, SAMPLES_HZ = 1000.0, 500.0
NOISE = np.array([0.3] * 4 + [0.1] * 3)  # N m
TRUSTED_PERCENT = 5.0


@dataclass(frozen=True)
class Bench:
    """The arm, its true parameters, and the motion that it follows."""

    robot: RobotModel
    base: BaseParameters
    standard: Array
    trajectory: Trajectory

    @classmethod
    def of(cls, points: int) -> Bench:
        """Return the Panda with a drive for every joint, and a motion through some points."""
        robot, standard = panda()
        plan = random_points(robot, RandomPointsSettings(points=points, draws=20, seed=7))
        return cls(robot, base_parameters(robot), standard, plan.trajectory)

    @property
    def truth(self) -> Array:
        """True base parameters."""
        return self.base.values(self.standard[self.base.columns])

    def recording(self, seed: int) -> Recording:
        """Return the efforts that are recorded."""
        loop = ClosedLoop(self.robot, self.standard, sample_rate_hz=SAMPLES_HZ)
        samples = loop.run(self.trajectory.reference, self.trajectory.duration)
        noise = NOISE * np.random.default_rng(seed).normal(size=samples.effort.shape)
        stamps = np.round(samples.time * 1e9).astype(np.int64)
        nowhere = np.full(samples.position.shape, np.nan)
        raw = RawSamples(stamps, nowhere, None, samples.effort + noise)
        return build_recording(raw, self.robot.joint_names, positions_needed=False)

    def didim(self, recording: Recording) -> IdentificationResult:
        """Return the result from the regular start, whatever the verdict."""
        references = [self.trajectory.reference]
        try:
            return identify_didim(self.robot, [recording], references, base=self.base)
        except (NotConvergedError, ModelMismatchError) as error:
            if error.result is None:
                raise
            return error.result


def panda() -> tuple[RobotModel, Array]:
    """Return the arm without moving fingers, and the values of its standard parameters."""
    package = metadata.distribution("example-robot-data")
    text = Path(str(package.locate_file(URDF))).read_text()
    text = re.sub(r'(name="panda_finger_joint\d" type=)"prismatic"', r'\1"fixed"', text)
    text = re.sub(r"<mimic[^>]*/>", "", text)
    robot = parse_urdf(text, "panda").robot
    values = values_of_urdf(text, robot).copy()
    place = {name: i for i, name in enumerate(robot.all_parameter_names)}
    for kind, chosen in DRIVES.items():
        for number, value in enumerate(chosen, 1):
            values[place[f"{kind}{number}"]] = value
    joints = tuple(
        replace(joint, limits=replace(joint.limits, acceleration=limit))
        for joint, limit in zip(robot.joints, ACCELERATION, strict=True)
    )
    stated = replace(robot, joints=joints, effort_meaning=EffortMeaning.JOINT_TORQUE)
    return replace(stated, controller=controller(stated, values)), values


def controller(robot: RobotModel, values: Array) -> Controller:
    """Return a PID controller for the largest inertia of every joint."""
    lower, upper = (
        [getattr(joint.limits, end) for joint in robot.joints] for end in ("lower", "upper")
    )
    grid = np.random.default_rng(1).uniform(lower, upper, (2000, len(robot.joints)))
    mass = DirectModel(robot, values).mass_matrix(grid)
    inertia = mass.diagonal(axis1=1, axis2=2).max(axis=0)
    gains = {
        "kp": inertia * FREQUENCY**2,
        "ki": INTEGRAL * inertia * FREQUENCY**3,
        "kd": 2.0 * inertia * FREQUENCY,
        "acceleration_feedforward": inertia,
    }
    stated = {name: tuple(gain.tolist()) for name, gain in gains.items()}
    return Controller("pid", CONTROL_HZ, stated)


def measured(bench: Bench, seed: int) -> dict[str, Any]:
    """Return the figures of one run."""
    recording = bench.recording(seed)
    wall, cpu = time.perf_counter(), time.process_time()
    result = bench.didim(recording)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    estimate, truth = result.estimate, bench.truth
    error = np.abs(estimate.values - truth)
    std = estimate.std if estimate.std_robust is None else estimate.std_robust
    std = np.fmax(estimate.std, std)
    trusted = 100.0 * std < TRUSTED_PERCENT * np.abs(estimate.values)
    near = (error <= 0.01 * np.abs(truth)) | (error <= 3.0 * std)
    return {
        "seconds_of_motion": recording.duration,
        "parameters": len(truth),
        "start": result.history.start,
        "verdict": result.history.verdict,
        "iterations": result.iterations,
        "simulations": result.history.simulations,
        "torque_error": [
            [step.torque_error.total, *step.torque_error.joints.tolist()]
            for step in result.history.iterations
        ],
        "noise_floor": result.history.noise_floor.tolist(),
        "trusted": int(trusted.sum()),
        "trusted_and_near": int((trusted & near).sum()),
        "wall": wall,
        "cpu": cpu,
    }


def show(rows: list[dict[str, Any]]) -> None:
    """Print the tables."""
    for seed, row in enumerate(rows):
        print(
            f"seed {seed}: {row['seconds_of_motion']:.1f} s of motion, {row['parameters']} base "
            f"parameters, start: {row['start']}\n{row['verdict']} in "
            f"{row['iterations']} iterations and {row['simulations']} simulations, "
            f"{row['wall']:.2f} s ({row['cpu']:.2f} s of CPU)\n"
            f"{row['trusted']} parameters with a standard deviation below {TRUSTED_PERCENT:g} %, "
            f"{row['trusted_and_near']} of them near the truth\n"
            "step   torque error: total, joints"
        )
        for number, errors in enumerate(row["torque_error"]):
            print(f"{number:4d}   " + "  ".join(f"{error:.4f}" for error in errors))
        print("noise floor    " + "  ".join(f"{floor:.4f}" for floor in row["noise_floor"]) + "\n")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=9, help="points that the motion passes")
    parser.add_argument("--seeds", type=int, default=3, help="runs, with noise of their own")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    bench = Bench.of(options.points)
    rows = [measured(bench, seed) for seed in range(options.seeds)]
    if options.json:
        print(json.dumps(rows))
    else:
        show(rows)


if __name__ == "__main__":
    main()
