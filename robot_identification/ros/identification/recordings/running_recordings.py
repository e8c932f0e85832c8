"""Requests on a recording that runs: each folds in what has come since the one before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.diagnosis.finding import Finding, worst_first
from robot_identification.identification.diagnosis.recorded.recording import recording_findings
from robot_identification.identification.estimators.choice import DEFAULT, method_of
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.growing_identification import GrowingIdentification
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.common.jobs import Cancelled
from robot_identification.ros.identification.recordings.recording import LiveRecording
from robot_identification.ros.identification.recordings.selection import (
    measured_as,
    recording_of,
)
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording


def is_about_whole(request: Any) -> bool:
    """Tell whether a request to identify is about all of one live recording, and that alone.

    Args:
        request: of Identify, or a goal with the same fields.
    """
    data = request.data
    return (
        not data.bags
        and len(data.recordings) <= 1
        and (data.begin, data.end) == (0.0, 1.0)
        and not data.estimate_effort_delay
        and not (request.held_out or request.held_out_fraction or request.bag_weights)
        and not (request.bag_noise or request.robust or request.robust_threshold)
        and method_of(request.method or DEFAULT).stacked
    )


@dataclass
class _Work:
    """State of a running recording.

    Attributes:
        recording: its identifier.
        overrides: processing settings of the requests.
        identification: has taken in the first blocks.
        taken: how many.
        newest: the last of them; the others are kept by nobody here.
        described: the recording without samples, with what is known of its efforts; None before
            settings were derived.
        judged: what is wrong with the part of it from which settings were derived.
    """

    recording: str
    overrides: ProcessingSettings
    identification: GrowingIdentification
    taken: int = 0
    newest: RawSamples | None = None
    described: Recording | None = None
    judged: tuple[Finding, ...] = ()

    def goes_on(self, source: LiveRecording, overrides: ProcessingSettings) -> bool:
        """Tell whether a recording is this one with more blocks, or no more.

        A block that came late stands before others, so that the last place is another's.
        """
        blocks, taken = source.blocks, self.taken
        same = len(blocks) >= taken > 0 and blocks[taken - 1] is self.newest
        return same and (self.recording, self.overrides) == (source.recording, overrides)


class RunningRecordings:
    """Keeps what has become of the recording that was asked for last, as long as it runs.

    For one thread at a time.

    Args:
        robot: the robot.
        base: its base parameters.
    """

    def __init__(self, robot: RobotModel, base: BaseParameters) -> None:
        self._robot, self._base = robot, base
        self._work: _Work | None = None

    def identify(
        self,
        request: Any,
        source: LiveRecording,
        overrides: ProcessingSettings,
        cancelled: Cancelled,
    ) -> IdentificationResult | None:
        """Identify from a recording that runs; None where it is short enough to be taken whole.

        Args:
            request: of Identify, of which :func:`is_about_whole` is true.
            source: the recording.
            overrides: processing settings in place of recommended and derived ones.
            cancelled: asked now and then whether to stop.

        Raises:
            InputError: the data are of no use.
            NotExcitedError: the motion does not determine every base parameter.
            CancelledError: if ``cancelled`` says so.
        """
        work, self._work = self._work, None  # what fails begins anew
        meant = measured_as(self._robot, source.effort_meaning)
        if work is None or not work.goes_on(source, overrides):
            begun = GrowingIdentification(meant, self._base, source.recording, overrides)
            work = _Work(source.recording, overrides, begun)
        work.identification.push(source.blocks[work.taken :], cancelled=cancelled)
        work.taken, work.newest = len(source.blocks), source.blocks[-1] if source.blocks else None
        settled_at = work.identification.settled_at
        if settled_at is not None and work.described is None:
            early = self._described(source, settled_at, cancelled)
            work.judged = recording_findings(meant, [early])
            work.described = replace(early, segments=())
        self._work = work
        if work.described is None:
            return None
        choice = Choice(request.method or DEFAULT, EliminationRule() if request.essential else None)
        warnings = (*work.described.warnings, *source.warnings())
        described = replace(work.described, warnings=warnings)
        result = work.identification.result(choice, described)
        return replace(result, findings=worst_first([*work.judged, *result.findings]))

    def _described(self, source: LiveRecording, settled_at: int, cancelled: Cancelled) -> Recording:
        """Return the first part of a recording; its warnings tell the delay of separate efforts.

        Args:
            source: the recording.
            settled_at: stamp up to which its samples tell that, in ns.
            cancelled: asked now and then whether to stop.
        """
        first = [b for b in source.blocks if len(b.stamps) and int(b.stamps[0]) <= settled_at]
        early = replace(source, blocks=tuple(first))
        return recording_of(early, self._robot, cancelled=cancelled)
