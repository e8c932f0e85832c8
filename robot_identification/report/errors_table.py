"""Errors per joint: on the fitted data, and on every kind of data that had no part in the fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot_identification.identification.result import IdentificationResult
from robot_identification.report.numbers import NONE, number, percent

MOST_ROWS = 100
"""Rows of a table with one row per recording."""

_SCHEMES = {"bags": "each bag from the others", "blocks": "each block from the others"}


@dataclass(frozen=True)
class UnseenError:
    """The error on data that had no part in the fit.

    Attributes:
        kind: which data, in words.
        total: the error, a fraction.
        joints: of every joint; None for one without rows there.
    """

    kind: str
    total: float
    joints: Mapping[str, float | None]


@dataclass(frozen=True)
class Table:
    """A table of text.

    Attributes:
        columns: headings.
        rows: cells; the first of a row names it.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def unseen_errors(result: IdentificationResult) -> tuple[UnseenError, ...]:
    """Return the errors on unseen data that a result holds, the most telling first."""
    entries = result.summary()
    found = []
    held_out, crossed = entries.get("held_out_error"), entries.get("cross_validation")
    if isinstance(held_out, dict):
        found.append(_unseen("held out", held_out))
    if isinstance(crossed, dict) and isinstance(crossed.get("relative_error"), dict):
        scheme = _SCHEMES.get(str(crossed.get("scheme")), "cross-validation")
        found.append(_unseen(scheme, crossed["relative_error"]))
    return tuple(found)


def unseen_error(result: IdentificationResult) -> UnseenError | None:
    """Return the most telling error on unseen data, None where there is none."""
    return next(iter(unseen_errors(result)), None)


def _unseen(kind: str, entries: Mapping[str, Any]) -> UnseenError:
    joints = {name: error for name, error in entries.items() if name != "total"}
    return UnseenError(kind, float(entries["total"]), joints)


def errors_table(result: IdentificationResult) -> Table:
    """Return the errors of every joint, and the size of its residual."""
    estimate, unseen = result.estimate, unseen_errors(result)
    rows = [
        (
            "all joints",
            percent(estimate.relative_error.total),
            *(percent(error.total) for error in unseen),
            "",
            str(sum(estimate.rows)),
        )
    ]
    for joint, name in enumerate(result.joint_names):
        rows.append(
            (
                name,
                percent(float(estimate.relative_error.joints[joint])),
                *(_joint(error.joints[name]) for error in unseen),
                number(float(estimate.residual_std[joint])),
                str(estimate.rows[joint]),
            )
        )
    kinds = tuple(error.kind for error in unseen)
    return Table(("joint", "fit", *kinds, "residual std", "rows"), tuple(rows))


def folds_table(result: IdentificationResult) -> Table | None:
    """Return the errors of every bag or block that was left out; None without any.

    Of very many, those with the largest errors.

    Args:
        result: the result.
    """
    entries = result.summary()
    crossed: Any = entries.get("cross_validation")
    folds = list(crossed["folds"]) if isinstance(crossed, dict) else []
    kinds = ["left out" for _ in folds]
    held: Any = entries.get("held_out_bags")
    if isinstance(held, list):
        folds += held
        kinds += ["held out" for _ in held]
    if not folds:
        return None
    pairs = list(zip(folds, kinds, strict=True))
    if len(pairs) > MOST_ROWS:
        pairs = sorted(pairs, key=lambda pair: -_size(pair[0]["relative_error"]))[:MOST_ROWS]
    remarks = any(fold["reason"] for fold, _ in pairs)
    rows = tuple(
        (
            str(fold["name"]),
            kind,
            _total(fold["fitted_error"]),
            _total(fold["relative_error"]),
            *((str(fold["reason"]),) if remarks else ()),
        )
        for fold, kind in pairs
    )
    columns = ("data", "how", "in the fit", "not in the fit", *(("remark",) if remarks else ()))
    return Table(columns, rows)


def outliers_table(result: IdentificationResult) -> Table | None:
    """Return what was limited of every joint in every bag; None where outliers were not looked for.

    Args:
        result: the result.
    """
    robust: Any = result.summary().get("robust")
    if not isinstance(robust, dict):
        return None
    rows = tuple(
        (
            str(entry["bag"]),
            str(entry["joint"]),
            str(entry["rows"]),
            f"{entry['limited']} ({percent(entry['limited'] / max(entry['rows'], 1))})",
            str(entry["outlying"]),
            str(entry["spikes"]),
            ", ".join(f"{number(time)} s: {number(residual)}" for time, residual in entry["worst"]),
        )
        for entry in sorted(robust["outliers"], key=lambda entry: -entry["outlying"])[:MOST_ROWS]
    )
    columns = (
        "data",
        "joint",
        "rows",
        "limited",
        "far off",
        "spikes",
        "largest: time and residual",
    )
    return Table(columns, rows)


def _joint(error: float | None) -> str:
    return NONE if error is None else percent(error)


def _total(error: Any) -> str:
    return percent(_size(error)) if isinstance(error, dict) else NONE


def _size(error: Any) -> float:
    """Return a total error; one that could not be had counts as the largest."""
    return float(error["total"]) if isinstance(error, dict) else float("inf")
