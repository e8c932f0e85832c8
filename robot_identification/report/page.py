"""The page of a report: what the templates show, and the HTML that they make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from robot_identification import __version__
from robot_identification.identification.estimators.choice import method_of
from robot_identification.identification.friction.law import TRIED, tried_rows
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.statistics.reliability import (
    ParameterReliability,
    parameter_reliability,
)
from robot_identification.identification.statistics.residuals import joint_friction
from robot_identification.identification.statistics.trust import Reliability
from robot_identification.report import verdicts as words
from robot_identification.report.errors_table import (
    MOST_ROWS,
    Table,
    errors_table,
    folds_table,
    outliers_table,
    unseen_error,
)
from robot_identification.report.evidence import Evidence
from robot_identification.report.figures.pictures import Pictures, image
from robot_identification.report.numbers import NONE, listed, number, percent
from robot_identification.report.parameter_rows import (
    VERDICT_CLASSES,
    link_rows,
    parameter_rows,
    standard_rows,
)
from robot_identification.robot.terms.joint_terms import TERMS
from robot_identification.robot.terms.kinds import TermKind

_TEMPLATES = Path(__file__).parent / "templates"
_SECTIONS = {
    "effort": "Effort: measured and predicted",
    "parameters": "Base parameters",
    "friction": "Friction over velocity",
    "excitation": "Excitation",
    "residual": "Residual",
    "convergence": "Convergence",
    "links": "Consistency of links",
    "settings": "Settings",
    "provenance": "Provenance",
}


@dataclass(frozen=True)
class Share:
    """Part of the parameters that have one verdict."""

    kind: str
    name: str
    count: int
    percent: float


def page(evidence: Evidence, drawn: Pictures) -> str:
    """Return a report as one HTML document that needs nothing else.

    Every text of a file is escaped, and a policy in the document keeps a browser from loading
    anything.

    Args:
        evidence: what the report shows.
        drawn: its figures.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["tight"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    judged = parameter_reliability(evidence.result)
    content = {
        **_head(evidence, judged),
        **_figures(evidence, drawn),
        **_tables(evidence, judged),
        **_links(evidence),
        **_origin(evidence),
    }
    return environment.get_template("report.html").render(content).strip() + "\n"


def _head(evidence: Evidence, judged: Sequence[ParameterReliability]) -> dict[str, Any]:
    result = evidence.result
    shown = [i for i in _SECTIONS if i != "convergence" or result.history is not None]
    return {
        "style": Markup((_TEMPLATES / "style.css").read_text("utf-8")),  # noqa: S704 (our own)
        "robot": result.robot,
        "headline": words.headline(result),
        "cards": _cards(result, judged),
        "shares": _shares(judged),
        "statements": words.statements(evidence, judged),
        "doubts": [
            {"names": listed(d.names), "because": d.because, "advice": d.advice}
            for d in words.doubts(judged)
        ],
        "warnings": result.warnings,
        "sections": [{"id": i, "title": _SECTIONS[i]} for i in shown],
        "version": __version__,
    }


def _cards(
    result: IdentificationResult, judged: Sequence[ParameterReliability]
) -> list[dict[str, str]]:
    good = sum(p.verdict is Reliability.GOOD for p in judged)
    unseen = unseen_error(result)
    return [
        {"value": f"{good} of {len(judged)}", "label": "base parameters known to better than 5 %"},
        {
            "value": percent(result.estimate.relative_error.total),
            "label": "of the effort unexplained by the fit",
        },
        {
            "value": NONE if unseen is None else percent(unseen.total),
            "label": "on data without part in the fit"
            + ("" if unseen is None else f" ({unseen.kind})"),
        },
        {
            "value": number(result.estimate.scaled_condition_number),
            "label": "condition number, columns of unit norm",
        },
    ]


def _shares(judged: Sequence[ParameterReliability]) -> list[Share]:
    found = []
    for verdict, kind in VERDICT_CLASSES.items():
        count = sum(p.verdict is verdict for p in judged)
        if count:
            found.append(Share(kind, verdict.value, count, round(100.0 * count / len(judged), 2)))
    return found


def _figures(evidence: Evidence, drawn: Pictures) -> dict[str, Any]:
    grouped = [f.joint for f in joint_friction(evidence.result) if f is not None and f.grouped]
    return {
        "torque": [
            {"name": name, "images": [image(p) for p in own]} for name, own in drawn.torque.items()
        ],
        "torque_remark": _why_not_drawn(evidence),
        "friction": [image(p) for p in drawn.friction],
        "friction_law": _friction_law(evidence.result),
        "friction_reach": _friction_reach(evidence.result),
        "friction_points": bool(evidence.predictions),
        "friction_grouped": listed(grouped) if grouped else "",
        "excitation": image(drawn.excitation),
        "spectrum": [image(p) for p in drawn.spectrum],
        "histogram": [image(p) for p in drawn.histogram],
        "convergence": None if drawn.convergence is None else image(drawn.convergence),
    }


def _friction_law(result: IdentificationResult) -> str:
    """Return the sum that the curves of friction are, with every function that a joint has."""
    own = {
        term: None
        for friction in joint_friction(result)
        if friction is not None
        for term, value in zip(friction.terms, friction.values, strict=True)
        if value or term.default
    }
    return " + ".join(
        "offset" if term.kind is TermKind.OFFSET else f"{term.name} {term.kind.formula}"
        for term in sorted(own, key=TERMS.index)
    )


def _friction_reach(result: IdentificationResult) -> str:
    """Return over which velocities curves are drawn where there are no recordings."""
    known = [friction.speed for friction in joint_friction(result) if friction is not None]
    return "over the speeds of the recordings" if any(known) else "over −1 to 1"  # noqa: RUF001


def _why_not_drawn(evidence: Evidence) -> str:
    """Return why some or all recordings are not drawn; empty where all are."""
    if evidence.robot is None:
        return f"There are no time plots: {evidence.robot_remark}."
    if evidence.predictions:
        return ""
    states = "; ".join(f"{title}: {source.state}" for title, source in evidence.titled[:3])
    return f"There are no time plots ({states}). Name the bags with --bag."


def _tables(evidence: Evidence, judged: Sequence[ParameterReliability]) -> dict[str, Any]:
    result = evidence.result
    return {
        "errors": errors_table(result),
        "folds": folds_table(result),
        "outliers": outliers_table(result),
        "parameters": parameter_rows(evidence, judged),
        "has_prior": evidence.prior is not None,
        "has_units": evidence.robot is not None,
        "condition": number(result.estimate.condition_number),
        "scaled_condition": number(result.estimate.scaled_condition_number),
        "convergence_text": _convergence_text(result),
        "iterations": _iterations(result),
        "settings": _settings(result),
        "tried": _tried(result),
    }


def _tried(result: IdentificationResult) -> Table:
    """Return the joint terms that were tried, without rows where none were."""
    law = result.friction
    return Table(TRIED, () if law is None else tuple(tried_rows(law, result.joint_names)))


def _convergence_text(result: IdentificationResult) -> str:
    history = result.history
    if history is None:
        return ""
    return (
        f"{history.verdict} from the start {history.start}; {history.simulations} simulations. "
        "The torque error compares the measured effort with that of a simulation of the robot "
        f"under its controller. Noise floor: {history.noise_floor_reason}."
    )


def _iterations(result: IdentificationResult) -> Table:
    history = result.history
    rows = [] if history is None else history.iterations
    return Table(
        ("iteration", "torque error", "step", "parameter change"),
        tuple(
            (
                str(i.number),
                percent(i.torque_error.total),
                number(i.step) if i.number else "",
                number(i.parameter_change) if i.number else "",
            )
            for i in rows
        ),
    )


def _settings(result: IdentificationResult) -> Table:
    rows = [
        (name, _text(entry["value"]), str(entry["reason"]))
        for name, entry in result.settings.items()
    ]
    robust = result.summary().get("robust")
    if isinstance(robust, Mapping):
        rows += [
            (f"outliers: {name}", _text(value), "option")
            for name, value in robust.items()
            if name != "outliers"
        ]
    return Table(("setting", "value", "from"), tuple(rows))


def _text(value: object) -> str:
    if value is None:
        return NONE
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(entry)}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_text(entry) for entry in value) or "off"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _links(evidence: Evidence) -> dict[str, Any]:
    given, prior = evidence.parameters, evidence.prior
    if given is None or evidence.robot is None:
        return {"links": None}
    return {
        "links": link_rows(given),
        "problems": given.checks.problems,
        "parameters_path": given.path,
        "standard": standard_rows(given, prior, evidence.robot),
        "prior_source": "" if prior is None else prior.source,
        "prior_remark": evidence.prior_remark,
    }


def _origin(evidence: Evidence) -> dict[str, Any]:
    result = evidence.result
    rows = [
        ("result", evidence.path),
        ("SHA-256 of the result", evidence.digest),
        ("robot", result.robot),
        ("SHA-256 of the robot file", result.robot_digest),
        ("method", method_of(result.method).title),
        ("time of the identification", f"{result.seconds:.3g} s"),
        ("version of robot_identification", __version__),
    ]
    if evidence.parameters is not None:
        rows += [
            ("calibrated parameters", evidence.parameters.path),
            ("their SHA-256", evidence.parameters.digest),
        ]
    if evidence.prior is not None:
        rows += [("prior", evidence.prior.source), ("its SHA-256", evidence.prior.digest)]
    return {
        "provenance": rows,
        "sources": [
            {
                "name": title,
                "digest": found.source.digest,
                "samples": found.source.samples,
                "seconds": number(found.source.duration),
                "state": found.state,
            }
            for title, found in evidence.titled[:MOST_ROWS]
        ],
        "more_sources": max(len(evidence.sources) - MOST_ROWS, 0),
    }
