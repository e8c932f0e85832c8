"""Simulate 20 s of closed loops with friction, beside SciPy with Pinocchio's dynamics.

A TX-40 without its coupling and an arm with seven joints follow a Fourier series under a
proportional-derivative law, with viscous and Coulomb friction.  Ours is the continuous controller
with stick and slip as events, and, apart from it, the controller with a rate.  The peers are RK45
and LSODA of SciPy with Pinocchio's articulated-body algorithm and friction smoothed by tanh(v/eps):
with a sign function they do not get past the first rest.  Errors are the largest distance of a
position, sampled at 1 kHz, from a run of ours at tolerance 1e-12.  All are timed in turn in one
process; medians are printed.  Then the peers are tightened (eps and tolerance together) until they
are as accurate as ours, or a run exceeds the budget.  Times are processor times of the one thread.

Usage: simulation.py [--seconds S] [--rounds N] [--budget S] [--json]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from robot_identification.dynamics.continuous import ContinuousLoop
from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.reference import Reference
from robot_identification.dynamics.simulation import ClosedLoop
from robot_identification.excitation.trajectory import interpolate
from robot_identification.robot.controller import Controller
from robot_identification.robot.loading import load_robot
from robot_identification.robot.model import Array, Joint, JointType, RobotModel
from robot_identification.robot.values import load_values

PIECE = 0.1
SMOOTHINGS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
OURS = (
    "ours, tolerance 1e-6",
    "ours, tolerance 1e-4",
    "ours, tolerance 1e-3",
    "ours, controller of 4 kHz",
)
GOALS = "goals: 50 times RK45, 15 times LSODA, 500 times faster than real time"


class Case:
    """A robot, its parameters, its controller and what it follows."""

    def __init__(self, name: str, robot: RobotModel, values: Array, seconds: float) -> None:
        self.name, self.robot, self.values, self.seconds = name, robot, values, seconds
        joints = len(robot.joints)
        grid = np.random.default_rng(1).uniform(-2.0, 2.0, (2000, joints))
        inertia = DirectModel(robot, values).mass_matrix(grid).diagonal(axis1=1, axis2=2).max(0)
        # 50 rad/s, damping 1.
        self.kp, self.kd = 2500.0 * inertia, 100.0 * inertia
        gains = {"kp": tuple(self.kp), "kd": tuple(self.kd)}
        self.controller = Controller("pid", 4000.0, gains)
        self.reference = fourier_reference(joints, seconds)
        self.start = self.reference.coefficients[0, :, 0]
        self.times = np.arange(round(seconds * 1000.0) + 1) / 1000.0
        self.loop = self.continuous(1e-6)
        self.state = self.loop.at_rest(self.start)
        self.exact = self.ours(1e-12)
        self.model = pinocchio_model(robot, values)
        self.data = self.model.createData()
        self.table = np.moveaxis(
            np.stack([derivative(self.reference.coefficients, k) for k in range(2)]), 3, 1
        )

    def continuous(self, tolerance: float) -> ContinuousLoop:
        """Return our loop."""
        return ContinuousLoop(
            self.robot, self.values, controller=self.controller, tolerance=tolerance
        )

    def ours(self, tolerance: float) -> Array:
        """Return our positions."""
        run = self.continuous(tolerance).run(
            self.reference, self.seconds, times=self.times, state=self.state
        )
        return run.samples.position

    def sampled(self) -> Array:
        """Return our positions with a controller of 4 kHz."""
        loop = ClosedLoop(
            self.robot, self.values, controller=self.controller, sample_rate_hz=1000.0
        )
        return loop.run(self.reference, self.seconds, loop.at_rest(self.start)).position

    def peer(self, method: str, smoothing: float, tolerance: float, budget: float) -> Array | None:
        """Return SciPy's positions with Pinocchio's dynamics, None where it takes too long."""
        joints = len(self.robot.joints)
        own = self.values[: 14 * joints].reshape(joints, 14)
        viscous, coulomb, offset = own[:, 11], own[:, 12], own[:, 13]
        last = self.table.shape[2] - 1
        deadline = time.process_time() + budget

        def rates(t: float, y: Array) -> Array:
            if time.process_time() > deadline:
                raise TimeoutError
            q, qd = y[:joints], y[joints:]
            piece = min(int(t / PIECE), last)
            u = t - piece * PIECE
            wanted, rate = np.array([1.0, u, u * u, u**3, u**4, u**5]) @ self.table[:, :, piece]
            torque = self.kp * (wanted - q) + self.kd * (rate - qd)
            torque -= viscous * qd + coulomb * np.tanh(qd / smoothing) + offset
            return np.concatenate([qd, pin.aba(self.model, self.data, q, qd, torque)])

        begin = np.concatenate([self.start, np.zeros(joints)])
        try:
            solution = solve_ivp(
                rates,
                (0.0, self.seconds),
                begin,
                method,
                t_eval=self.times,
                rtol=tolerance,
                atol=tolerance,
            )
        except TimeoutError:
            return None
        return solution.y[:joints].T

    def error(self, position: Array) -> float:
        """Return the largest distance from the exact positions."""
        return float(np.abs(position - self.exact).max())


def derivative(coefficients: Array, order: int) -> Array:
    """Return the (pieces, joints, 6) coefficients of a derivative."""
    for _ in range(order):
        shifted = np.zeros_like(coefficients)
        shifted[..., :-1] = coefficients[..., 1:] * np.arange(1, coefficients.shape[-1])
        coefficients = shifted
    return coefficients


def fourier_reference(joints: int, seconds: float) -> Reference:
    """Return five harmonics of 0.1 Hz that begin at rest, by quintic pieces."""
    rng = np.random.default_rng(0)
    t = np.arange(round(seconds / PIECE) + 1) * PIECE
    w = 2.0 * np.pi * 0.1 * np.arange(1, 6)
    a = rng.normal(size=(5, joints)) * 0.35 / np.arange(1, 6)[:, None]
    phase = np.outer(t, w)
    position = (1.0 - np.cos(phase)) @ a
    velocity = (np.sin(phase) * w) @ a
    acceleration = (np.cos(phase) * w**2) @ a
    return Reference(t, interpolate(t, position, velocity, acceleration))


def pinocchio_model(robot: RobotModel, values: Array) -> Any:
    """Return Pinocchio's model, drive inertias included."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    for j, joint in enumerate(robot.joints):
        own = values[14 * j : 14 * j + 14]
        placement = pin.SE3(np.array(joint.rotation), np.array(joint.translation))
        index = model.addJoint(joint.antecedent + 1, pin.JointModelRZ(), placement, joint.name)
        mass, centre = own[9], own[6:9] / own[9]
        tensor = np.array(
            [[own[0], own[1], own[2]], [own[1], own[3], own[4]], [own[2], own[4], own[5]]]
        )
        tensor -= mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        model.appendBodyToJoint(index, pin.Inertia(mass, centre, tensor), pin.SE3.Identity())
    model.armature = np.array(values[10 : 14 * len(robot.joints) : 14])
    return model


