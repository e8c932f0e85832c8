"""Identify from more bags than fit into memory, in parallel, resumable."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from robot_identification.cli.options import bags as bag_options
from robot_identification.cli.options import common as shared
from robot_identification.cli.options import fitting
from robot_identification.cli.options.outputs import check_outputs
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.errors import SettingError
from robot_identification.files.results import write_result
from robot_identification.identification.estimators.choice import DEFAULT, STACKED
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.parallel.bags import find_bags
from robot_identification.parallel.identify import ManyBags, identify_many
from robot_identification.parallel.pool import usable_workers

_SHOWN = 5
_SIGNALS = ("position", "velocity", "effort")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    parser.add_argument(
        "bags", metavar="BAG", nargs="*", help="bag, or folder to search for bags at any depth"
    )
    bag_options.add_states(
        parser,
        "SIGNAL=INTERFACE",
        "interfaces of the joints of a DynamicJointState: position, velocity and effort, such as "
        "effort=current; default: usual names",
    )
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
    group = parser.add_argument_group("several bags and outliers")
    fitting.add_bags(group)
    fitting.add_outliers(group, fitting.NO_SAMPLES)
    shared.add_essential(parser)
    shared.add_processing(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    fitted, held_out = fitting.bags_of(options, _below)
    read = [options.bag_list, *(bag.path for bag in (*fitted, *held_out))]
    check_outputs([options.output], options.robot, read)
    folder = options.parts or options.output.with_name(f"{options.output.name}.parts")
    with progress.bar("identify", quiet=options.json) as report:
        outcome = identify_many(
            options.robot,
            find_bags([bag.path for bag in fitted]),
            folder,
            workers=options.workers,
            scheduler=options.scheduler,
            effort_meaning=options.effort_meaning,
            topic=options.topic,
            interfaces=_interfaces_of(options),
            overrides=shared.processing_of(options),
            choice=Choice(
                options.method,
                shared.essential_of(options),
                Weighting(**shared.stated(options, Weighting, ("bag_noise",))),
                fitting.robust_of(options),
            ),
            held_out=find_bags([bag.path for bag in held_out]),
            weights={bag.path: bag.weight for bag in fitted if bag.weight != 1.0},
            progress=report,
            tell=_tell,
        )
    write_result(options.output, outcome.result)
    if options.json:
        tables.print_json({**outcome.result.summary(), "bags": _bag_entries(outcome)})
        return
    tables.print_findings(tables.console(), outcome.result.findings)
    tables.print_result(outcome.result)
    _print_bags(outcome)


def _interfaces_of(options: argparse.Namespace) -> dict[str, str] | None:
    """Return the names of interfaces that the options state.

    Raises:
        SettingError: an entry is none, or of no signal that bags have.
    """
    found = bag_options.columns_of(options)
    for signal in found or ():
        if signal not in _SIGNALS:
            problem = f"no such signal; there are {', '.join(_SIGNALS)}"
            raise SettingError("--columns", signal, problem)
    return found


def _below(place: str) -> list[str]:
    """Return the bags that a place stands for."""
    return [bag.path for bag in find_bags([place])]


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
