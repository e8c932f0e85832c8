"""Identify the simulated TX-40 through DDS, ten times with other noise, and compare with the truth.

Every seed has its own ROS domain and its own processes: simulated robot, acquisition and
identification.  White noise of known standard deviation is added to positions and efforts
(config/simulations/tx40.yaml says how much), and positions are quantised.  The robot follows one
motion that is fitted (weighted least squares) and another that is only predicted, both with the
settings that the nodes take where a request says nothing.

The held-out ratio compares the root mean square of what is left unexplained on that other motion
with the injected effort noise, both after the same decimation filter, so that both are seen in the
same band; the noise that the filter passes is measured by decimating white noise.  Rows dropped
near reversal are left out on both sides.  "pooled" takes all joints together, "worst" the worst
joint.

Usage: ten_seeds.py [--parallel N] [--rate HZ] [--speed FACTOR] [--json]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from robot_identification.msg import ProcessingSettings

from robot_identification.errors import RobotIdentificationError
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.plans.trajectories import read_trajectory, write_trajectory
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common import qos
from robot_identification.ros.demo.session import Session
from robot_identification.share import share_directory
from robot_identification.signals.filters.decimation import Decimator

SEEDS = range(10)
TRUSTED_PERCENT = 5.0
MOTIONS = ("fit.yaml", "other.yaml")
FIT = RandomPointsSettings(points=40, draws=20, seed=5, speed=0.7, reach=0.7)
OTHER = RandomPointsSettings(points=24, draws=20, seed=6, speed=0.65, reach=0.65)
GOALS = "goals: >= 30 parameters, >= 0.98 within 3 std, median error < 0.02, held-out <= 1.1"
PROCESSING = ProcessingSettings(difference_order=8, velocity_threshold_window=5.0)


def motions(robot: RobotModel) -> tuple[Trajectory, Trajectory]:
    """Return the motion to fit, and another that begins where it ends."""
    fit = random_points(robot, FIT, np.zeros(len(robot.joints))).trajectory
    return fit, random_points(robot, OTHER, np.array(fit.positions[-1])).trajectory


def injected_noise() -> np.ndarray:
    """Return the standard deviation of the effort noise of every joint, in N m."""
    path = share_directory() / "config" / "simulations" / "tx40.yaml"
    (node,) = yaml.safe_load(path.read_text()).values()
    return np.array(node["ros__parameters"]["effort_noise"])


def passed_noise(rate: float, decimated: float) -> float:
    """Return the standard deviation of decimated white noise of unit standard deviation."""
    decimator = Decimator(max(1, round(rate / decimated)))
    noise = np.random.default_rng(0).standard_normal((1, 400_000))
    return float(np.std(decimator.decimate(noise) / decimator.gain))


def run_seed(seed: int, rate: float, speed: float, folder: Path) -> dict[str, Any]:
    """Return the figures of one seed, for the motions in a folder."""
    robot = load_robot("tx40")
    fit, other = (read_trajectory(folder / name) for name in MOTIONS)
    simulated = {"seed": seed, "rate": rate, "real_time_factor": speed, "wait_for_reader": True}
    with (
        tempfile.TemporaryDirectory() as logs,
        Session(Path(logs), {"simulated_robot": simulated}, description="tx40") as session,
    ):
        reports: list[DiagnosticArray] = []
        session.client.node.create_subscription(
            DiagnosticArray, "/diagnostics", reports.append, qos.STATUS
        )
        try:
            session.wait_until_ready()
            result = session.identify(session.record(fit), processing=PROCESSING)
            validation = session.validate(session.record(other), PROCESSING)
            samples = account(session, reports)
        except RobotIdentificationError:
            print(session.outputs(), file=sys.stderr)
            raise
    settings = {entry.key: json.loads(entry.value)["value"] for entry in result.settings}
    base = base_parameters(robot)
    truth = base.values(load_values("tx40_simulated", robot)[base.columns])
    noise = injected_noise() * passed_noise(rate, settings["rate_hz"])
    return {"seed": seed, **figures(result, truth), **held_out(validation, noise), **samples}


def figures(result: Any, truth: np.ndarray) -> dict[str, Any]:
    """Return how the trusted parameters compare with the truth."""
    value, std, percent = (
        np.array([getattr(parameter, name) for parameter in result.parameters])
        for name in ("value", "std", "relative_std_percent")
    )
    trusted = percent < TRUSTED_PERCENT
    error = (value - truth)[trusted]
    return {
        "trusted": int(trusted.sum()),
        "sigmas": (np.abs(error) / std[trusted]).tolist(),
        "errors": (np.abs(error / truth[trusted])).tolist(),
    }


def held_out(validation: Any, noise: np.ndarray) -> dict[str, Any]:
    """Return the unexplained torque of the other motion over the injected noise."""
    rows = np.array(validation.rows, dtype=float)
    residual = np.array(validation.residual_std)
    pooled = np.sqrt((rows * residual**2).sum() / (rows * noise**2).sum())
    return {"held_out": float(pooled), "held_out_worst": float((residual / noise).max())}


def account(session: Session, reports: list[DiagnosticArray]) -> dict[str, int]:
    """Stop the robot and return how many samples were sent, received and reported lost."""
    session.nodes.stop("simulated_robot")
    found = re.findall(r"samples_published (\d+)", session.nodes.output("simulated_robot"))
    sent = int(found[-1])

    def told() -> dict[str, int]:
        values = {
            value.key: value.value
            for report in reports
            for status in report.status
            if f"{session.namespace}/acquisition" in status.name
            for value in status.values
        }
        return {
            "received": int(values.get("messages_received", 0)),
            "lost": int(values.get("messages_lost", 0)),
        }

    deadline = time.monotonic() + 10.0
    while sum(told().values()) < sent and time.monotonic() < deadline:
        session.client.spin(0.1)
    return {"sent": sent, **told()}


def in_process_of_its_own(seed: int, options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Return the figures of one seed from a process of its own."""
    line = [sys.executable, __file__, "--seed", str(seed), "--motions", folder]
    line += ["--rate", str(options.rate), "--speed", str(options.speed)]
    done = subprocess.run(line, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def verdict(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of all seeds together, and whether they meet the goals."""
    sigmas = np.concatenate([row["sigmas"] for row in rows])
    errors = np.concatenate([row["errors"] for row in rows])
    summary = {
        "trusted_least": min(row["trusted"] for row in rows),
        "within_three": float(np.mean(sigmas <= 3.0)),
        "median_error": float(np.median(errors)),
        "held_out_largest": max(row["held_out"] for row in rows),
        "held_out_worst_joint": max(row["held_out_worst"] for row in rows),
        "all_accounted_for": all(r["received"] + r["lost"] == r["sent"] for r in rows),
    }
    summary["met"] = bool(
        summary["trusted_least"] >= 30
        and summary["within_three"] >= 0.98
        and summary["median_error"] < 0.02
        and summary["held_out_largest"] <= 1.1
        and summary["all_accounted_for"]
    )
    return summary


def main() -> int:
    """Run all seeds, or the one that is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="this seed alone; needs --motions, prints JSON")
    parser.add_argument("--motions", type=Path, help="folder with the motions")
    parser.add_argument("--parallel", type=int, default=2, help="seeds at the same time")
    parser.add_argument("--rate", type=float, default=500.0, help="rate of joint_states, Hz")
    parser.add_argument("--speed", type=float, default=1.0, help="simulated over real time")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.seed is not None:
        row = run_seed(options.seed, options.rate, options.speed, options.motions)
        print(json.dumps(row))
        return 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.parallel) as pool:
        for name, motion in zip(MOTIONS, motions(load_robot("tx40")), strict=True):
            write_trajectory(Path(folder, name), motion)
        rows = list(pool.map(lambda seed: in_process_of_its_own(seed, options, folder), SEEDS))
    summary = verdict(rows)
    if options.json:
        print(json.dumps({"seeds": rows, "pooled": summary}))
        return 0 if summary["met"] else 1
    print(f"simulated TX-40, {options.rate:g} Hz, speed {options.speed:g}")
    print("seed  < 5 %  within 3 std  median error  held-out pooled/worst  sent received lost")
    for row in rows:
        print(
            f"{row['seed']:4d} {row['trusted']:6d} {np.mean(np.array(row['sigmas']) <= 3):13.3f} "
            f"{np.median(row['errors']):13.4f} {row['held_out']:15.3f}/{row['held_out_worst']:.3f} "
            f"{row['sent']:6d} {row['received']:8d} {row['lost']:4d}"
        )
    print("pooled:", ", ".join(f"{key} {value}" for key, value in summary.items()))
    print(GOALS)
    return 0 if summary["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
