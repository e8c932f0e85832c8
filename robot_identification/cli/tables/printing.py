"""Printing of tables and plain data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from robot_identification.identification.diagnosis.finding import Finding
from robot_identification.presentation import plain

# Columns of text, flush left; those of numbers stand flush right.
_TEXT = (
    "grouping",
    "verdict",
    "what",
    "from",
    "bag",
    "joint",
    "largest",
    "largest changes",
    "relation",
    "with the geometry's symbols",
)

_GLOSSARY = "docs/glossary.md"


def console() -> Console:
    """Return a console on standard output that never cuts or colours what is piped."""
    result = Console(highlight=False)
    return result if result.is_terminal else Console(highlight=False, width=160)


def print_json(document: Mapping[str, object]) -> None:
    """Print plain data as JSON; what is not finite becomes null."""
    print(json.dumps(plain(document), indent=2, allow_nan=False))


def print_table(
    out: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    """Print a plain table under its title; columns of numbers stand flush right."""
    result = Table(box=None, pad_edge=False)
    for i, name in enumerate(columns):
        text = i == 0 or name in _TEXT
        result.add_column(escape(name), justify="left" if text else "right", overflow="fold")
    for row in rows:
        result.add_row(*(escape(cell) for cell in row))
    out.print(title, style="bold", markup=False, soft_wrap=True)
    out.print(result)


def fraction(error: float | None, digits: int = 6) -> str:
    """Return an error with fixed digits, a dash where there is none."""
    return "-" if error is None or math.isnan(error) else f"{error:.{digits}f}"


def print_glossary(out: Console) -> None:
    """Print where the terms of the tables above are explained."""
    out.print(f"terms: {_GLOSSARY}", markup=False, soft_wrap=True)


def print_findings(out: Console, findings: Iterable[Finding]) -> None:
    """Print what a diagnosis has found, the worst first, a line each."""
    for finding in findings:
        out.print(finding.line, markup=False, soft_wrap=True)


def print_warnings(out: Console, warnings: Iterable[str]) -> None:
    """Print warnings, a line each."""
    for warning in warnings:
        out.print(f"warning: {warning}", markup=False, soft_wrap=True)
