"""Merge results of the same robot and settings into the one of all their recordings."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_identification.cli import tables
from robot_identification.identification.merging import merge_results
from robot_identification.identification.result import summary
from robot_identification.storage.atomic import check_target
from robot_identification.storage.results import read_result, write_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "results", type=Path, nargs="+", metavar="RESULT", help="result file of identify"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="RESULT", required=True, help="merged result file"
    )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    check_target(options.output)
    result = merge_results([read_result(path) for path in options.results])
    write_result(options.output, result)
    if options.json:
        tables.print_json(summary(result))
    else:
        tables.print_result(result)
