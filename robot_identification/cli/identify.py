"""Identify the base parameters of a robot from recorded bags."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from robot_identification.api.identification import identify
from robot_identification.cli.options import bags as bag_options
from robot_identification.cli.options import common as shared
from robot_identification.cli.options import didim, fitting
from robot_identification.cli.options import periodic as periodic_options
from robot_identification.cli.options.outputs import check_outputs
from robot_identification.cli.options.recordings import recordings_of
from robot_identification.cli.tables import fit as fit_tables
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.errors import ModelMismatchError, NotConvergedError, SettingError
from robot_identification.identification.estimators.choice import DEFAULT, DIDIM, METHODS, method_of
from robot_identification.identification.friction.options import CHOICES, STATED
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.statistics.sensitivity import (
    CutoffChange,
    cutoff_sensitivity,
    sensitivity_entries,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    bag_options.add_bags(parser, needed=False)
    parser.add_argument(
        "--method",
        choices=tuple(METHODS),
        default=DEFAULT,
        help="; ".join(f"{method.name}: {method.help}" for method in METHODS.values())
        + "; default: %(default)s",
    )
    parser.add_argument(
        "--held-out",
        type=float,
        default=0.0,
        metavar="FRACTION",
        help="share at the end of each bag that is predicted, not fitted",
    )
    parser.add_argument(
        "--friction",
        choices=tuple(CHOICES),
        default=STATED,
        help="; ".join(f"{name}: {told}" for name, told in CHOICES.items())
        + "; default: %(default)s",
    )
    shared.add_essential(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="RESULT", help="result file")
    fitting.add_arguments(parser)
    shared.add_processing(parser)
    periodic_options.add_arguments(parser)
    didim.add_arguments(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    check_outputs(
        [options.output],
        options.robot,
        [*fitting.places_of(options), options.plan, options.trajectory],
        didim.starts_of(options),
    )
    if options.essential and not method_of(options.method).stacked:
        raise SettingError("--essential", options.method, "works with the methods ols and wls")
    changes: tuple[CutoffChange, ...] = ()
    try:
        if options.method == DIDIM.name:
            fitting.refuse_for(options, DIDIM.name)
            periodic_options.refuse_for(options, DIDIM.name)
            result = didim.run(options)
        else:
            didim.refuse_for(options, options.method)
            result, changes = _by_least_squares(options)
    except (NotConvergedError, ModelMismatchError) as error:
        if error.result is not None:
            _show(error.result, options)
        raise
    if options.output is not None:
        result.save(options.output)
    _show(result, options, changes)


def _by_least_squares(
    options: argparse.Namespace,
) -> tuple[IdentificationResult, tuple[CutoffChange, ...]]:
    """Return the result, and what other cut-offs would change where that is asked for."""
    robot = shared.robot_of(options, closed_loops=True)
    bags, held_out = fitting.bags_of(options)
    motion = periodic_options.motion_of(options)
    if motion is not None and options.sensitivity:
        raise SettingError("--sensitivity", "asked for", "an average over periods has no cut-off")
    choice: dict[str, Any] = {
        "essential": shared.essential_of(options),
        "weighting": fitting.weighting_of(options, bags),
        "robust": fitting.robust_of(options),
        "friction": options.friction,
        "held_out_fraction": options.held_out,
    }
    with progress.bar("identify", quiet=options.json) as report:
        recordings = recordings_of(options, robot, [bag.path for bag in bags])
        result = identify(
            robot,
            recordings,
            method=options.method,
            processing=shared.processing_of(options),
            held_out=recordings_of(options, robot, [bag.path for bag in held_out]),
            periodic=motion,
            progress=report,
            **choice,
        )
        if not options.sensitivity:
            return result, ()
        return result, cutoff_sensitivity(robot, recordings, result, **choice)


def _show(
    result: IdentificationResult,
    options: argparse.Namespace,
    changes: Sequence[CutoffChange] = (),
) -> None:
    names = result.regrouping.names
    if options.json:
        entries = {"sensitivity": sensitivity_entries(changes, names)} if changes else {}
        tables.print_json({**result.summary(), **entries})
        return
    tables.print_findings(tables.console(), result.findings)
    if result.history is not None:
        didim.print_history(result.history, result.joint_names)
    tables.print_result(result)
    if changes:
        fit_tables.print_sensitivity(tables.console(), changes, names)
