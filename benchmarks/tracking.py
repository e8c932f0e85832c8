"""Identify a simulated TX-40 through DDS, calibrate, feed the model forward, and see it follow.

Everything runs in nodes: the robot follows an exciting trajectory, is identified (weighted least
squares) and calibrated to a prior whose masses, inertias and drive inertias are 30 % too large and
that knows no friction.  Then it follows another motion four times: with its drives alone, and with
the prior, the calibrated parameters and the truth fed forward by the node computed_torque.  The
errors are of measured positions, sensor noise included.

Usage: tracking.py [--too-large FACTOR] [--plot PNG] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from robot_identification.calibration.calibrate import calibrate
from robot_identification.calibration.prior import Prior
from robot_identification.nodes.messages import result_of
from robot_identification.nodes.session import Session
from robot_identification.nodes.tracking import Errors, Tracking
from robot_identification.report.figures import png
from robot_identification.report.tracking_plot import rms_table, tracking_figure
from robot_identification.robot import parameters
from robot_identification.robot.loading import load_robot
from robot_identification.robot.model import Array, RobotModel
from robot_identification.robot.values import load_values
from robot_identification.share import share_directory
from robot_identification.storage.atomic import write_bytes_atomically
from robot_identification.storage.trajectories import read_trajectory

ROBOT, TRUTH = "tx40", "tx40_simulated"
EXCITING, OTHER = "tx40", "tx40_validation"
APPROACH = 4.0
GOAL = 5.0


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--too-large", type=float, default=1.3)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    robot = load_robot(ROBOT)
    truth = load_values(TRUTH, robot)
    runs, warnings = measure(robot, truth, wrong_prior(robot, truth, options.too_large))
    table = rms_table(robot.joint_names, runs)
    ratio = table["prior"]["total"] / table["identified"]["total"]
    if options.plot is not None:
        title = "TX-40 (simulated): position less reference, model fed forward"
        shown = {label: run for label, run in runs.items() if label != "truth"}
        write_bytes_atomically(options.plot, png(tracking_figure(robot, shown, title)))
    if options.json:
        print(json.dumps({"rms": table, "prior_over_identified": ratio, "warnings": warnings}))
    else:
        for label, errors in table.items():
            cells = "  ".join(f"{name} {1e3 * value:7.3f}" for name, value in errors.items())
            print(f"{label:12} rms in mrad: {cells}")
        print(f"prior over identified: {ratio:.1f} (goal: {GOAL:g})", *warnings, sep="\n")
    return 0 if ratio >= GOAL else 1


def wrong_prior(robot: RobotModel, truth: Array, factor: float) -> Array:
    """Return parameters (full columns,) with bodies and drives too large, without friction."""
    count = parameters.joint_offset(len(robot.joints))
    prior = np.zeros_like(truth)
    wrong = prior[:count].reshape(-1, len(parameters.PER_JOINT))
    right = truth[:count].reshape(wrong.shape)
    wrong[:, : parameters.VISCOUS_FRICTION] = factor * right[:, : parameters.VISCOUS_FRICTION]
    return prior


def measure(
    robot: RobotModel, truth: Array, prior: Array
) -> tuple[dict[str, Errors], tuple[str, ...]]:
    """Return the errors of every run, and the warnings of the calibration."""
    exciting, other = (
        read_trajectory(share_directory() / "config" / "trajectories" / f"{name}.yaml")
        for name in (EXCITING, OTHER)
    )
    with tempfile.TemporaryDirectory() as folder, Session(Path(folder)) as session:
        session.wait_until_ready()
        result = result_of(session.identify(session.record(exciting)))
        known = np.zeros(len(truth), dtype=np.bool_)
        known[prior != 0.0] = True
        model = robot.standard_indices
        given = Prior.given(robot.standard_names, prior[model], known[model])
        calibrated = calibrate(robot, result, given)
        tracking = Tracking(session.client, session.nodes, robot, ROBOT, session.namespace)
        tracking.wait_until_ready()
        runs = {}
        for label, values in (
            ("drives alone", None),
            ("prior", prior),
            ("identified", calibrated.values),
            ("truth", truth),
        ):
            if values is not None:
                tracking.use(values)
            tracking.go_to(other.positions[0], APPROACH)
            runs[label] = tracking.follow(other)
    return runs, calibrated.warnings


if __name__ == "__main__":
    sys.exit(main())
