"""Braking from the reference beside braking from the measured state, in simulation without DDS.

A robot is stopped at random moments of a planned trajectory.  Its newest state is 3 ms old, carries
the noise of the shipped simulation, and the controller takes the braking trajectory over 3 ms after
its start stamp.  Compared are:

reference   the reference goes on to rest
latest      from the newest position and velocity as they are
at once     from the measured state, carried forward; the lag of the controller is dropped at once
fading      the same; the lag fades out (what the node does)

Worst of all stops: step of the commanded position and velocity, commanded acceleration,
acceleration of the robot over 10 ms, effort, its step in the first 20 ms, velocity and position, as
shares of the declared limits; time to rest as a share of the certified one.  The parameters of the
UR10 are made up: masses of the data sheet, friction and rotors guessed.

Usage: braking_start.py [--stops N] [--seed N]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np
from sensor_msgs.msg import JointState

from robot_identification.dynamics.simulation.fixed_step import ClosedLoop, LoopState
from robot_identification.excitation.motions.braking import brake
from robot_identification.excitation.motions.timing import motion_extrema
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.points import PointSettings
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.ros.messages.common import time_of
from robot_identification.ros.planning.planning import Machine, Sources, load_machine
from robot_identification.ros.supervision.braking import (
    FITTED,
    FITTED_READINGS,
    BrakingLimits,
    Origin,
    Situation,
    stop_motion,
)
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.states import MotionStates

NANOSECONDS = 1_000_000_000
STATE_RATE = 500
STATE_AGE = ARRIVAL = 0.003
NOISE = RESOLUTION = 1e-5
TRACKING = 0.1
_SHORT = 0.02
CASES = (("tx40", 12.0), ("tx40", 3.0), ("three_dof", 12.0), ("ur10", 20.0))
COLUMNS = (
    "q step",
    "v step",
    "command",
    "robot",
    "effort",
    "tau step",
    "velocity",
    "position",
    "rest",
)
Start = Callable[["Case", MotionStates, float], Trajectory]


@dataclass(frozen=True)
class Case:
    """A robot, a plan and its simulation; the reference begins at stamp 0."""

    robot: RobotModel
    machine: Machine
    run: Trajectory
    loop: ClosedLoop
    certified: float

    def limits(self, lag_time: float) -> BrakingLimits:
        """Return the limits of braking."""
        return BrakingLimits(self.machine.limits, self.machine.declared, self.certified, lag_time)


def case(name: str, duration: float) -> Case:
    """Plan as the node does."""
    robot = load_robot(name)
    tracking = (TRACKING,) * len(robot.joints)
    machine = load_machine(Sources(name, tracking_error=tracking))
    points = PointSettings(starts=2)
    settings = PlanSettings("dynamic", points, 10, duration, np.zeros(len(robot.joints)), 0.99)
    found = plan(machine.robot, settings)
    certified = machine.braking_time(found.certificate)
    return Case(robot, machine, found.trajectory, ClosedLoop(robot, values(robot)), certified)


def values(robot: RobotModel) -> Array:
    """Return the true parameters."""
    if robot.name == "ur10":
        return ur10_values(robot)
    file = {"tx40": "tx40_simulated"}.get(robot.name, robot.name)
    return load_values(file, robot)


def ur10_values(robot: RobotModel) -> Array:
    """Return made-up parameters: balls at plausible places."""
    mass = (7.778, 12.93, 3.87, 1.96, 1.96, 0.202)
    x, y, z = (0.02, -0.3, -0.26, 0, 0, 0), (0, 0, 0, 0.01, -0.01, 0), (-0.03, 0.15, 0.04, 0, 0, 0)
    radius = (0.1, 0.3, 0.3, 0.06, 0.06, 0.04)
    drives = {
        "Ia": (3, 3, 1.2, 0.5, 0.4, 0.3),
        "Fv": (15, 15, 8, 3, 3, 3),
        "Fc": (12, 12, 8, 3, 3, 3),
    }
    found: dict[str, float] = {}
    for j, (m, r) in enumerate(zip(mass, radius, strict=True)):
        c = np.array([x[j], y[j], z[j]])
        inertia = m * (c @ c * np.eye(3) - np.outer(c, c)) + 0.4 * m * r**2 * np.eye(3)
        for i, a in enumerate("XYZ"):
            found[f"M{a}{j + 1}"] = m * c[i]
            for k, b in enumerate("XYZ"):
                found[f"{a}{b}{j + 1}"] = inertia[i, k]
        found[f"M{j + 1}"] = m
        found |= {f"{kind}{j + 1}": column[j] for kind, column in drives.items()}
    return np.array([found.get(name, 0.0) for name in robot.all_parameter_names])


def from_latest(case: Case, states: MotionStates, _: float) -> Trajectory:
    """Brake from the newest state as it is."""
    position = states.recent(0.0, 1)[-1].position
    velocity = states.mean_velocity(_SHORT)
    return brake(case.machine.limits, case.run.joint_names, position, velocity)


def braking_from(origin: Origin, lag_time: float) -> Start:
    """Brake as the node does."""

    def start(case: Case, states: MotionStates, now: float) -> Trajectory:
        readings = states.recent(FITTED, FITTED_READINGS)
        situation = Situation.of(case.run, 0, readings, round(now * NANOSECONDS))
        return stop_motion(case.limits(lag_time), situation, origin).trajectory

    return start


STARTS: dict[str, Start] = {
    "reference": braking_from(Origin.REFERENCE, 0.0),
    "latest": from_latest,
    "at once": braking_from(Origin.FOLLOWING, 0.0),
    "fading": braking_from(Origin.FOLLOWING, 1.0),
}


def states_until(
    case: Case, time: Array, q: Array, v: Array, rng: np.random.Generator
) -> MotionStates:
    """Return what was measured until some time, of samples of the controller."""
    states = MotionStates(case.robot.joint_names)
    every = round(case.loop.rate_hz / STATE_RATE)
    for t, position, velocity in zip(time[::every], q[::every], v[::every], strict=True):
        noisy = position + NOISE * rng.standard_normal(position.size)
        message = JointState(
            name=list(case.robot.joint_names),
            position=(np.round(noisy / RESOLUTION) * RESOLUTION).tolist(),
            velocity=velocity.tolist(),
        )
        stamp = round(t * NANOSECONDS)
        message.header.stamp = time_of(stamp)
        states.add(message, Instant(stamp, stamp))
    return states


def study(case: Case, stops: int, rng: np.random.Generator) -> dict[str, Array]:
    """Return the worst of every column for every start."""
    rate, state, done = case.loop.rate_hz, case.loop.settled(case.run.positions[0]), 0
    found: dict[str, list[list[float]]] = {name: [] for name in STARTS}
    motion = np.empty((0, 2, len(case.robot.joints)))
    for moment in np.sort(rng.uniform(0.05, 0.95, stops)) * case.run.duration:
        steps = int((moment + ARRIVAL) * rate) - done
        state, samples = case.loop.advance(state, case.run.reference, steps)
        motion = np.vstack([motion, np.stack([samples.position, samples.velocity], axis=1)])[-1000:]
        time = (done + steps - len(motion) + np.arange(len(motion))) / rate
        done += steps
        known = time <= moment - STATE_AGE
        states = states_until(case, time[known], motion[known, 0], motion[known, 1], rng)
        for name, start in STARTS.items():
            braking = start(case, states, float(moment))
            found[name].append(outcome(case, state, braking, moment, done, motion[-20:, 1]))
    return {name: np.max(rows, axis=0) for name, rows in found.items()}


def outcome(
    case: Case, state: LoopState, braking: Trajectory, now: float, step: int, before: Array
) -> list[float]:
    """Return the columns of one stop; ``before`` holds the velocities until then."""
    rate, limits = case.loop.rate_hz, case.machine.declared
    late = step / rate - now
    reference = braking.reference._replace(origin=step, lead=late)
    _, samples = case.loop.advance(state, reference, round((case.certified + 0.5) * rate))
    there = [values[0] for values in case.run.sample(now + late)]
    taken = [values[0] for values in braking.sample(late)]
    extrema = motion_extrema(braking.coefficients, np.diff(braking.times))
    velocity = np.vstack([before, samples.velocity])
    n = round(0.01 * rate)
    moving = np.flatnonzero((np.abs(samples.velocity) > 0.02).any(axis=1))
    rest = late + (moving[-1] + 1) / rate if moving.size else 0.0
    efforts = samples.effort[: round(0.02 * rate)]
    return [
        float(np.abs(taken[0] - there[0]).max()),
        float(np.abs(taken[1] - there[1]).max()),
        float((np.abs(extrema[2]) / limits.acceleration).max()),
        float((np.abs(velocity[n:] - velocity[:-n]) * rate / n / limits.acceleration).max()),
        float((np.abs(samples.effort) / limits.effort).max()),
        float((np.abs(np.diff(efforts, axis=0)) / limits.effort).max()),
        float((np.abs(samples.velocity) / limits.velocity).max()),
        float((np.abs(samples.position - limits.middle) / limits.half_range).max()),
        rest / case.certified,
    ]


def main() -> None:
    """Print a table for every robot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stops", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name, duration in CASES:
        one = case(name, duration)
        print(f"{name}, {one.run.duration:.1f} s, at rest within {one.certified:.3f} s (certified)")
        print(f"{'':12s}" + "".join(f"{column:>10s}" for column in COLUMNS))
        worst = study(one, options.stops, np.random.default_rng(options.seed))
        for start, row in worst.items():
            print(f"{start:12s}" + "".join(f"{value:10.3f}" for value in row))


if __name__ == "__main__":
    main()
