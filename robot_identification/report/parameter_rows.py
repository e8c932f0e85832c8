"""Rows of the tables of parameters: base parameters, standard parameters, links."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robot_identification.calibration.consistency.link_checks import LinkCheck
from robot_identification.calibration.prior import Prior
from robot_identification.files.parameters import StandardParameters
from robot_identification.identification.statistics.reliability import (
    TWO_SIDED_95,
    ParameterReliability,
)
from robot_identification.identification.statistics.trust import Reliability
from robot_identification.report.evidence import Evidence
from robot_identification.report.numbers import NONE, number, percent, with_interval
from robot_identification.robot.model import RobotModel

# The bar beside a value goes from twice the value below it to twice the value above it.
_REACH = 2.0
VERDICT_CLASSES = {
    Reliability.GOOD: "good",
    Reliability.WEAK: "weak",
    Reliability.NOT_IDENTIFIED: "bad",
    Reliability.REMOVED: "removed",
}


@dataclass(frozen=True)
class Bar:
    """An interval relative to its value, in percent of the width of a bar.

    Attributes:
        begin: where the interval begins.
        end: where it ends.
        zero: where the value zero is.
        prior: where the prior value is; None outside the bar, or without a prior.
        open_begin: whether the interval goes on to the left of the bar.
        open_end: whether it goes on to the right.
    """

    begin: float
    end: float
    zero: float
    prior: float | None
    open_begin: bool
    open_end: bool


@dataclass(frozen=True)
class ParameterRow:
    """One base parameter, as text."""

    name: str
    grouping: str
    unit: str
    value: str
    half: str
    relative: str
    prior: str
    bar: Bar | None
    verdict: str
    short_verdict: str
    verdict_class: str
    reason: str


def parameter_rows(
    evidence: Evidence, judged: Sequence[ParameterReliability]
) -> tuple[ParameterRow, ...]:
    """Return the rows of the base parameters."""
    regrouping = evidence.result.regrouping
    priors = (
        np.full(len(judged), np.nan)
        if evidence.prior is None
        else evidence.prior.base_values(regrouping)
    )
    return tuple(
        _parameter_row(
            parameter,
            _grouping(regrouping.grouping(i)),
            "" if evidence.robot is None else evidence.robot.unit_of(regrouping.leading[i]),
            float(priors[i]),
        )
        for i, parameter in enumerate(judged)
    )


def _parameter_row(
    parameter: ParameterReliability, grouping: str, unit: str, prior: float
) -> ParameterRow:
    removed = parameter.verdict is Reliability.REMOVED
    half = TWO_SIDED_95 * parameter.std
    value, deviation = with_interval(parameter.value, half)
    return ParameterRow(
        name=parameter.name,
        grouping=grouping,
        unit=plain_unit(unit),
        value="0" if removed else value,
        half="" if removed else deviation,
        relative=NONE if removed else percent(parameter.relative_std),
        prior="" if math.isnan(prior) else number(prior),
        bar=None if removed else _bar(parameter, prior),
        verdict=parameter.verdict.value,
        short_verdict=parameter.verdict.short,
        verdict_class=VERDICT_CLASSES[parameter.verdict],
        reason=parameter.reason,
    )


def _bar(parameter: ParameterReliability, prior: float) -> Bar | None:
    size = abs(parameter.value)
    if not size > 0.0:
        return None
    half = TWO_SIDED_95 * parameter.std / size
    sign = math.copysign(1.0, parameter.value)
    distance = (prior * sign - size) / size
    return Bar(
        begin=_place(-half),
        end=_place(half),
        zero=_place(-1.0),
        prior=_place(distance) if abs(distance) <= _REACH else None,
        open_begin=half > _REACH,
        open_end=half > _REACH,
    )


def _place(distance: float) -> float:
    """Return where a relative distance from the value is on the bar, in percent of its width."""
    return round(50.0 + 50.0 * max(-1.0, min(1.0, distance / _REACH)), 2)


def _grouping(grouping: Mapping[str, float]) -> str:
    if len(grouping) == 1:
        return ""
    parts: list[str] = []
    for name, coefficient in grouping.items():
        size = abs(coefficient)
        term = name if math.isclose(size, 1.0, rel_tol=1e-9) else f"{size:.4g} {name}"
        sign = "\N{MINUS SIGN}" if coefficient < 0.0 else "+"
        parts.append(f"{sign} {term}" if parts or coefficient < 0.0 else term)
    return " ".join(parts)


def plain_unit(unit: str) -> str:
    """Return a unit with raised digits and a dot between its factors."""
    return unit.replace("^2", "²").replace(" ", "\N{NO-BREAK SPACE}")


@dataclass(frozen=True)
class StandardRow:
    """One standard parameter, as text."""

    name: str
    unit: str
    value: str
    half: str
    prior: str
    change: str
    verdict: str
    verdict_class: str


_STANDARD_CLASSES = {
    "identified": "good",
    "essential": "mixed",
    "prior_dominated": "weak",
    "not_identifiable": "removed",
}


def standard_rows(
    parameters: StandardParameters, prior: Prior | None, robot: RobotModel
) -> tuple[StandardRow, ...]:
    """Return the rows of the standard parameters that a file gives."""
    rows = []
    for i in np.flatnonzero(parameters.given):
        name, value = parameters.names[i], float(parameters.values[i])
        text, half = with_interval(value, TWO_SIDED_95 * parameters.std.get(name, float("nan")))
        known = prior is not None and bool(prior.known[i])
        before = float(prior.values[i]) if prior is not None and known else float("nan")
        verdict = parameters.verdicts.get(name, "")
        rows.append(
            StandardRow(
                name=name,
                unit=plain_unit(robot.unit_of(name)),
                value=text,
                half="" if half == NONE else half,
                prior=number(before) if known else "",
                change=number(value - before) if known else "",
                verdict=verdict.replace("_", " "),
                verdict_class=_STANDARD_CLASSES.get(verdict, "removed"),
            )
        )
    return tuple(rows)


@dataclass(frozen=True)
class LinkRow:
    """One link and whether it is physically consistent, as text."""

    link: str
    joint: str
    mass: str
    centre: str
    moments: str
    tolerance: str
    eigenvalue: str
    triangle: bool
    consistent: bool
    problem: str


def link_rows(parameters: StandardParameters) -> tuple[LinkRow, ...]:
    """Return the rows of the links."""
    return tuple(_link_row(check) for check in parameters.checks.links)


def _link_row(check: LinkCheck) -> LinkRow:
    passed = [tolerance for tolerance, holds in sorted(check.cholesky.items()) if holds]
    moments = np.linalg.eigvalsh(check.inertia) if check.positive_mass else np.full(3, np.nan)
    return LinkRow(
        link=check.link,
        joint=check.joint,
        mass=number(check.mass),
        centre=", ".join(number(float(x)) for x in check.centre),
        moments=", ".join(number(float(x)) for x in moments),
        tolerance=f"{passed[0]:g}" if passed else "none",
        eigenvalue=number(check.pseudo_inertia_min_eigenvalue),
        triangle=check.triangle_inequality,
        consistent=check.consistent,
        problem=check.problem,
    )
