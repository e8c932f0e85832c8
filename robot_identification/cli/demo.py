"""Identify a simulated TX-40 through live ROS 2 nodes and compare with the truth."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_identification.cli import progress, tables
from robot_identification.identification.base import base_parameters
from robot_identification.robot.loading import load_robot
from robot_identification.robot.values import load_values
from robot_identification.share import share_directory
from robot_identification.storage.trajectories import read_trajectory

if TYPE_CHECKING:
    from robot_identification.excitation.trajectory import Trajectory
    from robot_identification.nodes.session import Session

ROBOT = "tx40"
TRUTH = "tx40_simulated"
EXCITING = "tx40"
VALIDATION = "tx40_validation"
TRUSTED_PERCENT = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--method", choices=("ols", "wls"), default="wls", help="default: wls")
    parser.add_argument(
        "--speed", type=float, default=1.0, help="simulated time over real time; default: 1"
    )


def run(options: argparse.Namespace) -> None:
    """Run the command: about a minute, most of it the motion of the robot."""
    from robot_identification.nodes.session import Session

    begin = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="robot_identification_") as logs,
        progress.bar("starting the nodes", quiet=options.json) as report,
        Session(Path(logs), {"simulated_robot": {"real_time_factor": options.speed}}) as session,
    ):
        session.wait_until_ready()
        fitted = _record(session, _trajectory(EXCITING), report, "moving the robot")
        report("identifying", 1.0)
        result = session.identify(fitted, options.method)
        fresh = _record(session, _trajectory(VALIDATION), report, "moving it along another way")
        report("validating", 1.0)
        validation = session.validate(fresh)
    document = _document(result, validation, time.monotonic() - begin)
    if options.json:
        tables.print_json(document)
    else:
        _print(document)


def _trajectory(name: str) -> Trajectory:
    return read_trajectory(share_directory() / "config" / "trajectories" / f"{name}.yaml")


def _record(session: Session, trajectory: Trajectory, report: progress.Report, stage: str) -> str:
    return session.record(trajectory, lambda fraction: report(stage, fraction))


def _document(result: Any, validation: Any, seconds: float) -> dict[str, Any]:
    """Return everything that is printed, as plain data."""
    from robot_identification.nodes.session import sigmas

    robot = load_robot(ROBOT)
    base = base_parameters(robot)
    truth = base.values(load_values(TRUTH, robot)[base.columns])
    return {
        "robot": result.robot,
        "method": result.method,
        "parameters": [
            {
                "name": parameter.name,
                "true": float(true),
                "value": parameter.value,
                "std": parameter.std,
                "relative_std_percent": parameter.relative_std_percent,
                "sigmas": sigmas(parameter.value, float(true), parameter.std),
                "unit": parameter.unit,
            }
            for parameter, true in zip(result.parameters, truth, strict=True)
        ],
        "relative_error": {
            "total": result.relative_error_total,
            **dict(zip(result.joint_names, result.relative_error, strict=True)),
        },
        "held_out_error": {
            "total": validation.relative_error_total,
            **dict(zip(validation.joint_names, validation.relative_error, strict=True)),
        },
        "condition_number": result.condition_number,
        "warnings": list(result.warnings),
        "seconds": seconds,
    }


def _print(document: dict[str, Any]) -> None:
    out = tables.console()
    rows = [
        (
            entry["name"],
            f"{entry['true']:.5g}",
            f"{entry['value']:.5g}",
            f"{entry['std']:.2g}",
            f"{entry['relative_std_percent']:.2g}",
            f"{entry['sigmas']:.1f}",
            entry["unit"],
        )
        for entry in document["parameters"]
    ]
    title = f"{len(rows)} base parameters of {document['robot']} ({document['method']})"
    columns = ("parameter", "true", "identified", "std", "std %", "error / std", "unit")
    tables.print_table(out, title, columns, rows)
    errors = [
        (name, f"{error:.4f}", f"{document['held_out_error'][name]:.4f}")
        for name, error in document["relative_error"].items()
    ]
    out.print()
    title = "unexplained effort, as a fraction"
    tables.print_table(out, title, ("joint", "fitted motion", "other motion"), errors)
    trusted = [e for e in document["parameters"] if e["relative_std_percent"] < TRUSTED_PERCENT]
    good = sum(entry["sigmas"] <= 3.0 for entry in trusted)
    out.print(
        f"\n{len(trusted)} parameters have a standard deviation below {TRUSTED_PERCENT:g} %; "
        f"{good} of them lie within three of it from the truth.  {document['seconds']:.0f} s"
    )
    for warning in document["warnings"]:
        out.print(f"warning: {warning}", markup=False)
