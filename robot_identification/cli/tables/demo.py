"""Tables of the demo: parameters beside the truth, unexplained effort, tracking errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from robot_identification.cli.tables import results as tables
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel

if TYPE_CHECKING:
    from robot_identification.ros.demo.commissioning import Followed

TRUSTED_PERCENT = 5.0
_MILLI = 1e3


def identification_document(
    robot: RobotModel, truth: Array, result: Any, validation: Any
) -> dict[str, Any]:
    """Return what an identification found beside the truth, as plain data.

    Args:
        robot: the robot.
        truth: (full columns,) its true parameters.
        result: a message IdentificationResult.
        validation: a response of ~/validate.
    """
    from robot_identification.ros.demo.session import sigmas

    base = base_parameters(robot)
    true_base = base.values(truth[base.columns])
    return {
        "robot": result.robot,
        "method": result.method,
        "parameters": [
            {
                "name": parameter.name,
                "true": float(true),
                "value": parameter.value,
                "std": parameter.std,
                "relative_std_percent": parameter.relative_std_percent,
                "larger_std_percent": _larger_percent(parameter),
                "sigmas": sigmas(parameter.value, float(true), parameter.std),
                "unit": parameter.unit,
            }
            for parameter, true in zip(result.parameters, true_base, strict=True)
        ],
        "relative_error": {
            "total": result.relative_error_total,
            **dict(zip(result.joint_names, result.relative_error, strict=True)),
        },
        "held_out_error": {
            "total": validation.relative_error_total,
            **dict(zip(validation.joint_names, validation.relative_error, strict=True)),
        },
        "condition_number": result.condition_number,
        "warnings": list(result.warnings),
    }


def _larger_percent(parameter: Any) -> float:
    """Return the larger standard deviation of a message BaseParameter, in percent of its value."""
    larger = np.fmax(parameter.std, parameter.std_robust)  # of which one may be not a number
    return float(100.0 * larger / abs(parameter.value)) if parameter.value else float("inf")


def tracking_document(robot: RobotModel, followed: Followed) -> dict[str, Any]:
    """Return what a calibration said, and tracking errors with the prior and after it.

    Args:
        robot: the robot.
        followed: the same motion with both models.
    """
    parameters = followed.calibrated.parameters
    runs = {"prior": followed.with_prior, "identified": followed.with_identified}
    return {
        "calibration": {
            "consistent": parameters.consistent,
            "relative_error": parameters.relative_error_total,
            "error_increase": parameters.error_increase,
            "distance_to_prior": parameters.distance_to_prior,
        },
        "tracking_error_rms": {
            name: {
                "total": run.total,
                **dict(zip(robot.joint_names, run.rms.tolist(), strict=True)),
            }
            for name, run in runs.items()
        },
        "prior_over_identified": followed.ratio,
        "efforts_late": {name: run.late for name, run in runs.items()},
        "tracking_tells_of_models": all(run.tells_of_model for run in runs.values()),
    }


def show(document: dict[str, Any]) -> None:
    """Print everything as tables."""
    out = tables.console()
    rows = [
        (
            entry["name"],
            f"{entry['true']:.5g}",
            f"{entry['value']:.5g}",
            f"{entry['std']:.2g}",
            f"{entry['relative_std_percent']:.2g}",
            f"{entry['sigmas']:.1f}",
            entry["unit"],
        )
        for entry in document["parameters"]
    ]
    title = f"{len(rows)} base parameters of {document['robot']} ({document['method']})"
    columns = ("parameter", "true", "identified", "std", "std %", "error / std", "unit")
    tables.print_table(out, title, columns, rows)
    errors = [
        (name, f"{error:.4f}", f"{document['held_out_error'][name]:.4f}")
        for name, error in document["relative_error"].items()
    ]
    out.print()
    title = "unexplained effort, as a fraction"
    tables.print_table(out, title, ("joint", "fitted motion", "other motion"), errors)
    trusted = [e for e in document["parameters"] if e["larger_std_percent"] < TRUSTED_PERCENT]
    good = sum(entry["sigmas"] <= 3.0 for entry in trusted)
    out.print(
        f"\n{len(trusted)} parameters have a standard deviation below {TRUSTED_PERCENT:g} %; "
        f"{good} of them lie within three of it from the truth."
    )
    _show_tracking(out, document)
    out.print(f"\n{document['seconds']:.0f} s")
    tables.print_warnings(out, document["warnings"])


def _show_tracking(out: Console, document: dict[str, Any]) -> None:
    errors = document["tracking_error_rms"]
    rows = [
        (name, f"{_MILLI * errors['prior'][name]:.3f}", f"{_MILLI * value:.3f}")
        for name, value in errors["identified"].items()
    ]
    out.print()
    title = "tracking error on the other motion, model fed forward, root mean square in mrad"
    tables.print_table(out, title, ("joint", "prior", "identified, calibrated"), rows)
    calibration = document["calibration"]
    out.print(
        "\nThe prior is 30 % too heavy and knows no friction.  Calibrated to it, "
        f"{'every' if calibration['consistent'] else 'not every'} link is physically consistent "
        f"and the unexplained effort is {calibration['relative_error']:.4f}; the robot follows "
        f"{document['prior_over_identified']:.0f} times better."
    )
    if not document["tracking_tells_of_models"]:
        late = max(document["efforts_late"].values())
        out.print(
            f"{100.0 * late:.0f} % of the feed-forward efforts reached the robot too late: the "
            "machine is too busy for these errors to say much about the models."
        )
