"""Tables of a calibration for people; everything printed here is also in ``--json``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.cli.check import print_checks
from robot_identification.cli.tables import results as tables
from robot_identification.identification.estimators.least_squares import error_entries


def print_calibrated(calibrated: CalibratedParameters, held_out: Mapping[str, Any]) -> None:
    """Print parameters, tests, errors and warnings.

    Args:
        calibrated: the calibration.
        held_out: errors on other bags, the settings with which these were processed, those of them
            that are not those of the identification, and warnings; empty where there are none.
    """
    out = tables.console()
    prior = calibrated.prior
    rows = [
        (
            calibrated.names[i],
            f"{calibrated.values[i]:.6g}",
            _number(prior.values[place]) if prior.known[place] else "-",
            _number(calibrated.std[i]),
            _number(calibrated.std_robust[i]),
            calibrated.verdicts[place].name.lower().replace("_", " "),
        )
        for place, i in enumerate(calibrated.model)
    ]
    title = (
        f"{len(rows)} standard parameters of {calibrated.robot} on the {calibrated.space} space "
        f"({len(calibrated.essential)} essential parameters, SI units, joint side)"
    )
    columns = ("parameter", "value", "prior", "std", "robust std", "verdict")
    tables.print_table(out, title, columns, rows)
    out.print()
    print_checks(calibrated.checks)
    out.print()
    _print_errors(calibrated, held_out)
    if held_out:
        out.print()
        tables.print_settings(out, held_out["held_out_settings"], "settings of the bags held out")
        tables.print_different_settings(out, held_out["held_out_different_settings"])
        out.print()
    out.print(_summary(calibrated), soft_wrap=True, markup=False)
    tables.print_glossary(out)
    told = held_out["held_out_warnings"] if held_out else []
    tables.print_warnings(out, [*calibrated.warnings, *told])


def _print_errors(calibrated: CalibratedParameters, held_out: Mapping[str, Any]) -> None:
    joints = calibrated.joint_names
    found = {
        "identified": error_entries(calibrated.error_identified, joints),
        "nearest": error_entries(calibrated.error_free, joints),
        "published": error_entries(calibrated.error, joints),
    }
    if held_out:
        found["held out: identified"] = dict(held_out["held_out_error_identified"])
        found["held out: published"] = dict(held_out["held_out_error"])
    rows = [
        (name, *(tables.fraction(errors[name]) for errors in found.values()))
        for name in found["identified"]
    ]
    tables.print_table(
        tables.console(), "unexplained effort, as a fraction", ("joint", *found), rows
    )


def _summary(calibrated: CalibratedParameters) -> str:
    found = {
        "nearest": "the nearest parameters as they are",
        "repaired": "moved where no torque shows it",
        "semidefinite": "by a semidefinite program",
    }[calibrated.step.value]
    held = ", ".join((*calibrated.active_links, *calibrated.active_drives))
    far = (
        "no prior"
        if math.isnan(calibrated.distance_to_prior)
        else f"distance to the prior {calibrated.distance_to_prior:.4g} "
        f"(before consistency {calibrated.distance_free:.4g})"
    )
    text = (
        f"{found}; error increase {calibrated.error_increase:.4g}, {far}, "
        f"{calibrated.seconds:.2f} s\n{calibrated.cost}"
    )
    return f"{text}\nheld by the consistency of {held}" if held else text


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4g}"