def tx40(seconds: float) -> Case:
    """Return the TX-40 of config/robots without its coupling."""
    coupled = load_robot("tx40")
    values = np.array(load_values("tx40_simulated", coupled))
    robot = replace(coupled, couplings=(), experiment=None)
    joints = tuple(replace(j, limits=replace(j.limits, effort=None)) for j in robot.joints)
    return Case("6R", replace(robot, joints=joints), values[: 14 * len(joints)], seconds)


def seven_joints(seconds: float) -> Case:
    """Return an arm with seven joints, axes crossing at right angles, of 24 kg."""
    lengths = (0.34, 0.0, 0.40, 0.0, 0.39, 0.0, 0.13)
    masses = (5.0, 5.0, 4.0, 4.0, 3.0, 2.0, 1.0)
    joints, values = [], []
    for j, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        turn = 0.0 if j == 0 else (np.pi / 2 if j % 2 else -np.pi / 2)
        c, s = np.cos(turn), np.sin(turn)
        rotation = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
        place = rotation @ np.array([0.0, 0.0, length])
        name = f"joint_{j + 1}"
        kind = JointType.REVOLUTE
        joints.append(Joint(name, f"link_{j + 1}", kind, j - 1, rotation, place))
        centre = np.array([0.0, 0.04, 0.06])
        tensor = np.diag([0.02, 0.02, 0.01]) * mass / 4.0
        tensor += mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        own = [*tensor[np.triu_indices(3)], *(mass * centre), mass]
        values += [*own, 0.3 / (1 + j), 4.0 / (1 + j), 6.0 / (1 + j), 0.0]
    robot = RobotModel("seven", "base", tuple(joints), np.array([0.0, 0.0, -9.81]))
    return Case("7R", robot, np.array(values), seconds)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long some work took, and its result."""
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def measure(case: Case, rounds: int, budget: float) -> dict[str, Any]:
    """Return the figures of a robot."""
    runs: dict[str, Callable[[], Any]] = {
        "ours, tolerance 1e-6": lambda: case.ours(1e-6),
        "ours, tolerance 1e-4": lambda: case.ours(1e-4),
        "ours, tolerance 1e-3": lambda: case.ours(1e-3),
        "ours, controller of 4 kHz": case.sampled,
        "RK45, eps 1e-2, tolerance 1e-6": lambda: case.peer("RK45", 1e-2, 1e-6, 1e9),
        "LSODA, eps 1e-2, tolerance 1e-6": lambda: case.peer("LSODA", 1e-2, 1e-6, 1e9),
    }
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    errors: dict[str, float] = {}
    for name in OURS:
        runs[name]()  # compiled
    for _ in range(rounds):
        for name, work in runs.items():
            spent, position = timed(work)
            seconds[name].append(spent)
            errors[name] = case.error(position)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    first = medians["ours, tolerance 1e-6"]
    continuous = [(errors[name], medians[name]) for name in OURS[:3]]
    goal = errors["ours, tolerance 1e-6"]
    return {
        "robot": case.name,
        "seconds": medians,
        "errors": errors,
        "times_faster_than_real_time": {name: case.seconds / medians[name] for name in OURS},
        "ratio_rk45": medians["RK45, eps 1e-2, tolerance 1e-6"] / first,
        "ratio_lsoda": medians["LSODA, eps 1e-2, tolerance 1e-6"] / first,
        "tightened": [
            entry
            for method in ("RK45", "LSODA")
            for entry in tightened(case, method, goal, budget, continuous)
        ],
    }


def tightened(
    case: Case, method: str, goal: float, budget: float, ours: list[tuple[float, float]]
) -> list[dict[str, Any]]:
    """Return what a peer needs as it is tightened; the last entry may have run out of time.

    Its ratio is to the quickest of our runs that is at least as accurate; ``ours`` has the error
    and the seconds of each.
    """
    entries: list[dict[str, Any]] = []
    for smoothing in SMOOTHINGS:
        tolerance = 1e-4 * smoothing
        spent, position = timed(
            lambda eps=smoothing, tol=tolerance: case.peer(method, eps, max(tol, 1e-12), budget)
        )
        error = None if position is None else case.error(position)
        as_accurate = [spent for other, spent in ours if error is None or other <= error]
        entries.append(
            {
                "method": method,
                "eps": smoothing,
                "tolerance": tolerance,
                "seconds": spent,
                "ratio": spent / min(as_accurate, default=np.nan),
                "error": error,
            }
        )
        if error is None or error <= goal:
            break
    return entries


def text(result: dict[str, Any]) -> str:
    """Return the figures of a robot for people."""
    lines = [f"{result['robot']}", f"{'':34s}{'s':>10s}{'error, rad':>14s}"]
    for name, spent in result["seconds"].items():
        lines.append(f"{name:34s}{spent:10.4f}{result['errors'][name]:14.2e}")
    faster = ", ".join(f"{x:.0f}" for x in result["times_faster_than_real_time"].values())
    lines.append(f"ours, times faster than real time: {faster}")
    lines.append(
        f"ratio to ours at 1e-6: RK45 {result['ratio_rk45']:.0f}, LSODA {result['ratio_lsoda']:.0f}"
    )
    for entry in result["tightened"]:
        error = "out of time" if entry["error"] is None else f"{entry['error']:.2e}"
        lines.append(
            f"{entry['method']} eps {entry['eps']:.0e} tolerance {entry['tolerance']:.0e}: "
            f"{entry['seconds']:.2f} s, error {error}, ratio at equal accuracy {entry['ratio']:.0f}"
        )
    return "\n".join(lines)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of a tightened run")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = [
        measure(make(options.seconds), options.rounds, options.budget)
        for make in (tx40, seven_joints)
    ]
    if options.json:
        print(json.dumps(results))
    else:
        print("\n\n".join(text(result) for result in results))
        print(GOALS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
