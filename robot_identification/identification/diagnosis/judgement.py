"""Findings that are gathered while recordings are identified, for the result or for its refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

from robot_identification.errors import RecordingError, ResultRefusedError
from robot_identification.identification.diagnosis.finding import Finding, Severity, worst_first
from robot_identification.identification.diagnosis.fit import fit_findings
from robot_identification.identification.diagnosis.friction import law_findings
from robot_identification.identification.diagnosis.recorded.recording import recording_findings
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.signals.recording import Recording


class Judgement:
    """What is found of recordings, and of the fit to them as soon as there is one.

    Args:
        robot: the robot.
        recordings: joint states on the joint side.

    Attributes:
        of_fit: what one change would explain of what the fit leaves; empty until it is known.
    """

    def __init__(self, robot: RobotModel, recordings: Sequence[Recording]) -> None:
        self._robot, self._recordings = robot, recordings
        self.of_fit: tuple[Finding, ...] = ()

    @cached_property
    def of_recordings(self) -> tuple[Finding, ...]:
        """What is wrong with the recordings themselves; looked for once."""
        return recording_findings(self._robot, self._recordings)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, the worst first."""
        return worst_first([*self.of_recordings, *self.of_fit])

    def judge_fit(
        self,
        source: WholeRows,
        values: Array,
        *,
        laws: bool,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        """Look for what would explain what a fit leaves.

        Args:
            source: its rows.
            values: (base,) its parameters.
            laws: whether friction laws are looked for; they are not where there is a mistake,
                which would pass for friction.
            cancelled: asked now and then whether to stop.

        Raises:
            CancelledError: ``cancelled`` says so.
        """
        found = fit_findings(source.base, source.segments, source.processing, cancelled)
        self.of_fit = found
        if laws and not any(one.severity is Severity.MISTAKE for one in self.findings):
            self.of_fit = worst_first([*found, *law_findings(source, values)])

    @contextmanager
    def told(self) -> Iterator[None]:
        """Have an error for which recordings or what they gave are to blame tell the findings."""
        try:
            yield
        except (RecordingError, ResultRefusedError) as error:
            error.findings = tuple(finding.line for finding in self.findings)
            raise
