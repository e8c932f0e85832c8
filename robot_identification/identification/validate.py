"""Validation: efforts of recordings against those that given base parameters predict."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy.typing as npt

from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.belonging import different_efforts, effort_meaning_entry
from robot_identification.identification.delays.effort_delay import delay_entry
from robot_identification.identification.diagnosis.finding import (
    Finding,
    finding_entries,
    worst_first,
)
from robot_identification.identification.diagnosis.outcome import error_findings
from robot_identification.identification.diagnosis.recorded.recording import recording_findings
from robot_identification.identification.estimators.least_squares import (
    RelativeError,
    error_entries,
)
from robot_identification.identification.result_warnings import recording_warnings
from robot_identification.identification.rows.groups import GroupedRows
from robot_identification.identification.rows.whole_rows import (
    Cancelled,
    Progress,
    WholeRows,
    silent,
)
from robot_identification.identification.statistics.cross_validation import prediction_error
from robot_identification.identification.statistics.joint_noise import refuse_silent_joints
from robot_identification.identification.statistics.prediction import Prediction, predict
from robot_identification.presentation import Drawn, Stored
from robot_identification.robot.arrays import Array, by_value, checked_vector, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import (
    different_settings,
    processing_warnings,
    resolve_processing,
)
from robot_identification.signals.recording import Recording


@by_value
@dataclass(frozen=True, repr=False)
class Validation(Stored, Drawn):
    """Prediction of the efforts of recordings by given parameters.

    Attributes:
        relative_error: unexplained effort as fractions, total and per joint; NaN for a joint
            without rows, of which nothing was predicted.
        rows: (joints,) number of rows compared.
        residual_std: (joints,) root mean square of the unexplained effort, in N m or N; NaN
            likewise.
        settings: every processing setting with its value and where it came from.
        seconds: time that it took.
        base: base parameters of the robot.
        values: (base,) values that the efforts were predicted with.
        recordings: what was predicted.
        processing: how it was processed.
        different_settings: settings that are not those that the values were identified with, by
            name, with both values and where the one that was used is from.
        warnings: what a user should know about the recordings, one line each.
        findings: what a diagnosis of recordings and prediction has found, the worst first.
    """

    relative_error: RelativeError
    rows: tuple[int, ...]
    residual_std: tuple[float, ...]
    settings: dict[str, dict[str, object]]
    seconds: float
    base: BaseParameters = field(compare=False)
    values: Array = field(compare=False)
    recordings: tuple[Recording, ...] = field(compare=False)
    processing: Processing = field(compare=False)
    different_settings: dict[str, dict[str, object]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def headline(self) -> str:
        """Robot, recordings and error, in one line."""
        names = ", ".join(recording.source or "a recording" for recording in self.recordings)
        error = self.relative_error.total
        return f"efforts of {self.base.robot.name} in {names}; relative error {error:.4g}"

    def records(self) -> list[dict[str, object]]:
        """Return one row per joint."""
        rows = zip(
            self.base.robot.active_names,
            self.relative_error.joints.tolist(),
            self.residual_std,
            self.rows,
            strict=True,
        )
        columns = ("joint", "relative_error", "residual_std", "rows")
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def summary(self) -> dict[str, object]:
        """Return the plain data of a validation that ``--json`` prints; the keys are stable."""
        names = self.base.robot.active_names
        return {
            "robot": self.base.robot.name,
            "relative_error": error_entries(self.relative_error, names),
            "rows": sum(self.rows),
            "rows_per_joint": dict(zip(names, self.rows, strict=True)),
            "seconds": self.seconds,
            "settings": self.settings,
            "different_settings": self.different_settings,
            "warnings": list(self.warnings),
            "findings": finding_entries(self.findings),
        }

    def told_differences(self) -> tuple[str, ...]:
        """Return a line for every setting that is not that of the identification."""
        return tuple(
            f"{name} is {entry['used']} here, and the parameters were identified with "
            f"{entry['identified']}"
            for name, entry in self.different_settings.items()
        )

    def prediction(self, number: int = 0) -> Prediction:
        """Return measured and predicted efforts of a recording, sample by sample.

        Args:
            number: which of the recordings.
        """
        return predict(self.base, self.values, self.recordings[number], self.processing)


def validate(
    robot: RobotModel,
    values: npt.ArrayLike,
    recordings: Sequence[Recording],
    *,
    overrides: ProcessingSettings | None = None,
    identified: ProcessingSettings | None = None,
    efforts: str = "",
    remarks: Sequence[str] = (),
    derive_settings: bool = False,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Validation:
    """Compare the efforts of recordings with those that base parameters predict.

    Args:
        robot: the robot.
        values: (base,) values in the order of ``base_parameters(robot).names``.
        recordings: joint states on the joint side.
        overrides: processing settings that replace all others.
        identified: those that the values were identified with, which replace recommended and
            derived ones: other filters explain other efforts.
        efforts: what the efforts were that the values were identified from; empty where nobody
            knows.
        remarks: what a user should know of the values, one line each; they come first among the
            warnings.
        derive_settings: whether recommended and derived ones hold nevertheless.
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        ShapeError: if the number of values is not that of the base parameters.
        SettingError: if a setting is not possible.
        RecordingError: if the recordings are of no use.
        CancelledError: if ``cancelled`` says so.
    """
    begin = time.monotonic()
    base = base_parameters(robot)
    chi = checked_vector("values", values, base.rank)
    base = base.loaded_by(chi)
    before = identified or ProcessingSettings()
    processing = resolve_processing(
        robot, recordings, overrides, identified=None if derive_settings else before
    )
    report = progress or silent
    factors = compared_rows(base, recordings, processing, report, cancelled).merged()
    refuse_silent_joints([factors], [", ".join(recording.source for recording in recordings)])
    report("done", 1.0)
    error = prediction_error(factors, chi)
    found = error_findings(robot.active_names, error, "these recordings")
    return Validation(
        relative_error=error,
        rows=tuple(factor.rows for factor in factors),
        residual_std=tuple(
            f.residual_norm(chi) / f.rows**0.5 if f.rows else math.nan for f in factors
        ),
        settings={
            **processing.entries(),
            **effort_meaning_entry(robot),
            **delay_entry(recordings),
        },
        seconds=time.monotonic() - begin,
        base=base,
        values=read_only(chi),
        recordings=tuple(recordings),
        processing=processing,
        different_settings={
            **different_settings(before, processing),
            **different_efforts(robot, efforts),
        },
        warnings=(*remarks, *processing_warnings(processing), *recording_warnings(recordings)),
        findings=worst_first([*recording_findings(robot, recordings), *found]),
    )


def compared_rows(
    base: BaseParameters,
    recordings: Sequence[Recording],
    processing: Processing,
    report: Progress,
    cancelled: Cancelled | None,
) -> GroupedRows:
    """Return the rows of recordings that are compared, not fitted; each is a group of its own."""
    source = WholeRows.of(base, recordings, processing, report, cancelled, blocks=False)
    return source.rows("none")
