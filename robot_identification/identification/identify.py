"""The one path from recordings to identified base parameters, for bags and live topics alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_identification.errors import CancelledError, SettingError, ShapeError
from robot_identification.identification import least_squares
from robot_identification.identification.ahead import sensible_threads
from robot_identification.identification.assembly import cross_validated, result_of
from robot_identification.identification.base import BaseParameters, base_parameters
from robot_identification.identification.cross_validation import (
    CrossValidation,
    cross_validate,
)
from robot_identification.identification.essential import EliminationRule
from robot_identification.identification.estimation import (
    METHODS,
    Choice,
    estimate_from,
)
from robot_identification.identification.factor import JointFactor
from robot_identification.identification.huber import Data, HuberSettings
from robot_identification.identification.joint_noise import refuse_silent_joints
from robot_identification.identification.least_squares import RelativeError
from robot_identification.identification.one_joint.thresholds import keeping_held_joints
from robot_identification.identification.periodic import PeriodicRecording, periodic_warnings
from robot_identification.identification.periodic_rows import (
    averaged,
    periodic_data,
    refuse_with_periods,
    with_noise,
)
from robot_identification.identification.periodic_settings import periodic_processing, periods_entry
from robot_identification.identification.result import IdentificationResult, Source
from robot_identification.identification.result_warnings import recording_warnings
from robot_identification.identification.row_groups import divide
from robot_identification.identification.stream import factorise
from robot_identification.identification.weighting import Weighting, weighting_entries
from robot_identification.robot.model import Array, RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.period_average import AveragedPeriods
from robot_identification.signals.periods import PeriodicMotion
from robot_identification.signals.processing import Processing
from robot_identification.signals.recording import Recording
from robot_identification.signals.samples import FilteredSegment, filter_recording
from robot_identification.signals.settings import resolve_processing

__all__ = ["METHODS", "Validation", "identify", "validate"]

Progress = Callable[[str, float], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class Validation:
    """How well given parameters predict the efforts of recordings.

    Attributes:
        relative_error: unexplained effort as fractions, total and per joint.
        rows: (joints,) number of rows compared.
        residual_std: (joints,) root mean square of the unexplained effort, in N m or N.
        settings: every processing setting with its value and where it came from.
        seconds: time that it took.
    """

    relative_error: RelativeError
    rows: tuple[int, ...]
    residual_std: tuple[float, ...]
    settings: dict[str, dict[str, object]]
    seconds: float


def identify(
    robot: RobotModel,
    recordings: Sequence[Recording],
    *,
    method: str = "wls",
    overrides: ProcessingSettings | None = None,
    held_out_fraction: float = 0.0,
    held_out: Sequence[Recording] = (),
    essential: EliminationRule | None = None,
    weighting: Weighting | None = None,
    robust: HuberSettings | None = None,
    periodic: PeriodicMotion | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> IdentificationResult:
    """Identify the base parameters of a robot by least squares.

    Args:
        robot: the robot.
        recordings: joint states on the joint side; fitted together.
        method: ``ols``, ``wls`` (weighted by the residual of each joint), ``energy`` (work of
            the efforts over intervals, without accelerations) or ``one-joint`` (backward recursion
            over the joints of a serial robot; for motions that move one joint at a time).
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
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        SettingError: if the method or a setting is not possible.
        RecordingError: if the recordings are of no use; NotPeriodicError if they do not repeat.
        NotExcitedError: if the motion does not determine every base parameter.
        CancelledError: if ``cancelled`` says so.
    """
    begin = time.monotonic()
    if not 0.0 <= held_out_fraction < 1.0:
        raise SettingError("held_out_fraction", held_out_fraction, "choose from 0 to below 1")
    weighting = (weighting or Weighting()).checked(len(recordings))
    choice = Choice(method, essential, weighting, robust)
    if periodic is not None:
        refuse_with_periods(choice, held_out_fraction, len(held_out))
    report = progress or _silent
    report("base parameters", 0.0)
    base = base_parameters(robot)
    stated = overrides or ProcessingSettings()
    averages: tuple[AveragedPeriods, ...] = ()
    if periodic is None:
        processing = resolve_processing(robot, recordings, stated)
        if method == "one-joint":
            processing = keeping_held_joints(robot, processing)
        data = _data(base, recordings, processing, held_out_fraction, report, cancelled)
    else:
        averages = averaged(robot, recordings, periodic, report, cancelled)
        processing = periodic_processing(robot, averages, stated)
        data = periodic_data(base, recordings, averages, processing)
    outcome = estimate_from(choice, data, lambda part: report("regressor", part), cancelled)
    told: tuple[PeriodicRecording, ...] = ()
    if averages:
        outcome, told = with_noise(base, data, averages, outcome)
    division = data.division
    validation = cross_validated(division.scheme, division.names, outcome)
    rest = [r.between(1.0 - held_out_fraction, 1.0) for r in recordings if held_out_fraction]
    values = outcome.estimate.values
    unseen = _predicted(base, (*rest, *held_out), processing, values, report, cancelled)
    report("done", 1.0)
    found = result_of(
        base,
        method,
        outcome,
        sources=tuple(map(Source.of, recordings)),
        settings={
            **processing.entries(),
            **weighting_entries(weighting, outcome.levels),
            **periods_entry(averages),
        },
        validation=validation,
        warnings=(
            *recording_warnings((*recordings, *held_out)),
            *(line for one in told for line in periodic_warnings(one, robot.joint_names)),
        ),
    )
    return replace(
        found,
        periodic=told,
        held_out=unseen.error if unseen else None,
        held_out_bags=unseen.folds[len(rest) :] if unseen else (),
        seconds=time.monotonic() - begin,
    )


def _data(
    base: BaseParameters,
    recordings: Sequence[Recording],
    processing: Processing,
    held_out_fraction: float,
    report: Progress,
    cancelled: Cancelled | None,
) -> Data:
    fitted = [r.between(0.0, 1.0 - held_out_fraction) for r in recordings]
    bags = list(_filtered(fitted, processing, report, cancelled))
    names = tuple(recording.source for recording in recordings)
    return Data(
        base=base,
        segments=[segment for own in bags for segment in own],
        division=divide(names, bags, processing),
        bags=names,
        processing=processing,
    )


def _predicted(
    base: BaseParameters,
    recordings: Sequence[Recording],
    processing: Processing,
    values: Array,
    report: Progress,
    cancelled: Cancelled | None,
) -> CrossValidation | None:
    """Return the errors of values on recordings that had no part in them, None without any."""
    if not recordings:
        return None
    groups = [
        _factors(base, segments, processing, report, cancelled)
        for segments in _filtered(recordings, processing, report, cancelled)
    ]
    names = [recording.source for recording in recordings]
    refuse_silent_joints(groups, names)
    found = cross_validate("bags", names, groups, values, lambda _: values)
    return replace(found, folds=tuple(replace(fold, fitted=None) for fold in found.folds))


def validate(
    robot: RobotModel,
    values: npt.ArrayLike,
    recordings: Sequence[Recording],
    *,
    overrides: ProcessingSettings | None = None,
    identified: ProcessingSettings | None = None,
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
    processing = resolve_processing(robot, recordings, overrides, identified=identified)
    report = progress or _silent
    segments = [s for own in _filtered(recordings, processing, report, cancelled) for s in own]
    factors = _factors(base, segments, processing, report, cancelled)
    refuse_silent_joints([factors], [", ".join(recording.source for recording in recordings)])
    report("done", 1.0)
    return Validation(
        relative_error=least_squares.relative_error(factors, vector),
        rows=tuple(factor.rows for factor in factors),
        residual_std=tuple(f.residual_norm(vector) / max(f.rows, 1) ** 0.5 for f in factors),
        settings=processing.entries(),
        seconds=time.monotonic() - begin,
    )


def _silent(_stage: str, _fraction: float) -> None:
    """Report to nobody."""


def _filtered(
    recordings: Sequence[Recording],
    processing: Processing,
    report: Progress,
    cancelled: Cancelled | None,
) -> Iterator[tuple[FilteredSegment, ...]]:
    """Give out the filtered segments of one recording after the other."""
    for done, recording in enumerate(recordings):
        if cancelled is not None and cancelled():
            raise CancelledError(f"cancelled after {done} of {len(recordings)} recordings")
        report("filter", done / len(recordings))
        yield filter_recording(recording, processing)


def _factors(
    base: BaseParameters,
    segments: Sequence[FilteredSegment],
    processing: Processing,
    report: Progress,
    cancelled: Cancelled | None,
) -> tuple[JointFactor, ...]:
    return factorise(
        base.robot,
        base.base_columns,
        segments,
        processing,
        threads=sensible_threads(sum(len(segment.time) for segment in segments)),
        progress=lambda fraction: report("regressor", fraction),
        cancelled=cancelled,
    )
