"""Identify the gains of all drives from runs without and with a known payload."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_identification.cli.options import common as shared
from robot_identification.cli.options import payload as payload_options
from robot_identification.cli.options.outputs import check_outputs
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.files.payloads import gains_summary, write_drive_gains
from robot_identification.identification.payload.calibrate_drives import (
    identify_drive_gains,
    with_all_gains,
)
from robot_identification.identification.payload.drive_gains import GAIN_METHODS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    payload_options.add_runs(parser, bare_needed=True)
    payload_options.add_known(parser)
    payload_options.add_frame(parser)
    parser.add_argument(
        "--method", choices=GAIN_METHODS, default=GAIN_METHODS[0], help="default: %(default)s"
    )
    parser.add_argument(
        "--trust",
        nargs="+",
        default=[],
        metavar="JOINT",
        help="joints whose drive gains are taken as right",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="file of the gains")
    shared.add_processing(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    read = [*options.bare, *options.loaded, options.payload]
    check_outputs([options.output], options.robot, read)
    payload = payload_options.known_of(options)
    robot = shared.robot_of(options)
    mounting = payload_options.mounting_of(options, robot, file=options.payload)
    with progress.bar("drive-gains", quiet=options.json) as report:
        bare, loaded = payload_options.runs_of(options, with_all_gains(robot))
        result = identify_drive_gains(
            robot,
            bare,
            loaded,
            mounting,
            payload,
            method=options.method,
            trusted=options.trust,
            overrides=shared.processing_of(options),
            progress=report,
        )
    if options.output is not None:
        write_drive_gains(options.output, result)
    document = gains_summary(result)
    if options.json:
        tables.print_json(document)
    else:
        _print(document, for_robot_file=not result.reversed)


def _print(document: dict[str, Any], *, for_robot_file: bool) -> None:
    out = tables.console()
    rows = [
        (
            gain["joint"],
            f"{gain['factor']:.5f}",
            "trusted" if gain["trusted"] else f"{gain['std']:.2g}",
            f"{gain['interval_95'][0]:.5f}",
            f"{gain['interval_95'][1]:.5f}",
            *(f"{gain[key]:.6g}" if gain[key] is not None else "-" for key in _GAINS),
            f"{document['residual_std'][gain['joint']]:.4g}",
        )
        for gain in document["gains"]
    ]
    title = f"drive gains of {document['robot']} ({document['method']}), {_measure(document)}"
    columns = ("joint", "factor", "std", "95 % from", "to", *_GAINS.values(), "residual std")
    tables.print_table(out, title, columns, rows)
    out.print(
        f"condition number {document['condition_number']:.3g} with scaled columns, "
        f"{document['rows']} rows, {document['iterations']} iterations, "
        f"{document['seconds']:.2f} s",
        soft_wrap=True,
    )
    tables.print_warnings(out, document["warnings"])
    stated = [gain for gain in document["gains"] if gain["drive_gain"] is not None]
    if stated and for_robot_file:
        out.print("for the robot file:", style="bold")
        for gain in stated:
            out.print(f"  - name: {gain['joint']}", markup=False, soft_wrap=True)
            out.print(f"    drive_gain: {gain['drive_gain']:.6g}", markup=False, soft_wrap=True)


def _measure(document: dict[str, Any]) -> str:
    """Return what factors are multiples of, for people."""
    gains = document["gains"]
    if all(gain["believed"] is None and gain["drive_gain"] is not None for gain in gains):
        return "the factors themselves, as the robot file states none"
    return "as multiples of those of the robot file"


_GAINS = {"believed": "robot file", "drive_gain": "drive gain"}
