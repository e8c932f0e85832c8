"""Compare measured torques with those that identified or given parameters predict."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_identification.api.identification import validate
from robot_identification.api.sources.parameters import with_law
from robot_identification.cli.options import bags as bag_options
from robot_identification.cli.options import common as shared
from robot_identification.cli.options.outputs import check_outputs
from robot_identification.cli.options.recordings import recordings_of
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.files.base_values import read_base_values
from robot_identification.identification.estimators.least_squares import error_entries


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    parser.add_argument(
        "parameters",
        type=Path,
        metavar="PARAMETERS|RESULT",
        help="result of identify, or a file of standard parameters",
    )
    bag_options.add_bags(parser)
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="PNG",
        help="draw measured and predicted effort of the first bag (needs the extra report)",
    )
    shared.add_processing(parser, shared.AS_IDENTIFIED)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    robot = shared.robot_of(options, closed_loops=True)
    check_outputs([options.plot], options.robot, options.bags, [options.parameters])
    robot, _ = with_law(robot, options.parameters)
    parameters = read_base_values(options.parameters, robot)
    with progress.bar("validate", quiet=options.json) as report:
        validation = validate(
            robot,
            parameters,
            recordings_of(options, robot, options.bags),
            processing=shared.processing_of(options),
            derive_settings=options.derive_settings,
            progress=report,
        )
    if options.plot is not None:
        source = validation.recordings[0].source
        title = f"{robot.name}: effort of {source}, predicted by {options.parameters}"
        validation.plot(options.plot, title=title)
    errors = error_entries(validation.relative_error, robot.active_names)
    if options.json:
        tables.print_json(validation.summary())
        return
    rows = [(name, tables.fraction(error)) for name, error in errors.items()]
    title = f"unexplained effort of {robot.name}, as a fraction"
    out = tables.console()
    tables.print_findings(out, validation.findings)
    tables.print_table(out, title, ("joint", "relative error"), rows)
    out.print()
    tables.print_settings(out, validation.settings)
    tables.print_different_settings(out, validation.different_settings)
    tables.print_warnings(out, validation.warnings)
