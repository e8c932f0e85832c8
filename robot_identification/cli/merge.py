"""Merge results of the same robot and settings into the one of all their recordings."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_identification.api.identification import merge
from robot_identification.cli.options import common as shared
from robot_identification.cli.options import fitting
from robot_identification.cli.options.outputs import check_outputs
from robot_identification.cli.tables import results as tables
from robot_identification.files.bags.lists import ListedBag, with_parts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "results", type=Path, nargs="+", metavar="RESULT", help="result file of identify"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="RESULT", required=True, help="merged result file"
    )
    parser.add_argument(
        "--held-out-result",
        action="append",
        default=[],
        metavar="RESULT",
        help="result whose recordings are predicted, not fitted; repeatable",
    )
    fitting.add_weights(parser, "result")
    fitting.add_outliers(parser, fitting.NO_SAMPLES)
    shared.add_essential(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    check_outputs([options.output], None, [*options.results, *options.held_out_result])
    listed = [ListedBag(str(path)) for path in options.results]
    every = with_parts(listed, options.weight, options.held_out_result, "result")
    fitted = [one for one in every if not one.held_out]
    result = merge(
        [one.path for one in fitted],
        essential=shared.essential_of(options),
        weighting=fitting.weighting_of(options, fitted),
        robust=fitting.robust_of(options),
        held_out=[one.path for one in every if one.held_out],
    )
    result.save(options.output)
    if options.json:
        tables.print_json(result.summary())
    else:
        tables.print_findings(tables.console(), result.findings)
        tables.print_result(result)
