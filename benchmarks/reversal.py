"""Why a robot passes the acceleration it is asked for just after a joint reverses.

The simulated TX-40 follows plans as fast as the node allows, for several shares of the limits of
acceleration.  The fastest is then followed again without Coulomb friction, with smaller integration
steps, with a quicker controller, other gains, and a controller that knows the friction.  Printed is
the largest acceleration of every joint over 10 ms as a share of its limit, and the longest time for
which joint 5 stuck while its reference moved on.

Usage: reversal.py
"""

from __future__ import annotations

import os
from dataclasses import replace

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np

from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.errors import SettingError
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.points import PointSettings
from robot_identification.robot.arrays import Array
from robot_identification.robot.experiment import Controller
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.planning.planning import Sources, load_machine

DURATION = 3.0
JOINT = 4
STUCK = 1e-3  # rad/s
ROBOT = load_robot("tx40")
TRUTH = load_values("tx40_simulated", ROBOT, complete=True)
LIMITS = MotionLimits.of(ROBOT)


def fast_plan(share: float) -> Trajectory:
    """Return a plan that uses a share of the acceleration limits."""
    machine = load_machine(Sources("tx40", acceleration_share=share, tracking_error=(0.1,) * 6))
    points = PointSettings(starts=2)
    settings = PlanSettings("dynamic", points, 10, DURATION, np.zeros(6), 0.99)
    return plan(machine.robot, settings).trajectory


def without(*kinds: str) -> Array:
    """Return the true values without some parameters."""
    kept = [not name.startswith(kinds) for name in ROBOT.all_parameter_names]
    return np.where(kept, TRUTH, 0.0)


def gains(stiffness: float) -> Controller:
    """Return the shipped controller with its natural frequencies times a factor."""
    if ROBOT.controller is None:
        raise SettingError("controller", None, "the TX-40 declares one")
    given = dict(ROBOT.controller.gains)
    given["kp"] = tuple(stiffness**2 * value for value in given["kp"])
    given["kd"] = tuple(stiffness * value for value in given["kd"])
    return replace(ROBOT.controller, gains=given)


def computed_torque() -> Controller:
    """Return a controller with an exact model, 150 rad/s."""
    wanted = {"kp": (150.0**2,) * 6, "kd": (300.0,) * 6}
    return replace(gains(1.0), law="computed_torque", gains=wanted)


def follow(text: str, run: Trajectory, loop: ClosedLoop) -> None:
    """Follow a trajectory and print a line."""
    velocity = loop.run(run.reference, run.duration).velocity
    n = round(0.01 * loop.rate_hz)
    share = np.abs(velocity[n:] - velocity[:-n]).max(axis=0) * loop.rate_hz / n
    share /= LIMITS.acceleration
    wanted = run.sample(np.arange(len(velocity)) / loop.rate_hz)[1][:, JOINT]
    stuck = (np.abs(velocity[:, JOINT]) < STUCK) & (np.abs(wanted) > 10.0 * STUCK)
    ends = np.flatnonzero(np.diff(np.concatenate([[0], stuck.astype(int), [0]])))
    longest = (ends[1::2] - ends[::2]).max(initial=0) / loop.rate_hz
    print(f"{text:42s}" + "".join(f"{x:7.3f}" for x in share) + f"{1e3 * longest:8.1f}")


def main() -> None:
    """Print the table."""
    title = "share of the acceleration limit, joint"
    print(f"{title:42s}" + "".join(f"{j:7d}" for j in range(1, 7)) + "   stuck, ms")
    runs = {share: fast_plan(share) for share in (0.8, 0.7, 0.6, 0.5)}
    for share, run in runs.items():
        follow(f"shipped, acceleration_share {share:g}", run, ClosedLoop(ROBOT, TRUTH))
    run = runs[0.8]
    follow("no Coulomb friction", run, ClosedLoop(ROBOT, without("Fc")))
    follow("no Fc5", run, ClosedLoop(ROBOT, without("Fc5")))
    follow("no Fcm6", run, ClosedLoop(ROBOT, without("Fcm6")))
    follow("32 integration steps instead of 1", run, ClosedLoop(ROBOT, TRUTH, substeps=32))
    follow("controller at 8 kHz instead of 2", run, ClosedLoop(ROBOT, TRUTH, rate_hz=8000.0))
    for factor in (0.5, 2.0, 4.0):
        loop = ClosedLoop(ROBOT, TRUTH, controller=gains(factor), rate_hz=16000.0)
        follow(f"natural frequencies times {factor:g}", run, loop)
    exact = computed_torque()
    follow("computed torque, friction known", run, ClosedLoop(ROBOT, TRUTH, controller=exact))
    blind = ClosedLoop(ROBOT, TRUTH, controller=exact, nominal=without("Fc"))
    follow("computed torque, friction not known", run, blind)


if __name__ == "__main__":
    main()
