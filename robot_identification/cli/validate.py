"""Compare measured torques with those that identified or given parameters predict."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from robot_identification.cli import options as shared
from robot_identification.cli import progress, tables
from robot_identification.cli.recordings import recordings_of
from robot_identification.errors import SettingError
from robot_identification.identification.base import base_parameters
from robot_identification.identification.identify import validate
from robot_identification.identification.prediction import predict
from robot_identification.identification.result import error_entries
from robot_identification.robot.model import RobotModel
from robot_identification.signals.recording import Recording
from robot_identification.signals.settings import resolve_processing
from robot_identification.storage.atomic import check_target, write_bytes_atomically
from robot_identification.storage.models import BaseValues, read_base_values


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    parser.add_argument(
        "parameters",
        type=Path,
        metavar="PARAMETERS|RESULT",
        help="result of identify, or a file of standard parameters",
    )
    shared.add_bags(parser)
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="PNG",
        help="draw measured and predicted effort of the first bag (needs the extra report)",
    )
    shared.add_processing(parser, shared.AS_IDENTIFIED)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    robot = shared.robot_of(options)
    if options.plot is not None:
        check_target(options.plot)
    model = read_base_values(options.parameters, robot)
    with progress.bar("validate", quiet=options.json) as report:
        recordings = recordings_of(options, robot, options.bags)
        validation = validate(
            robot,
            model.values,
            recordings,
            overrides=shared.processing_of(options),
            identified=model.processing,
            progress=report,
        )
    if options.plot is not None:
        _plot(options, robot, model, recordings)
    errors = error_entries(validation.relative_error, robot.joint_names)
    if options.json:
        tables.print_json(
            {
                "robot": robot.name,
                "relative_error": errors,
                "rows": sum(validation.rows),
                "rows_per_joint": dict(zip(robot.joint_names, validation.rows, strict=True)),
                "seconds": validation.seconds,
                "settings": validation.settings,
                "warnings": list(validation.warnings),
            }
        )
        return
    rows = [(name, f"{error:.6f}") for name, error in errors.items()]
    title = f"unexplained effort of {robot.name}, as a fraction"
    out = tables.console()
    tables.print_table(out, title, ("joint", "relative error"), rows)
    out.print()
    tables.print_settings(out, validation.settings)
    tables.print_warnings(out, validation.warnings)


def _plot(
    options: argparse.Namespace,
    robot: RobotModel,
    model: BaseValues,
    recordings: Sequence[Recording],
) -> None:
    try:
        from robot_identification.report.effort_plot import effort_figure
        from robot_identification.report.figures import png
    except ImportError as error:
        raise SettingError(
            "--plot", options.plot, "needs matplotlib; pip install 'robot_identification[report]'"
        ) from error
    processing = resolve_processing(
        robot, recordings, shared.processing_of(options), identified=model.processing
    )
    first = recordings[0]
    prediction = predict(base_parameters(robot), model.values, first, processing)
    title = f"{robot.name}: effort of {first.source}, predicted by {options.parameters}"
    write_bytes_atomically(options.plot, png(effort_figure(prediction, title)))
