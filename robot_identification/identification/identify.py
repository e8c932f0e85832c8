"""The one path from recordings to identified base parameters, for bags and live topics alike."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError, ShapeError
from robot_identification.identification.assembly import Subject, held_out_errors, result_of
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.belonging import different_efforts, effort_meaning_entry
from robot_identification.identification.delays.effort_delay import delay_entry
from robot_identification.identification.diagnosis.finding import (
    Finding,
    finding_entries,
    worst_first,
)
from robot_identification.identification.diagnosis.judgement import Judgement
from robot_identification.identification.diagnosis.outcome import error_findings
from robot_identification.identification.diagnosis.recording import recording_findings
from robot_identification.identification.estimators.choice import DEFAULT, estimator_of, fit
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.estimator import Choice, Fit
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.least_squares import (
    RelativeError,
    error_entries,
)
from robot_identification.identification.estimators.weighting import Weighting, weighting_entries
from robot_identification.identification.friction.choice import (
    STATED,
    check_friction,
    friction_entry,
    friction_of,
    starting_robot,
)
from robot_identification.identification.periodic.recordings import (
    PeriodicRecording,
    periodic_warnings,
)
from robot_identification.identification.periodic.rows import (
    averaged,
    periodic_rows,
    refuse_with_periods,
    with_noise,
)
from robot_identification.identification.periodic.settings import periodic_processing, periods_entry
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.result_warnings import recording_warnings
from robot_identification.identification.rows.groups import GroupedRows
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.identification.source import Source, refuse_double
from robot_identification.identification.statistics.cross_validation import prediction_error
from robot_identification.identification.statistics.joint_noise import refuse_silent_joints
from robot_identification.identification.statistics.prediction import Prediction, predict
from robot_identification.presentation import Drawn, Stored
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.periodic.average import AveragedPeriods
from robot_identification.signals.periodic.periods import PeriodicMotion
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import (
    different_settings,
    processing_warnings,
    resolve_processing,
)
from robot_identification.signals.recording import Recording
from robot_identification.signals.temperature import require_spread

Progress = Callable[[str, float], None]
Cancelled = Callable[[], bool]


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


def identify(
    robot: RobotModel,
    recordings: Sequence[Recording],
    *,
    method: str = DEFAULT,
    overrides: ProcessingSettings | None = None,
    held_out_fraction: float = 0.0,
    held_out: Sequence[Recording] = (),
    essential: EliminationRule | None = None,
    weighting: Weighting | None = None,
    robust: HuberSettings | None = None,
    periodic: PeriodicMotion | None = None,
    friction: str = STATED,
    judgement: Judgement | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> IdentificationResult:
    """Identify the base parameters of a robot by least squares.

    Args:
        robot: the robot.
        recordings: joint states on the joint side; fitted together.
        method: name of an estimator; see :data:`~.estimation.ESTIMATORS`.
        overrides: processing settings that replace recommended and derived ones.
        held_out_fraction: share at the end of each recording that is predicted, not fitted.
        held_out: recordings that are predicted, not fitted; settings do not depend on them.
        essential: how to find the essential parameters, with ``ols`` or ``wls``; the others become
            zero.  By default all base parameters are kept.
        weighting: what each recording counts, with ``ols`` or ``wls``; by default all the same.
        robust: how outlying efforts are limited, with ``ols`` or ``wls``; by default not at all.
        periodic: what repeats in the recordings, with ``ols`` or ``wls``; they are averaged over
            their periods, and weights and standard deviations are those of the noise between
            these.  By default recordings are taken as they are.
        friction: ``stated``, ``coulomb-viscous`` or ``auto``; see :mod:`.friction.choice`.
        judgement: of the same recordings, for callers that want its findings where nothing can be
            identified; by default one of its own.
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        SettingError: if the method or a setting is not possible, or a recording would count twice.
        RecordingError: if the recordings are of no use; NotPeriodicError if they do not repeat.
        NotExcitedError: if the motion does not determine every base parameter.
        CancelledError: if ``cancelled`` says so.
    """
    begin = time.monotonic()
    if not 0.0 <= held_out_fraction < 1.0:
        raise SettingError("held_out_fraction", held_out_fraction, "choose from 0 to below 1")
    refuse_double([*recordings, *held_out])
    weighting = (weighting or Weighting()).checked(len(recordings))
    choice = Choice(method, essential, weighting, robust)
    estimator = estimator_of(choice)
    check_friction(robot, friction, method)
    if periodic is not None:
        refuse_with_periods(choice, held_out_fraction, len(held_out))
    report = progress or _silent
    report("base parameters", 0.0)
    judged = judgement or Judgement(robot, recordings)
    with judged.told():
        base = base_parameters(starting_robot(robot, friction))
        stated = overrides or ProcessingSettings()
        averages: tuple[AveragedPeriods, ...] = ()
        parts = [one.between(0.0, 1.0 - held_out_fraction) for one in recordings]
        if periodic is None:
            require_spread(robot, parts)
            settings = estimator.processing(robot, resolve_processing(robot, recordings, stated))
            source = WholeRows.of(base, parts, settings, report, cancelled)
        else:
            averages = averaged(robot, recordings, periodic, report, cancelled)
            settings = periodic_processing(robot, averages, stated)
            source = periodic_rows(base, recordings, averages, settings, report, cancelled)
        model = friction_of(friction, source, choice, robot)
        base, source, processing = model.base, model.source, model.source.processing
        found = model.completed(fit(choice, source))
        told: tuple[PeriodicRecording, ...] = ()
        if averages:
            found, told = with_noise(source, averages, found)
        rest = [r.between(1.0 - held_out_fraction, 1.0) for r in recordings if held_out_fraction]
        errors = _errors_on(rest, held_out, source, found, report, cancelled)
        laws = estimator.stacked and model.selection is None and not robot.loops
        judged.judge_fit(source, found.estimate.values, laws=laws, cancelled=cancelled)
        report("done", 1.0)
        nothing: list[tuple[str, ...]] = [()] * len(recordings)
        about = [periodic_warnings(one, robot.active_names) for one in told] or nothing
        return result_of(
            Subject.of(base),
            method,
            found,
            source,
            begin=begin,
            sources=list(map(Source.of, parts, about, source.missed())),
            settings={
                **processing.entries(),
                **weighting_entries(weighting, found.levels),
                **periods_entry(averages),
                **friction_entry(friction),
            },
            friction=model.law,
            warnings=[*processing_warnings(processing), *recording_warnings(held_out)],
            findings=judged.findings,
            periodic=told,
            **errors,
        )


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
    vector = np.asarray(values, dtype=np.float64)
    if vector.shape != (base.rank,):
        raise ShapeError("values", vector.shape, f"({base.rank},)")
    base = base.loaded_by(vector)
    before = identified or ProcessingSettings()
    processing = resolve_processing(
        robot, recordings, overrides, identified=None if derive_settings else before
    )
    report = progress or _silent
    factors = _measured(base, recordings, processing, report, cancelled).merged()
    refuse_silent_joints([factors], [", ".join(recording.source for recording in recordings)])
    report("done", 1.0)
    error = prediction_error(factors, vector)
    found = error_findings(robot.active_names, error, "these recordings")
    return Validation(
        relative_error=error,
        rows=tuple(factor.rows for factor in factors),
        residual_std=tuple(
            f.residual_norm(vector) / f.rows**0.5 if f.rows else math.nan for f in factors
        ),
        settings={
            **processing.entries(),
            **effort_meaning_entry(robot),
            **delay_entry(recordings),
        },
        seconds=time.monotonic() - begin,
        base=base,
        values=read_only(vector),
        recordings=tuple(recordings),
        processing=processing,
        different_settings={
            **different_settings(before, processing),
            **different_efforts(robot, efforts),
        },
        warnings=(*remarks, *processing_warnings(processing), *recording_warnings(recordings)),
        findings=worst_first([*recording_findings(robot, recordings), *found]),
    )


def _errors_on(
    rest: Sequence[Recording],
    held_out: Sequence[Recording],
    source: WholeRows,
    found: Fit,
    report: Progress,
    cancelled: Cancelled | None,
) -> dict[str, Any]:
    """Return what a result tells of parts and recordings that were not fitted."""
    unseen = [*rest, *held_out]
    rows = _measured(source.base, unseen, source.processing, report, cancelled)
    names = [one.source for one in unseen]
    return held_out_errors(names, rows.factors, found.estimate.values, parts=len(rest))


def _measured(
    base: BaseParameters,
    recordings: Sequence[Recording],
    processing: Processing,
    report: Progress,
    cancelled: Cancelled | None,
) -> GroupedRows:
    """Return the rows of recordings that are compared, not fitted; each is a group of its own."""
    source = WholeRows.of(base, recordings, processing, report, cancelled, blocks=False)
    return source.rows("none")


def _silent(_stage: str, _fraction: float) -> None:
    """Report to nobody."""
