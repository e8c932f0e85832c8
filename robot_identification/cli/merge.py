"""Merge results of the same robot and settings into the one of all their recordings."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_identification.api.identification import merge
from robot_identification.cli import tables
from robot_identification.storage.atomic import check_target


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
    result = merge(options.results)
    result.save(options.output)
    if options.json:
        tables.print_json(result.summary())
    else:
        tables.print_result(result)
