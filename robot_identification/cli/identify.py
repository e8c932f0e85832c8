"""Identify the base parameters of a robot from recorded bags."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_identification.cli import didim, progress, tables
from robot_identification.cli import options as shared
from robot_identification.errors import ModelMismatchError, NotConvergedError, SettingError
from robot_identification.identification.didim.verdict import METHOD
from robot_identification.identification.essential import EliminationRule
from robot_identification.identification.identify import METHODS, identify
from robot_identification.identification.result import IdentificationResult, summary
from robot_identification.storage.atomic import check_target
from robot_identification.storage.recordings import read_recordings
from robot_identification.storage.results import write_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    shared.add_bags(parser)
    parser.add_argument(
        "--method", choices=(*METHODS, METHOD), default="wls", help="default: %(default)s"
    )
    parser.add_argument(
        "--held-out",
        type=float,
        default=0.0,
        metavar="FRACTION",
        help="share at the end of each bag that is predicted, not fitted",
    )
    parser.add_argument(
        "--essential", action="store_true", help="remove what the efforts can do without"
    )
    shared.add_elimination(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="RESULT", help="result file")
    shared.add_processing(parser)
    didim.add_arguments(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    if options.output is not None:
        check_target(options.output)
    if options.essential and options.method not in ("ols", "wls"):
        raise SettingError("--essential", options.method, "works with the methods ols and wls")
    try:
        result = didim.run(options) if options.method == METHOD else _by_least_squares(options)
    except (NotConvergedError, ModelMismatchError) as error:
        if error.result is not None:
            _show(error.result, options)
        raise
    if options.output is not None:
        write_result(options.output, result)
    _show(result, options)


def _by_least_squares(options: argparse.Namespace) -> IdentificationResult:
    robot = shared.robot_of(options)
    with progress.bar("identify", quiet=options.json) as report:
        recordings = read_recordings(
            options.bags, robot, topic=options.topic, begin=options.begin, end=options.end
        )
        return identify(
            robot,
            recordings,
            method=options.method,
            overrides=shared.processing_of(options),
            held_out_fraction=options.held_out,
            essential=_elimination(options),
            progress=report,
        )


def _elimination(options: argparse.Namespace) -> EliminationRule | None:
    """Return how to remove parameters, None where the options do not ask for it."""
    if not options.essential:
        return None
    return shared.elimination_of(options) or EliminationRule()


def _show(result: IdentificationResult, options: argparse.Namespace) -> None:
    if options.json:
        tables.print_json(summary(result))
        return
    if result.history is not None:
        didim.print_history(result.history, result.joint_names)
    tables.print_result(result)
