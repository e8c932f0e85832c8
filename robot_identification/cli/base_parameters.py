"""Show which parameters a motion can tell, and how the others are grouped."""

from __future__ import annotations

import argparse

from robot_identification.cli import options as shared
from robot_identification.cli import tables
from robot_identification.identification.base import base_parameters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    base = base_parameters(shared.robot_of(options))
    if options.json:
        raise NotImplementedError
    rows = [
        (name, tables.grouping_text(grouping))
        for name, grouping in zip(base.names, base.groupings, strict=True)
    ]
    tables.print_table(tables.console(), "base parameters", ("parameter", "grouping"), rows)
