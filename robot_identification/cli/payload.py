"""Identify the payload of a robot from runs without and with it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console

from robot_identification.calibration.payload_body import with_consistent
from robot_identification.cli.options import common as shared
from robot_identification.cli.options import payload as payload_options
from robot_identification.cli.options.outputs import check_outputs
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.files.payloads import payload_summary, write_payload
from robot_identification.files.results import read_result_of
from robot_identification.identification.payload.identify import identify_payload

_UNITS = {"mass": "kg", **dict.fromkeys("xyz", "m")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    payload_options.add_runs(parser, bare_needed=False)
    parser.add_argument(
        "--result",
        type=Path,
        metavar="RESULT",
        help="result of identify for the bare robot, beside or in place of --bare",
    )
    payload_options.add_frame(parser)
    parser.add_argument(
        "--separate-friction",
        action="store_true",
        help="let the load change friction and offsets",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="payload file")
    shared.add_processing(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    read = [*options.bare, *options.loaded, options.result]
    check_outputs([options.output], options.robot, read)
    robot = shared.robot_of(options)
    mounting = payload_options.mounting_of(options, robot)
    earlier = None if options.result is None else read_result_of(options.result, robot)
    with progress.bar("payload", quiet=options.json) as report:
        bare, loaded = payload_options.runs_of(options, robot)
        result = identify_payload(
            robot,
            bare,
            loaded,
            mounting,
            earlier=earlier,
            separate_friction=options.separate_friction,
            overrides=shared.processing_of(options),
            progress=report,
        )
        result, consistent = with_consistent(result)
    if options.output is not None:
        write_payload(options.output, result, consistent)
    document = payload_summary(result, consistent)
    if options.json:
        tables.print_json(document)
    else:
        _print(document)


def _print(document: dict[str, Any]) -> None:
    out = tables.console()
    _print_body(out, document)
    out.print()
    _print_errors(out, document)
    out.print(
        f"{document['rank']} of 10 combinations identifiable, condition number "
        f"{document['condition_number']:.3g} with scaled columns, "
        f"{document['rows']['bare']} bare and {document['rows']['loaded']} loaded rows, "
        f"{document['seconds']:.2f} s",
        soft_wrap=True,
    )
    consistent = document["consistent"]
    if consistent is not None and consistent["changed"]:
        out.print(
            f"no body has the identified values; the nearest consistent one is "
            f"{consistent['distance']:.2g} standard deviations away",
            soft_wrap=True,
        )
    tables.print_warnings(out, document["warnings"])


def _print_body(out: Console, document: dict[str, Any]) -> None:
    frame = document["frame"]
    nearest = [] if document["consistent"] is None else _flat(document["consistent"])
    rows = []
    for i, (name, entry) in enumerate(document["body"].items()):
        unit = _UNITS.get(name, "kg m^2")
        if entry is None:
            rows.append((name, unit, "not identifiable", "", "", ""))
            continue
        lower, upper = entry["interval_95"]
        numbers = (entry["value"], entry["std"], lower, upper, *nearest[i : i + 1])
        rows.append((name, unit, *(f"{number:.5g}" for number in numbers)))
    title = (
        f"payload of {document['robot']} in the frame of {frame['name']} (moved by "
        f"{frame['joint']}); inertia about the centre of mass"
    )
    columns = ("quantity", "unit", "value", "std", "95 % from", "to")
    tables.print_table(out, title, (*columns, "consistent")[: 6 + bool(nearest)], rows)


def _print_errors(out: Console, document: dict[str, Any]) -> None:
    errors = document["relative_error"]
    joints = [
        (
            name,
            *(f"{errors[kind][name]:.4f}" for kind in ("bare", "loaded", "loaded_without_payload")),
            f"{document['residual_std'][name]:.4g}",
        )
        for name in errors["bare"]
    ]
    heading = ("joint", "bare", "loaded", "loaded, no payload", "residual std")
    tables.print_table(out, "unexplained effort, as a fraction", heading, joints)


def _flat(consistent: dict[str, Any]) -> list[float]:
    return [consistent["mass"], *consistent["centre"], *consistent["inertia"]]
