"""Judgement of a recording while it is made: what is wrong with its newest samples."""

from __future__ import annotations

from collections import deque

import numpy as np

from robot_identification.errors import InputError
from robot_identification.identification.diagnosis.finding import Finding, Severity
from robot_identification.identification.diagnosis.recorded.recording import recording_findings
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common.joint_states import Sample
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.raw_samples import RawSamples

_NEWEST = 2000
_ANEW = 500
"""Samples that are looked at together, and new ones after which they are looked at again: some
hundredths of a second of work for seven joints."""


class Judgement:
    """Finds mistakes in the samples of a recording as they come.

    Args:
        robot: the robot.
    """

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        self._samples: deque[Sample] = deque(maxlen=_NEWEST)
        self._found: dict[tuple[str, tuple[str, ...]], Finding] = {}
        self._new = 0

    def begin(self) -> None:
        """Forget what was: another recording begins."""
        self._samples.clear()
        self._found.clear()
        self._new = 0

    def observe(self, sample: Sample) -> None:
        """Take note of a sample that is recorded."""
        self._samples.append(sample)
        self._new += 1

    def mistakes(self) -> tuple[Finding, ...]:
        """Return what was found wrong since the recording began."""
        if self._new >= _ANEW:
            self._new = 0
            for finding in self._judged():
                self._found[finding.cause, finding.joints] = finding
        return tuple(self._found.values())

    def _judged(self) -> tuple[Finding, ...]:
        raw = RawSamples(
            stamps=np.array([sample.stamp for sample in self._samples], dtype=np.int64),
            position=np.array([sample.position for sample in self._samples]),
            velocity=None,
            effort=np.array([sample.effort for sample in self._samples]),
        )
        try:
            recording = joint_side_recording(raw, self._robot)
        except InputError:
            return ()  # what is wrong with stamps is told by their own statistics
        found = recording_findings(self._robot, [recording])
        return tuple(finding for finding in found if finding.severity is Severity.MISTAKE)
