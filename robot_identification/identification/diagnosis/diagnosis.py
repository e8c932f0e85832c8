"""Diagnosis of recordings and a robot: everything that is looked for, whatever can be fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from robot_identification.errors import RecordingError, ResultRefusedError
from robot_identification.identification.diagnosis.finding import (
    Finding,
    Severity,
    finding_entries,
    worst_first,
)
from robot_identification.identification.diagnosis.judgement import Judgement
from robot_identification.identification.identify import identify
from robot_identification.identification.result import IdentificationResult
from robot_identification.presentation import Presented
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import Recording

Progress = Callable[[str, float], None]


@dataclass(frozen=True, repr=False)
class Diagnosis(Presented):
    """What is wrong with recordings of a robot.

    Attributes:
        robot: name of the robot.
        sources: the recordings.
        findings: what was found, the worst first.
        result: what was identified on the way; None where that is not possible.
        refusal: why not; empty where it is.
    """

    robot: str
    sources: tuple[str, ...]
    findings: tuple[Finding, ...]
    result: IdentificationResult | None
    refusal: str

    @property
    def headline(self) -> str:
        """How many mistakes and doubts there are, in one line."""
        counts = {s: sum(f.severity is s for f in self.findings) for s in Severity}
        text = (
            f"{self.robot}, {_counted(len(self.sources), 'recording')}: "
            f"{_counted(counts[Severity.MISTAKE], 'mistake')}, "
            f"{_counted(counts[Severity.DOUBT], 'doubt')}"
        )
        if self.result is None:
            return f"{text}; nothing can be identified: {self.refusal}"
        return f"{text}; the fit leaves {100 * self.result.estimate.relative_error.total:.2g} %"

    def records(self) -> list[dict[str, object]]:
        """Return one row per finding."""
        columns = ("severity", "joints", "cause", "problem", "advice", "source")
        return [
            {name: ", ".join(f.joints) if name == "joints" else entry[name] for name in columns}
            for f, entry in zip(self.findings, finding_entries(self.findings), strict=True)
        ]

    def summary(self) -> dict[str, Any]:
        """Return the plain data that ``--json`` prints; the keys are stable."""
        error = None if self.result is None else self.result.summary()["relative_error"]
        return {
            "robot": self.robot,
            "sources": list(self.sources),
            "mistakes": sum(f.severity is Severity.MISTAKE for f in self.findings),
            "findings": finding_entries(self.findings),
            "relative_error": error,
            "refusal": self.refusal,
        }


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


def diagnose(
    robot: RobotModel,
    recordings: Sequence[Recording],
    *,
    overrides: ProcessingSettings | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Diagnosis:
    """Look for what is wrong with recordings or the description of a robot.

    Args:
        robot: the robot.
        recordings: joint states on the joint side.
        overrides: processing settings that replace recommended and derived ones.
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        SettingError: a setting is not possible.
        CancelledError: ``cancelled`` says so.
    """
    refuse_loops(robot, "the diagnosis of a description")
    result, refusal = None, ""
    judgement = Judgement(robot, recordings)
    try:
        result = identify(
            robot,
            recordings,
            overrides=overrides,
            judgement=judgement,
            progress=progress,
            cancelled=cancelled,
        )
    except (RecordingError, ResultRefusedError) as error:
        refusal = str(error)
    found = judgement.findings if result is None else result.findings
    if refusal and not any(f.severity is Severity.MISTAKE for f in found):
        advice = "see what is said of the joints; record a longer motion that moves every joint"
        refused = Finding(Severity.MISTAKE, "not identifiable", (), refusal, advice)
        found = worst_first([refused, *found])
    return Diagnosis(
        robot=robot.name,
        sources=tuple(recording.source for recording in recordings),
        findings=tuple(found),
        result=result,
        refusal=refusal,
    )
