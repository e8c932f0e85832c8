"""How the error of simulated positions falls with the step, with friction at reversals.

Three robots follow a motion with many reversals under a controller of 1 kHz: three_dof (with
Coulomb friction added), the SCARA and the TX-40 with its coupling.  Errors are the largest distance
of a position at 1 kHz from a run with 256 steps in a period of the controller.

Usage: simulation_convergence.py [--seconds S] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import Any

import numpy as np

from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.reference import Reference
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.excitation.motions.trajectory import interpolate
from robot_identification.robot.arrays import Array
from robot_identification.robot.experiment import Controller
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel

RATE = 1000.0
SUBSTEPS = (1, 2, 4, 8, 16)
FINEST = 256


def robots() -> list[tuple[RobotModel, Array]]:
    """Return the robots, without effort limits, and their parameters."""
    found = []
    for name, parameters in (
        ("three_dof", "three_dof"),
        ("scara", "scara"),
        ("tx40", "tx40_simulated"),
    ):
        robot = load_robot(name)
        values = np.array(load_values(parameters, robot))
        if name == "three_dof":
            values[[11, 25, 39]] = 10.0, 10.0, 5.0
            values[[12, 26, 40]] = 15.0, 15.0, 8.0
        joints = tuple(replace(j, limits=replace(j.limits, effort=None)) for j in robot.joints)
        found.append((replace(robot, joints=joints), values))
    return found


def motion(joints: int, seconds: float) -> Reference:
    """Return two sines a joint, by quintic pieces of 50 ms, at rest at the start."""
    t = np.arange(round(seconds / 0.05) + 1) * 0.05
    slow = 2.0 * np.pi * (0.5 + 0.11 * np.arange(joints))
    fast = 2.7 * slow
    position = 0.3 * (1.0 - np.cos(np.outer(t, slow))) + 0.1 * (1.0 - np.cos(np.outer(t, fast)))
    velocity = 0.3 * slow * np.sin(np.outer(t, slow)) + 0.1 * fast * np.sin(np.outer(t, fast))
    acceleration = 0.3 * slow**2 * np.cos(np.outer(t, slow))
    acceleration += 0.1 * fast**2 * np.cos(np.outer(t, fast))
    return Reference(t, interpolate(t, position, velocity, acceleration))


def law(robot: RobotModel, values: Array) -> Controller:
    """Return a proportional-derivative law of 60 rad/s, damping 1."""
    grid = np.random.default_rng(0).uniform(-2.0, 2.0, (500, len(robot.joints)))
    inertia = DirectModel(robot, values).mass_matrix(grid).diagonal(axis1=1, axis2=2).max(0)
    gains = {"kp": tuple(3600.0 * inertia), "kd": tuple(120.0 * inertia)}
    return Controller("pid", RATE, gains)


def measure(robot: RobotModel, values: Array, seconds: float) -> dict[str, Any]:
    """Return the errors of a robot."""
    reference = motion(len(robot.joints), seconds)
    controller = law(robot, values)

    def position(substeps: int) -> Array:
        loop = ClosedLoop(robot, values, controller=controller, substeps=substeps)
        return loop.run(reference, seconds, loop.at_rest(reference.coefficients[0, :, 0])).position

    finest = position(FINEST)
    errors = {str(1e3 / RATE / n): float(np.abs(position(n) - finest).max()) for n in SUBSTEPS}
    return {"robot": robot.name, "errors": errors}


def text(result: dict[str, Any]) -> str:
    """Return the errors for people."""
    pairs = "  ".join(f"{float(k):g} ms: {error:.1e}" for k, error in result["errors"].items())
    return f"{result['robot']:10s} {pairs}"


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = [measure(robot, values, options.seconds) for robot, values in robots()]
    print(json.dumps(results) if options.json else "\n".join(text(result) for result in results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
