"""Identify a simulated TX-40 through live ROS 2 nodes, calibrate, and follow with the model."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_identification.cli.tables import demo as demo_tables
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.identification.estimators.choice import DEFAULT, STACKED
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.share import share_directory

if TYPE_CHECKING:
    from robot_identification.excitation.motions.trajectory import Trajectory

ROBOT = "tx40"
TRUTH = "tx40_simulated"
EXCITING = "tx40"
OTHER = "tx40_validation"
TOO_HEAVY = 1.3
_LEAD = 1.0  # s by the clock: what is sent so early comes in time on a busy machine too
_FARTHEST_LEAD = 3.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--method", choices=STACKED, default=DEFAULT, help="default: %(default)s")
    parser.add_argument(
        "--speed", type=float, default=1.0, help="simulated time over real time; default: 1"
    )


def run(options: argparse.Namespace) -> None:
    """Run the command: about a minute and a half, most of it the motion of the robot."""
    from robot_identification.ros.demo.commissioning import follow_with_both, heavy_prior
    from robot_identification.ros.demo.session import Session
    from robot_identification.ros.demo.tracking import Tracking

    begin = time.monotonic()
    lead = min(max(_LEAD * options.speed, _LEAD), _FARTHEST_LEAD)
    robot = load_robot(ROBOT)
    truth = load_values(TRUTH, robot)
    with (
        tempfile.TemporaryDirectory(prefix="robot_identification_") as logs,
        progress.bar("starting the nodes", quiet=options.json) as report,
        Session(
            Path(logs),
            {"simulated_robot": {"real_time_factor": options.speed}},
            others=("calibration",),
            description=ROBOT,
            lead=lead,
        ) as session,
    ):
        tracking = Tracking(
            session.client,
            session.nodes,
            robot,
            ROBOT,
            session.namespace,
            lead=lead,
            watch=lambda fraction: report("following another motion", fraction),
        )
        session.wait_until_ready()
        session.verbs.require("calibration")
        tracking.wait_until_ready()
        fitted = session.record(
            _trajectory(EXCITING), lambda fraction: report("moving the robot", fraction)
        )
        report("identifying", 1.0)
        result = session.identify(fitted, options.method)
        followed = follow_with_both(
            session, tracking, heavy_prior(robot, truth, TOO_HEAVY), _trajectory(OTHER), Path(logs)
        )
        report("validating", 1.0)
        validation = session.validate(followed.recording)
    document: dict[str, Any] = {
        **demo_tables.identification_document(robot, truth, result, validation),
        **demo_tables.tracking_document(robot, followed),
        "seconds": time.monotonic() - begin,
    }
    if options.json:
        tables.print_json(document)
    else:
        demo_tables.show(document)


def _trajectory(name: str) -> Trajectory:
    return read_trajectory(share_directory() / "config" / "trajectories" / f"{name}.yaml")
