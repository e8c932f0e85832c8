"""Identify from more bags than fit into memory, in parallel, resumable."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from robot_identification.cli import options as shared
from robot_identification.cli import progress, tables
from robot_identification.identification.estimation import DEFAULT, STACKED
from robot_identification.identification.estimator import Choice
from robot_identification.identification.weighting import Weighting
from robot_identification.parallel.bags import find_bags
from robot_identification.parallel.identify import ManyBags, identify_many
from robot_identification.parallel.pool import usable_workers
from robot_identification.storage.atomic import check_target
from robot_identification.storage.results import write_result

_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    parser.add_argument(
        "bags", metavar="BAG", nargs="+", help="bag, or folder to search for bags at any depth"
    )
    parser.add_argument("--topic", default="/joint_states", help="topic of the joint states")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="RESULT", required=True, help="result file"
    )
    parser.add_argument(
        "--parts",
        type=Path,
        metavar="FOLDER",
        help="where finished parts are kept, to go on there after a crash or with more bags "
        "(default: RESULT.parts)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=usable_workers(),
        metavar="N",
        help="number of processes, with Dask from two on (default here: %(default)s)",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler that runs, such as tcp://host:8786, instead of processes here; its "
        "workers must see the same files",
    )
    parser.add_argument("--method", choices=STACKED, default=DEFAULT, help="default: %(default)s")
    parser.add_argument(
        "--bag-noise",
        action="store_true",
        help="weight every bag and joint by its own noise, estimated from the residuals",
    )
    parser.add_argument(
        "--essential", action="store_true", help="remove what the efforts can do without"
    )
    shared.add_elimination(parser)
    shared.add_processing(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    check_target(options.output)
    folder = options.parts or options.output.with_name(f"{options.output.name}.parts")
    with progress.bar("identify", quiet=options.json) as report:
        outcome = identify_many(
            options.robot,
            find_bags(options.bags),
            folder,
            workers=options.workers,
            scheduler=options.scheduler,
            effort_meaning=options.effort_meaning,
            topic=options.topic,
            overrides=shared.processing_of(options),
            choice=Choice(
                options.method,
                shared.essential_of(options),
                Weighting(bag_noise=options.bag_noise),
            ),
            progress=report,
            tell=_tell,
        )
    write_result(options.output, outcome.result)
    if options.json:
        tables.print_json({**outcome.result.summary(), "bags": _bag_entries(outcome)})
        return
    tables.print_result(outcome.result)
    _print_bags(outcome)


def _tell(text: str) -> None:
    print(f"robot-identification identify-many: {text}", file=sys.stderr)


def _bag_entries(outcome: ManyBags) -> dict[str, object]:
    return {
        "used": len(outcome.result.sources),
        "skipped": [vars(skipped) for skipped in outcome.skipped],
        "jobs": outcome.jobs,
        "reused_jobs": outcome.reused,
    }


def _print_bags(outcome: ManyBags) -> None:
    used = len(outcome.result.sources)
    print(f"{used} bags used, {len(outcome.skipped)} left out", end="")
    print(f"; {outcome.reused} of {outcome.jobs} parts were there already")
    for skipped in outcome.skipped[:_SHOWN]:
        print(f"left out: {skipped.reason}", file=sys.stderr)
    if len(outcome.skipped) > _SHOWN:
        print(f"left out: {len(outcome.skipped) - _SHOWN} more, see --json", file=sys.stderr)
