"""Identify the base parameters of a robot from recorded bags."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_identification.cli import options as shared
from robot_identification.cli import progress, tables
from robot_identification.identification.identify import METHODS, identify
from robot_identification.identification.result import summary
from robot_identification.storage.atomic import check_target
from robot_identification.storage.recordings import read_recordings
from robot_identification.storage.results import write_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    shared.add_bags(parser)
    parser.add_argument("--method", choices=METHODS, default="wls", help="default: %(default)s")
    parser.add_argument(
        "--held-out",
        type=float,
        default=0.0,
        metavar="FRACTION",
        help="share at the end of each bag that is predicted, not fitted",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="RESULT", help="result file")
    shared.add_processing(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    robot = shared.robot_of(options)
    if options.output is not None:
        check_target(options.output)
    with progress.bar("identify", quiet=options.json) as report:
        recordings = read_recordings(
            options.bags, robot, topic=options.topic, begin=options.begin, end=options.end
        )
        result = identify(
            robot,
            recordings,
            method=options.method,
            overrides=shared.processing_of(options),
            held_out_fraction=options.held_out,
            progress=report,
        )
    if options.output is not None:
        write_result(options.output, result)
    if options.json:
        tables.print_json(summary(result))
    else:
        tables.print_result(result)
