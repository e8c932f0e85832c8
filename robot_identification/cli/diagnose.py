"""Look for what is wrong with recordings or the description of a robot."""

from __future__ import annotations

import argparse

from robot_identification.api.identification import diagnose
from robot_identification.cli.options import bags as bag_options
from robot_identification.cli.options import common as shared
from robot_identification.cli.options.recordings import recordings_of
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    bag_options.add_bags(parser)
    shared.add_processing(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    robot = shared.robot_of(options)
    with progress.bar("diagnose", quiet=options.json) as report:
        found = diagnose(
            robot,
            recordings_of(options, robot, options.bags),
            processing=shared.processing_of(options),
            progress=report,
        )
    if options.json:
        tables.print_json(found.summary())
        return
    out = tables.console()
    tables.print_findings(out, found.findings)
    out.print(found.headline, markup=False, soft_wrap=True)
