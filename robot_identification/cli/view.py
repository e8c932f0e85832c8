"""Show a planned motion in its cell, as a page that a browser opens offline."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from robot_identification.cli.options import common as shared
from robot_identification.cli.options import obstacles
from robot_identification.cli.options.outputs import check_outputs
from robot_identification.cli.tables import results as tables
from robot_identification.collision.model import CollisionModel
from robot_identification.errors import MissingPackageError, NotCertifiedError
from robot_identification.excitation.certification.certificate import Certificate, certify
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.atomic import write_text_atomically
from robot_identification.files.plans.trajectories import read_trajectory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    parser.add_argument("plan", type=Path, metavar="TRAJECTORY", help="a plan, or any trajectory")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="PAGE.html", required=True, help="the page"
    )
    parser.add_argument(
        "--limits",
        type=Path,
        metavar="JOINT_LIMITS",
        help="joint_limits.yaml of MoveIt that completes the robot's limits",
    )
    obstacles.add_arguments(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    robot = shared.with_limits(shared.robot_of(options), options.limits)
    read = [options.plan, options.limits, options.cell]
    check_outputs([options.output], options.robot, read)
    around = obstacles.surroundings_of(options, robot, None)
    trajectory = read_trajectory(options.plan).reordered(robot.joint_names)
    certificate = certify(robot, trajectory, surroundings=around)
    write_view(options.output, trajectory, around, certificate)
    if options.json:
        tables.print_json({"page": str(options.output), "certificate": dict(certificate.results)})
        return
    out = tables.console()
    told = certificate.obstacles if certificate.passed else f"not certified: {certificate.refusal}"
    out.print(told, markup=False, soft_wrap=True)
    out.print(f"written to {options.output}", markup=False, soft_wrap=True)


def write_view(
    target: Path, trajectory: Trajectory, around: Surroundings, certificate: Certificate
) -> None:
    """Write the page of a motion.

    Args:
        target: the file; it appears whole or not at all.
        trajectory: the motion, its joints in the robot's order.
        around: what the robot must not touch.
        certificate: of the motion, passed or not.

    Raises:
        NotCertifiedError: there are no shapes to be drawn.
        MissingPackageError: Jinja, which makes the page, is not installed.
        OutputError: the file cannot be written.
    """
    shapes, page = require_view(around)
    write_text_atomically(target, page(trajectory, shapes, certificate))


def require_view(around: Surroundings) -> tuple[CollisionModel, Callable[..., str]]:
    """Return the shapes that a page draws and what makes it, before any motion is planned.

    Raises:
        NotCertifiedError: there are no shapes to be drawn.
        MissingPackageError: Jinja, which makes the page, is not installed.
    """
    if around.collisions is None:
        raise NotCertifiedError("obstacles", f"there is nothing to be drawn: {around.unchecked}")
    try:
        from robot_identification.report.motion_page import motion_page
    except ImportError as error:
        raise MissingPackageError("jinja2", "report", "the page of a motion") from error
    return around.collisions, motion_page
