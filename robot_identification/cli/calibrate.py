"""Find the standard parameters nearest to a prior, essential and physically consistent."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from robot_identification.api.calibration import calibrate, export, exported_friction
from robot_identification.api.identification import validate
from robot_identification.calibration.calibrate import CalibrationSettings
from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.cli.export import add_outputs
from robot_identification.cli.options import bags as bag_options
from robot_identification.cli.options import common as shared
from robot_identification.cli.options.outputs import check_outputs
from robot_identification.cli.options.recordings import recordings_of, refuse_reading
from robot_identification.cli.tables import calibration as calibration_tables
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.files.base_values import BaseValues
from robot_identification.files.export.outputs import KINDS, PLAIN
from robot_identification.files.parameters import NONE
from robot_identification.files.results import read_result_of
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.least_squares import error_entries
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.model import RobotModel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    parser.add_argument("result", type=Path, metavar="RESULT", help="result file of identify")
    parser.add_argument(
        "--prior",
        metavar="PRIOR",
        help="parameter file or URDF; what it lacks is free, but drives come from the result; by "
        f"default the URDF that describes the robot, if any; {NONE}: nothing is known",
    )
    shared.add_settings(parser, CalibrationSettings)
    parser.add_argument("-o", "--output", type=Path, metavar="PARAMETERS", help="parameter file")
    shared.add_settings(parser, EliminationRule)
    shared.add_boxes(parser)
    held_out = parser.add_argument_group("error on other data")
    held_out.add_argument(
        "--held-out", nargs="+", metavar="BAG", default=[], help="predict the efforts of these bags"
    )
    bag_options.add_bag_reading(held_out)
    shared.add_processing(parser, shared.AS_IDENTIFIED)
    add_outputs(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    if not options.held_out:
        refuse_reading(options, "is about the bags of --held-out, and there are none")
    robot = shared.robot_of(options, closed_loops=True)
    targets = {kind: path for kind in KINDS if (path := getattr(options, kind)) is not None}
    check_outputs(
        [*targets.values(), options.output],
        options.robot,
        [options.result, options.original, *options.held_out],
        [options.prior],
    )
    result = read_result_of(options.result, robot)
    robot = result.model_of(robot)
    calibrated = calibrate(
        robot,
        result,
        options.prior,
        **shared.stated(options, CalibrationSettings),
        essential=shared.elimination_of(options),
        boxes=shared.boxes_of(options),
    )
    held_out = _held_out(options, robot, result, calibrated)
    remarks: tuple[str, ...] = ()
    if targets or options.output is not None:
        remarks = export(
            robot,
            calibrated,
            parameter_file=options.output,
            **targets,
            original=options.original,
        )
    fitted = exported_friction(robot, calibrated) if set(targets) & PLAIN else {}
    if options.json:
        written = {kind: str(path) for kind, path in targets.items()}
        tables.print_json(
            {
                **calibrated.summary(),
                **held_out,
                "written": written,
                "remarks": list(remarks),
                **({"friction_fit": fitted} if fitted else {}),
            }
        )
        return
    calibration_tables.print_calibrated(calibrated, held_out)
    for remark in remarks:
        print(f"note: {remark}")


def _held_out(
    options: argparse.Namespace,
    robot: RobotModel,
    result: IdentificationResult,
    calibrated: CalibratedParameters,
) -> dict[str, Any]:
    """Return the errors on other bags, of published and identified parameters, and the settings."""
    if not options.held_out:
        return {}
    identified = replace(BaseValues.of(result, robot), values=calibrated.identified_base)
    with progress.bar("calibrate", quiet=options.json) as report:
        recordings = recordings_of(options, robot, options.held_out)
        found = {
            name: validate(
                robot,
                parameters,
                recordings,
                processing=shared.processing_of(options),
                derive_settings=options.derive_settings,
                progress=report,
            )
            for name, parameters in (
                ("held_out_error", calibrated),
                ("held_out_error_identified", identified),
            )
        }
    errors = {
        name: error_entries(validation.relative_error, robot.active_names)
        for name, validation in found.items()
    }
    published = found["held_out_error"]
    return {
        **errors,
        "held_out_settings": published.settings,
        "held_out_different_settings": published.different_settings,
        "held_out_warnings": list(published.warnings),
    }
