"""One joint at a time beside weighted least squares on an optimised motion of the same duration.

    python benchmarks/one_joint.py [ROBOT...]

Every robot is simulated under its declared controller (1 kHz, stick and slip); positions get noise
of 1e-5 rad or m, efforts noise of 2 % of their root mean square.  Printed are the error of the base
parameters as a fraction of their norm, the error of the efforts that they predict on another
motion, and which share of the parameters lies within three stated deviations of the truth.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time

import numpy as np

from robot_identification.dynamics.regressor import Regressor
from robot_identification.dynamics.simulation import ClosedLoop
from robot_identification.excitation.one_joint.plan import plan_one_joint
from robot_identification.excitation.plan import PlanSettings, default_model, plan
from robot_identification.excitation.points import PointSettings
from robot_identification.excitation.random_points import RandomPointsSettings, random_points
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.identification.base import base_parameters
from robot_identification.identification.identify import identify
from robot_identification.robot.loading import load_robot
from robot_identification.robot.model import Array, RobotModel
from robot_identification.robot.values import load_values
from robot_identification.signals.recording import Recording, Segment

VALUES = {"tx40": "tx40_simulated"}
POSITION_NOISE, EFFORT_NOISE = 1e-5, 0.02


def record(
    robot: RobotModel, values: Array, trajectory: Trajectory, rng: np.random.Generator
) -> Recording:
    """Return what sensors say while the declared controller follows a trajectory."""
    loop = ClosedLoop(robot, values)
    run = loop.run(trajectory.reference, trajectory.duration)
    position = run.position + POSITION_NOISE * rng.normal(size=run.position.shape)
    level = EFFORT_NOISE * np.sqrt(np.mean(run.effort**2, axis=0))
    effort = run.effort + level * rng.normal(size=run.effort.shape)
    return Recording(
        robot.joint_names,
        loop.sample_period,
        (Segment(np.array(run.time), position, None, effort),),
    )


def compare(name: str) -> None:
    """Print the table of one robot."""
    robot = load_robot(name)
    values = load_values(VALUES.get(name, name), robot)
    base = base_parameters(robot)
    truth = base.values(values[base.columns])
    other = random_points(robot, RandomPointsSettings(draws=1, seed=99)).trajectory
    W = Regressor(robot, base.base_columns).dense(
        *other.sample(np.arange(0.0, other.duration, 0.01))
    )
    W = W.reshape(-1, base.rank)
    gentle = plan_one_joint(robot)
    duration = gentle.trajectory.duration
    begin = time.monotonic()
    points = PointSettings(starts=1)
    quick = plan(robot, PlanSettings(model=default_model(robot), points=points, duration=duration))
    print(
        f"{name}: {base.rank} base parameters, {len(gentle.schedule)} experiments in "
        f"{duration:.0f} s (planned in {gentle.seconds:.1f} s, worst condition "
        f"{gentle.condition_number:.1f}); optimised motion of {quick.trajectory.duration:.0f} s "
        f"(planned in {time.monotonic() - begin:.0f} s)",
        flush=True,
    )
    for seed in range(3):
        rng = np.random.default_rng(seed)
        one = record(robot, values, gentle.trajectory, rng)
        many = record(robot, values, quick.trajectory, rng)
        for label, recording, method in (
            ("one joint, recursion", one, "one-joint"),
            ("one joint, WLS", one, "wls"),
            ("optimised, WLS", many, "wls"),
        ):
            estimate = identify(robot, [recording], method=method).estimate
            error = estimate.values - truth
            inside = np.mean(np.abs(error) <= 3.0 * estimate.std_robust)
            print(
                f"  seed {seed} {label:22s} parameters "
                f"{np.linalg.norm(error) / np.linalg.norm(truth):.2e}  efforts "
                f"{np.linalg.norm(W @ error) / np.linalg.norm(W @ truth):.2e}  within three "
                f"deviations {inside:.2f}  rows {sum(estimate.rows)}",
                flush=True,
            )


if __name__ == "__main__":
    for robot_name in sys.argv[1:] or ("scara", "stanford", "puma560", "tx40"):
        compare(robot_name)
