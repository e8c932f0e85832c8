"""A finding: which joint, what is wrong with it, the figures that say so, and what to do.

Console, reports, services and ``/diagnostics`` take their sentences from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

from robot_identification.identification import entries as entry_of


class Severity(Enum):
    """How a finding is to be taken; the worst first."""

    MISTAKE = "mistake"
    """The data or the description are not what they are taken for."""
    DOUBT = "doubt"
    """Something of the result cannot be relied upon."""
    NOTE = "note"
    """Worth knowing; nothing is wrong."""


_ORDER = {severity: place for place, severity in enumerate(Severity)}
_MOST_JOINTS = 4


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or in doubt.

    Attributes:
        severity: how it is to be taken.
        cause: what it is, in one or two words that stay the same, such as ``effort sign``.
        joints: names of the joints concerned; empty: the robot or the recording as a whole.
        problem: what is wrong, with its figures, as a sentence without joint and full stop.
        advice: what to do.
        figures: the evidence, by name; SI units, fractions or counts.
        source: the recording; empty: all of them together, or the fit.
        weight: orders findings of one severity, the larger the worse.
    """

    severity: Severity
    cause: str
    joints: tuple[str, ...]
    problem: str
    advice: str
    figures: Mapping[str, float] = field(default_factory=dict)
    source: str = ""
    weight: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "figures", MappingProxyType(dict(self.figures)))

    @property
    def whose(self) -> str:
        """The joints, for people; ``robot`` where it is about the whole."""
        if not self.joints:
            return "robot"
        more = len(self.joints) - _MOST_JOINTS
        named = ", ".join(self.joints if more <= 0 else self.joints[:_MOST_JOINTS])
        return named if more <= 0 else f"{named} and {more} more"

    def __str__(self) -> str:
        """The sentence that people read, wherever they read it."""
        where = f" ({self.source})" if self.source else ""
        return f"{self.whose}: {self.cause}: {self.problem}{where}; {self.advice}"

    @property
    def line(self) -> str:
        """The sentence with its severity before it."""
        return f"{self.severity.value}: {self}"


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in the order in which they are to be read, each once."""
    kept: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        kept.setdefault((finding.cause, finding.joints, finding.source), finding)
    return tuple(sorted(kept.values(), key=lambda f: (_ORDER[f.severity], -f.weight)))


def finding_entries(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """Return the plain data of findings, as ``--json`` and result files have them."""
    return [
        {
            "severity": finding.severity.value,
            "cause": finding.cause,
            "joints": list(finding.joints),
            "problem": finding.problem,
            "advice": finding.advice,
            "figures": {name: float(value) for name, value in finding.figures.items()},
            "source": finding.source,
            "weight": finding.weight,
            "text": str(finding),
        }
        for finding in findings
    ]


def finding_of(entry: Mapping[str, Any]) -> Finding:
    """Return the finding that plain data describe.

    Raises:
        KeyError, TypeError, ValueError: the data describe none.
    """
    figures = entry_of.mapping(entry, "figures")
    return Finding(
        severity=Severity(entry_of.text(entry, "severity")),
        cause=entry_of.text(entry, "cause"),
        joints=entry_of.texts(entry, "joints"),
        problem=entry_of.text(entry, "problem"),
        advice=entry_of.text(entry, "advice"),
        figures={str(name): entry_of.number(figures, name) for name in figures},
        source=entry_of.text(entry, "source"),
        weight=entry_of.number(entry, "weight"),
    )
