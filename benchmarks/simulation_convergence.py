"""How the error of simulated positions falls with step and tolerance, with friction at reversals.

Three robots follow a motion with many reversals: three_dof (with Coulomb friction added), the SCARA
and the TX-40 with its coupling.  Errors are the largest distance of a position at 1 kHz from a run
at the tightest setting: the fixed step from one of 256 steps per period of the controller, the
adaptive steps and the smoothed friction from tolerance 1e-12.  The smoothed friction is tanh(v/eps)
under LSODA of SciPy at tolerance 1e-10: what remains is the error of the smoothing.

Usage: simulation_convergence.py [--seconds S] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from robot_identification.dynamics.continuous import ContinuousLoop
from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.reference import Reference, sample
from robot_identification.dynamics.simulation import ClosedLoop
from robot_identification.excitation.trajectory import interpolate
from robot_identification.robot.controller import Controller
from robot_identification.robot.loading import load_robot
from robot_identification.robot.model import Array, RobotModel
from robot_identification.robot.values import load_values

RATE = 1000.0
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
SUBSTEPS = (1, 2, 4, 8, 16)
SMOOTHINGS = (1e-2, 1e-3, 1e-4)


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


def smoothed(
    robot: RobotModel, values: Array, controller: Controller, reference: Reference, eps: float
) -> Array:
    """Return positions at 1 kHz with Coulomb friction smoothed by tanh(v / eps)."""
    loop = ContinuousLoop(robot, values, controller=controller)
    without = values.copy()
    without[12 : 14 * len(robot.joints) : 14] = 0.0
    for coupling in robot.couplings:
        if coupling.kind.value == "coulomb":
            without[robot.all_parameter_names.index(coupling.parameter)] = 0.0
    direct = DirectModel(robot, without)
    joints = len(robot.joints)
    kp, kd = (np.array(controller.gains[name]) for name in ("kp", "kd"))

    def rates(t: float, y: Array) -> Array:
        q, qd = y[:joints], y[joints:]
        wanted, rate = (signal[0] for signal in sample(reference, [t])[:2])
        share = np.tanh(loop.plant.motion @ qd / eps)
        torque = kp * (wanted - q) + kd * (rate - qd) - share @ loop.plant.action
        return np.concatenate([qd, direct.accelerations(q, qd, torque)[0]])

    end = float(reference.knots[-1])
    begin = np.concatenate([reference.coefficients[0, :, 0], np.zeros(joints)])
    times = np.arange(round(end * RATE) + 1) / RATE
    solution = solve_ivp(
        rates, (0.0, end), begin, "LSODA", t_eval=times, rtol=1e-10, atol=1e-10, max_step=0.05
    )
    return solution.y[:joints].T


def measure(robot: RobotModel, values: Array, seconds: float) -> dict[str, Any]:
    """Return the errors of a robot."""
    reference = motion(len(robot.joints), seconds)
    controller = law(robot, values)
    start = reference.coefficients[0, :, 0]

    def adaptive(tolerance: float) -> tuple[Array, int]:
        loop = ContinuousLoop(robot, values, controller=controller, tolerance=tolerance)
        run = loop.run(reference, seconds, state=loop.at_rest(start))
        return run.samples.position, run.certificate.events

    def fixed(substeps: int) -> Array:
        loop = ClosedLoop(robot, values, controller=controller, substeps=substeps)
        return loop.run(reference, seconds, loop.at_rest(start)).position

    exact, events = adaptive(1e-12)
    finest = fixed(256)

    def distance(position: Array, truth: Array) -> float:
        return float(np.abs(position - truth).max())

    return {
        "robot": robot.name,
        "events": events,
        "adaptive": {str(tol): distance(adaptive(tol)[0], exact) for tol in TOLERANCES},
        "fixed": {str(1e3 / RATE / n): distance(fixed(n), finest) for n in SUBSTEPS},
        "smoothed": {
            str(eps): distance(smoothed(robot, values, controller, reference, eps), exact)
            for eps in SMOOTHINGS
        },
        "rate": distance(finest, exact),
    }


def text(result: dict[str, Any]) -> str:
    """Return the errors for people."""
    lines = [f"{result['robot']}: {result['events']} changes of stick and slip"]
    for name, unit in (
        ("adaptive", "tolerance"),
        ("fixed", "step, ms"),
        ("smoothed", "eps, rad/s"),
    ):
        pairs = "  ".join(f"{float(k):g}: {error:.1e}" for k, error in result[name].items())
        lines.append(f"  {name:9s} ({unit}) {pairs}")
    lines.append(f"  controller of 1 kHz against the continuous one: {result['rate']:.1e}")
    return "\n".join(lines)


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
