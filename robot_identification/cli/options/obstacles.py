"""Options that say what a motion must keep clear of."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_identification.api.motion import load_surroundings
from robot_identification.cli.options.common import refuse_given
from robot_identification.errors import SettingError
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.robot.files.values import load_effort_prior
from robot_identification.robot.model import RobotModel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("obstacles")
    group.add_argument(
        "--cell",
        type=Path,
        metavar="CELL",
        help="cell file: what stands around the robot, what it carries, how it is mounted",
    )
    group.add_argument(
        "--clearance",
        type=float,
        metavar="M",
        help="distance in m that the motion keeps; default: as the files say, else 0.02",
    )
    group.add_argument(
        "--ignore-obstacles",
        action="store_true",
        help="check neither the cell nor the arm against itself",
    )


def surroundings_of(
    options: argparse.Namespace, robot: RobotModel, prior: str | None
) -> Surroundings:
    """Return what is known besides the limits.

    Args:
        options: parsed arguments.
        robot: the robot that they name.
        prior: file of standard parameters or URDF; None: efforts are not checked.

    Raises:
        UnknownRobotError: there is no such prior.
        RobotDescriptionError: a file is wrong, or the prior states the body of no link.
        SettingError: the cell names what is not there or cannot be checked, the clearance is not
            positive, or one of them is given with obstacles that are to be ignored.
    """
    if options.ignore_obstacles:
        refuse_given(options, ("--cell", "--clearance"), "not with --ignore-obstacles")
        values, assumed = (None, ()) if prior is None else load_effort_prior(prior, robot)
        ignored = "obstacles are not checked: --ignore-obstacles"
        return Surroundings.around(ignored, prior=values, assumed=assumed)
    around = load_surroundings(robot, cell=options.cell, clearance=options.clearance, prior=prior)
    if options.cell is not None and not around.checked:
        # Who describes a cell wants it kept clear of: a line above the certificate is overlooked.
        raise SettingError("--cell", str(options.cell), around.unchecked)
    return around
