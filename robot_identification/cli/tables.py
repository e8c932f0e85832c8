"""Tables for people; everything printed here is also in ``--json``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from robot_identification.identification.result import (
    IdentificationResult,
    error_entries,
    summary,
)


def console() -> Console:
    """Return a console on standard output that never cuts or colours what is piped."""
    result = Console(highlight=False)
    return result if result.is_terminal else Console(highlight=False, width=160)


def print_json(document: Mapping[str, object]) -> None:
    """Print plain data as JSON; what is not finite becomes null."""
    print(json.dumps(plain(document), indent=2, allow_nan=False))


def plain(value: object) -> object:
    """Return plain data with what is not finite as None."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_table(
    out: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    """Print a plain table under its title; columns of numbers stand flush right."""
    result = Table(box=None, pad_edge=False)
    for i, name in enumerate(columns):
        text = i == 0 or name in (
            "grouping",
            "from",
            "bag",
            "relation",
            "with the geometry's symbols",
        )
        result.add_column(name, justify="left" if text else "right", overflow="fold")
    for row in rows:
        result.add_row(*(escape(cell) for cell in row))
    out.print(title, style="bold", markup=False, soft_wrap=True)
    out.print(result)


def grouping_text(grouping: Mapping[str, float]) -> str:
    """Return a grouping such as ``ZZ1 + Ia1 + 0.4 MZ3``."""
    parts: list[str] = []
    for name, coefficient in grouping.items():
        size = abs(coefficient)
        term = name if math.isclose(size, 1.0, rel_tol=1e-9) else f"{size:.6g} {name}"
        sign = "-" if coefficient < 0 else "+"
        parts.append(f"{sign} {term}" if parts else (f"-{term}" if coefficient < 0 else term))
    return " ".join(parts)


def print_result(result: IdentificationResult) -> None:
    """Print an identification: parameters, errors per joint, settings, warnings."""
    out = console()
    estimate = result.estimate
    rows = [
        (
            name,
            f"{estimate.values[i]:.7g}",
            f"{estimate.std[i]:.4g}",
            "-" if estimate.std_robust is None else f"{estimate.std_robust[i]:.4g}",
            _percent(result, i),
            grouping_text(result.regrouping.grouping(i)),
        )
        for i, name in enumerate(result.regrouping.names)
    ]
    title = f"{len(rows)} base parameters of {result.robot} ({result.method}, SI units, joint side)"
    if result.elimination is not None:
        title += f", {int(result.elimination.kept.sum())} of them essential"
    print_table(out, title, ("parameter", "value", "std", "std robust", "std %", "grouping"), rows)
    out.print()
    print_errors(out, result)
    out.print()
    settings = [
        (name, _setting(entry["value"]), str(entry["reason"]))
        for name, entry in result.settings.items()
    ]
    print_table(out, "settings", ("setting", "value", "from"), settings)
    for warning in result.warnings:
        out.print(f"warning: {warning}", markup=False, soft_wrap=True)


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
            f"{error:.6f}",
            *((f"{held_out[name]:.6f}",) if held_out else ()),
            *_per_joint(summary(result), name),
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
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return " ".join(_setting(entry) for entry in value) or "off"
    return str(value)
