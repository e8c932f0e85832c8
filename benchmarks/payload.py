"""Payload and drive gains of a simulated arm, over ten seeds of the noise.

A robot of this package, with its shipped true parameters, follows a trajectory twice: bare, and
with a payload of 2 kg (or --mass) whose centre of mass lies --lever off the last axis.  Every seed
adds other white noise to positions and efforts.  Payloads are identified from recordings made with
the true drive gains; gains from recordings whose true gains are 0.9 to 1.1 times the believed ones.

Largest errors are those of the worst seed and the worst entry; "inside" is the share of 95 %
intervals that hold the truth.

Usage: payload.py ROBOT TRAJECTORY [--noise-effort S[,S...]] [--noise-position S] [--rate HZ]
       [--mass KG] [--lever M] [--seeds N]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.simulated_recording import (
    SimulationSettings,
    simulated_recording,
)
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.identification.payload.calibrate_drives import identify_drive_gains
from robot_identification.identification.payload.drive_gains import GAIN_METHODS
from robot_identification.identification.payload.identify import identify_payload
from robot_identification.identification.payload.known import KnownPayload
from robot_identification.robot.arrays import Array
from robot_identification.robot.bodies import Body
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import mounting
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.recording import Recording

CENTRAL = np.array([[0.003, 2.5e-4, -2e-4], [2.5e-4, 0.0035, 1.5e-4], [-2e-4, 1.5e-4, 0.002]])
FACTORS = (1.08, 0.93, 1.05, 0.9, 1.1, 0.95)
DURATION = 20.0


def main() -> None:
    """Run the study and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robot")
    parser.add_argument("trajectory", type=Path)
    parser.add_argument("--noise-effort", default="0", metavar="S[,S...]")
    parser.add_argument("--noise-position", type=float, default=1e-5)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--mass", type=float, default=2.0)
    parser.add_argument("--lever", type=float, default=0.08)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    robot = load_robot(options.robot)
    body = Body(options.mass, np.array([options.lever, -0.02, 0.06]), options.mass * CENTRAL)
    runs = Runs(robot, read_trajectory(options.trajectory), body, options)
    found = {"payload": payload_study(runs), **gain_studies(runs)}
    print(json.dumps(found, indent=2))


class Runs:
    """Simulated recordings of the robot without and with its payload."""

    def __init__(
        self, robot: RobotModel, trajectory: Trajectory, body: Body, options: argparse.Namespace
    ) -> None:
        self.robot, self.body, self.seeds = robot, body, range(options.seeds)
        self.mounting = mounting(robot)
        self._trajectory, self._options = trajectory, options
        bare = load_values(f"{robot.name}_simulated", robot)
        self._values = (bare, self.mounting.with_body(bare, body))

    def pair(self, seed: int, factors: tuple[float, ...] = (1.0,)) -> tuple[Recording, Recording]:
        """Return a bare and a loaded recording with the noise of a seed."""
        bare, loaded = (self._recording(i, 2 * seed + i, factors) for i in range(2))
        return bare, loaded

    def _recording(self, loaded: int, seed: int, factors: tuple[float, ...]) -> Recording:
        options = self._options
        settings = SimulationSettings(
            rate_hz=options.rate,
            duration=DURATION,
            position_noise=(options.noise_position,),
            effort_noise=tuple(float(s) for s in options.noise_effort.split(",")),
            seed=seed,
            drive_gain_factors=factors,
        )
        run = simulated_recording(self.robot, self._values[loaded], self._trajectory, settings)
        return joint_side_recording(run.samples, self.robot, source=f"run {seed}")


def payload_study(runs: Runs) -> dict[str, Any]:
    """Return the errors of the payload."""
    body = runs.body
    truth = np.array([body.mass, *body.centre, *body.inertia[np.triu_indices(3)]])
    errors, inside, deviations, seconds = [], [], [], []
    for seed in runs.seeds:
        bare, loaded = runs.pair(seed)
        begin = time.monotonic()
        found = identify_payload(runs.robot, [bare], [loaded], runs.mounting).estimate.body
        seconds.append(time.monotonic() - begin)
        errors.append(found.values - truth)
        deviations.append(found.std)
        inside.append((found.lower <= truth) & (truth <= found.upper))
    error, std = np.array(errors), np.array(deviations).mean(axis=0)
    return {
        "mass_error_percent": _largest(100.0 * error[:, 0] / body.mass),
        "centre_error_mm": _largest(1e3 * np.linalg.norm(error[:, 1:4], axis=1)),
        "inertia_error": _largest(error[:, 4:]),
        "std": {"mass": std[0], "centre": std[1:4].tolist(), "inertia": std[4:].tolist()},
        "inside": float(np.mean(inside)),
        "seconds": float(np.median(seconds)),
    }


def gain_studies(runs: Runs) -> dict[str, Any]:
    """Return the errors of the gains, by method and by what is known of the payload."""
    body = runs.body
    known = {
        "all": KnownPayload(body.mass, body.centre, body.inertia),
        "mass": KnownPayload(body.mass),
    }
    studies: dict[tuple[str, str], list[tuple[Array, Array]]]
    studies = {("all", method): [] for method in GAIN_METHODS} | {("mass", GAIN_METHODS[0]): []}
    for seed in runs.seeds:
        bare, loaded = runs.pair(seed, FACTORS)
        for (what, method), found in studies.items():
            result = identify_drive_gains(
                runs.robot, [bare], [loaded], runs.mounting, known[what], method=method
            )
            found.append((result.estimate.factors, result.estimate.std))
    return {
        f"gains, {what} known, {method}": _gain_errors(np.array(found))
        for (what, method), found in studies.items()
    }


def _gain_errors(found: Array) -> dict[str, Any]:
    relative = found[:, 0] / FACTORS - 1.0
    deviations = found[:, 1] / FACTORS
    return {
        "largest_percent": (100.0 * np.abs(relative).max(axis=0)).round(3).tolist(),
        "mean_percent": (100.0 * relative.mean(axis=0)).round(3).tolist(),
        "std_percent": (100.0 * deviations.mean(axis=0)).round(3).tolist(),
        "inside": float((np.abs(relative) <= 1.96 * deviations).mean()),
    }


def _largest(values: Array) -> float:
    return float(np.abs(values).max())


if __name__ == "__main__":
    main()
