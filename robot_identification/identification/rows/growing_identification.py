"""Identification of a recording that still runs, asked for again and again.

Every sample is filtered, decimated and folded into triangular factors once, however often a result
is asked for, so that no answer takes longer because the recording is longer.  The rows are those
of :mod:`.growing`, which wait until nothing that follows can change them; on them the estimate is
that of :func:`~.identify.identify`, with its cross-validation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from robot_identification.errors import CancelledError, RecordingError
from robot_identification.identification.assembly import Subject, result_of
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.estimators.choice import fit
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.growing import StreamingIdentification
from robot_identification.identification.rows.growing_settings import Settled
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.processing.settings import processing_warnings
from robot_identification.signals.raw_samples import RawSamples, joined_samples
from robot_identification.signals.recording import Recording

SETTLE = 60.0
"""Seconds of motion that settings are derived from; shorter recordings are worked on whole."""

_PORTION = 8192  # samples that are folded in together, at most


class GrowingIdentification:
    """Least squares of one recording that goes on.

    Args:
        robot: the robot, with the meaning of the efforts of these samples.
        base: its base parameters.
        source: identifier of the recording.
        overrides: processing settings that replace recommended and derived ones.

    Raises:
        SettingError: nobody has said what effort means.
    """

    def __init__(
        self,
        robot: RobotModel,
        base: BaseParameters,
        source: str,
        overrides: ProcessingSettings,
    ) -> None:
        self._base, self._source = base.of(robot), source
        self._stream = StreamingIdentification(
            robot, base, source, overrides=overrides, settle=SETTLE, prompt=False, apart=True
        )

    @property
    def settled_at(self) -> int | None:
        """Stamp up to which the samples gave settings that stay, in ns; None before that."""
        settled = self._stream.settled
        return None if settled is None else int(settled.samples.stamps[-1])

    def push(
        self, blocks: Sequence[RawSamples], *, cancelled: Callable[[], bool] | None = None
    ) -> None:
        """Take in samples as measured, in order of their stamps.

        What comes of them does not depend on how many blocks are handed over at a time.

        Args:
            blocks: runs of samples that follow those before.
            cancelled: asked now and then whether to stop; then this is of no use any more.

        Raises:
            SettingError: a setting is impossible, or does not suit the sampling rate.
            ShapeError: there is not a column per joint.
            MissingSignalError: positions or efforts are missing.
            CancelledError: if ``cancelled`` says so.
        """
        waiting: list[RawSamples] = []
        for block in blocks:
            waiting.append(block)
            if self.settled_at is None or sum(len(one.stamps) for one in waiting) >= _PORTION:
                if cancelled is not None and cancelled():
                    raise CancelledError("identification was cancelled")
                self._stream.push(joined_samples(waiting))
                waiting = []
        if waiting:
            self._stream.push(joined_samples(waiting))

    def result(self, choice: Choice, described: Recording | None = None) -> IdentificationResult:
        """Return the estimate from all samples so far, but for the newest, which filters hold back.

        Args:
            choice: how to estimate; nothing that goes over the samples again.
            described: what is known of the recording beside its samples.

        Raises:
            RecordingError: there are no rows yet, or nobody measured the efforts.
            NotExcitedError: the rows so far do not determine every base parameter.
            SettingError: the choice is not possible, or needs the samples.
        """
        begin = time.monotonic()
        stream, settled = self._stream, self._stream.settled
        rows = stream.folded()
        if settled is None or rows is None:
            raise RecordingError(f"{self._source}: no row is left of {stream.samples} samples yet")
        source = stream.source
        if described is not None:
            source = replace(
                source,
                effort_topic=described.effort_topic,
                effort_delay=described.effort_delay,
                warnings=(*described.warnings, *source.warnings),
            )
        return result_of(
            Subject.of(self._base),
            choice.method,
            fit(choice, rows),
            rows,
            begin=begin,
            sources=[source],
            settings=_settings(settled),
            warnings=processing_warnings(settled.processing),
        )


def _settings(settled: Settled) -> dict[str, dict[str, object]]:
    """Return the settings; what follows from the data says from which part of them."""
    entries = settled.processing.entries()
    part = f"the first {settled.seconds:.3g} s in which the robot moved, as the recording runs"
    for entry in entries.values():
        if str(entry["reason"]).startswith("derived"):
            entry["reason"] = f"{entry['reason']}; from {part}"
    return entries
