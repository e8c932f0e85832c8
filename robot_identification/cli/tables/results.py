"""Tables for people; everything printed here is also in ``--json``."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from robot_identification.cli.tables import fit as fit_tables
from robot_identification.cli.tables.printing import (
    console,
    fraction,
    print_findings,
    print_glossary,
    print_json,
    print_table,
    print_warnings,
)
from robot_identification.identification.estimators.least_squares import error_entries
from robot_identification.identification.friction.law import TRIED, FrictionLaw, tried_rows
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.statistics.trust import verdicts_of

__all__ = [
    "console",
    "fraction",
    "print_different_settings",
    "print_errors",
    "print_findings",
    "print_glossary",
    "print_json",
    "print_result",
    "print_settings",
    "print_table",
    "print_warnings",
]

_SHAPES = ("shape", "value", "std", "correlation with its term")


def print_result(result: IdentificationResult) -> None:
    """Print an identification: parameters, errors per joint, settings, warnings."""
    out = console()
    estimate = result.estimate
    kept = None if result.elimination is None else result.elimination.kept
    verdicts = verdicts_of(estimate, kept)
    rows = [
        (
            name,
            f"{estimate.values[i]:.7g}",
            f"{estimate.std[i]:.4g}",
            "-" if estimate.std_robust is None else f"{estimate.std_robust[i]:.4g}",
            _percent(result, i),
            verdicts[i].short,
            result.regrouping.grouping_text(i),
        )
        for i, name in enumerate(result.regrouping.names)
    ]
    title = f"{len(rows)} base parameters of {result.robot} ({result.method}, SI units, joint side)"
    if result.elimination is not None:
        title += f", {int(result.elimination.kept.sum())} of them essential"
    columns = ("parameter", "value", "std", "std robust", "std %", "verdict", "grouping")
    print_table(out, title, columns, rows)
    out.print()
    print_errors(out, result)
    out.print()
    fit_tables.print_fit(out, result)
    if result.friction is not None:
        _print_friction(out, result.friction, result.joint_names)
    print_settings(out, result.settings)
    print_glossary(out)
    print_warnings(out, result.warnings)


def print_settings(
    out: Console, settings: Mapping[str, Mapping[str, object]], title: str = "settings"
) -> None:
    """Print settings with their values and where these come from."""
    rows = [
        (name, _setting(entry["value"]), str(entry["reason"]))
        for name, entry in settings.items()
        if name not in fit_tables.TABLED
    ]
    print_table(out, title, ("setting", "value", "from"), rows)


def print_different_settings(out: Console, different: Mapping[str, Mapping[str, object]]) -> None:
    """Print by which settings the parameters were not identified; nothing where there are none."""
    rows = [
        (name, _setting(entry["used"]), _setting(entry["identified"]))
        for name, entry in different.items()
    ]
    if rows:
        title = "settings that are not those of the identification"
        print_table(out, title, ("setting", "here", "identified with"), rows)


def _percent(result: IdentificationResult, index: int) -> str:
    """Return the relative standard deviation, or that the parameter was removed."""
    if result.elimination is not None and not result.elimination.kept[index]:
        return "removed"
    return f"{result.estimate.relative_std_percent[index]:.4g}"


def print_errors(out: Console, result: IdentificationResult) -> None:
    """Print the relative errors per joint, the conditioning and the size of the problem."""
    estimate = result.estimate
    fitted = error_entries(estimate.relative_error, result.joint_names)
    held_out = (
        error_entries(result.held_out, result.joint_names) if result.held_out is not None else {}
    )
    rows = [
        (
            name,
            fraction(error),
            *((fraction(held_out[name]),) if held_out else ()),
            *_per_joint(result.summary(), name),
        )
        for name, error in fitted.items()
    ]
    held = ("held out",) if held_out else ()
    columns = ("joint", "relative error", *held, "residual std", "rows")
    print_table(out, "unexplained effort, as a fraction", columns, rows)
    out.print(
        f"condition number {estimate.condition_number:.6g} "
        f"({estimate.scaled_condition_number:.6g} with scaled columns), "
        f"{sum(estimate.rows)} rows, {result.seconds:.2f} s",
        soft_wrap=True,
    )


def _per_joint(entries: Mapping[str, object], name: str) -> tuple[str, str]:
    deviations, rows = entries["residual_std"], entries["rows_per_joint"]
    if name == "total" or not isinstance(deviations, dict) or not isinstance(rows, dict):
        return ("", str(entries["rows"]))
    return (f"{deviations[name]:.4g}", str(rows[name]))


def _setting(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return " ".join(_setting(entry) for entry in value) or "off"
    return str(value)


def _print_friction(out: Console, law: FrictionLaw, joint_names: tuple[str, ...]) -> None:
    """Print the terms of every joint with their shapes, and what was tried."""
    if law.errors:
        before, after = law.errors
        tried = tried_rows(law, joint_names)
        title = (
            f"friction chosen on blocks left out: unexplained effort {before:.6f} before, "
            f"{after:.6f} after (gain: of the joint's squared residual)"
        )
        print_table(out, title, TRIED, tried)
        out.print()
    if law.shapes:
        shapes = [
            (shape.name, f"{shape.value:.4g}", f"{shape.std:.2g}", f"{shape.correlation:.2f}")
            for shape in law.shapes
        ]
        print_table(out, "shapes of friction, as estimated", _SHAPES, shapes)
        out.print()
