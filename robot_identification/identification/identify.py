"""The one path from recordings to identified base parameters, for bags and live topics alike."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from robot_identification.errors import SettingError
from robot_identification.identification.assembly import Subject, held_out_errors, result_of
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.diagnosis.judgement import Judgement
from robot_identification.identification.estimators.choice import DEFAULT, estimator_of, fit
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.estimator import Choice, Fit
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting, weighting_entries
from robot_identification.identification.friction.choice import friction_of
from robot_identification.identification.friction.options import (
    STATED,
    check_friction,
    friction_entry,
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
from robot_identification.identification.rows.whole_rows import (
    Cancelled,
    Progress,
    WholeRows,
    silent,
)
from robot_identification.identification.source import Source, refuse_double
from robot_identification.identification.validate import compared_rows
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.filtered import require_length
from robot_identification.signals.joint_columns import refuse_other_joints
from robot_identification.signals.periodic.average import AveragedPeriods
from robot_identification.signals.periodic.periods import PeriodicMotion
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import processing_warnings, resolve_processing
from robot_identification.signals.recording import Recording
from robot_identification.signals.temperature import require_spread


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
        JointNameError: if a recording has other joints than the robot.
        RecordingError: if the recordings are of no use; NotPeriodicError if they do not repeat.
        NotExcitedError: if the motion does not determine every base parameter.
        CancelledError: if ``cancelled`` says so.
    """
    begin = time.monotonic()
    _refuse_unusable(robot, recordings, held_out, held_out_fraction)
    weighting = (weighting or Weighting()).checked(len(recordings))
    choice = Choice(method, essential, weighting, robust)
    estimator = estimator_of(choice)
    check_friction(robot, friction, method)
    if periodic is not None:
        refuse_with_periods(choice, held_out_fraction, len(held_out))
    report = progress or silent
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
        rest = _held_out_parts(recordings, held_out_fraction, processing)
        errors = _errors_on(rest, held_out, source, found, report, cancelled)
        laws = estimator.stacked and model.selection is None and not robot.loops
        judged.judge_fit(source, found.estimate.values, laws=laws, cancelled=cancelled)
        report("done", 1.0)
        return result_of(
            Subject.of(base),
            method,
            found,
            source,
            begin=begin,
            sources=_sources(robot, parts, told, source),
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


def _refuse_unusable(
    robot: RobotModel,
    recordings: Sequence[Recording],
    held_out: Sequence[Recording],
    held_out_fraction: float,
) -> None:
    """Refuse recordings of other joints, one that is given twice, and an impossible share."""
    if not 0.0 <= held_out_fraction < 1.0:
        raise SettingError("held_out_fraction", held_out_fraction, "choose from 0 to below 1")
    refuse_other_joints(robot, [*recordings, *held_out])
    refuse_double([*recordings, *held_out])


def _held_out_parts(
    recordings: Sequence[Recording], fraction: float, processing: Processing
) -> list[Recording]:
    """Return the ends of recordings that are predicted, not fitted.

    Raises:
        RecordingError: one is too short.
    """
    parts = [one.between(1.0 - fraction, 1.0) for one in recordings if fraction]
    for part in parts:
        require_length(part, processing, fraction)
    return parts


def _sources(
    robot: RobotModel,
    parts: Sequence[Recording],
    periods: Sequence[PeriodicRecording],
    rows: WholeRows,
) -> list[Source]:
    """Return what was fitted, with what is told of its periods and was missed of it."""
    nothing: list[tuple[str, ...]] = [()] * len(parts)
    about = [periodic_warnings(one, robot.active_names) for one in periods] or nothing
    return list(map(Source.of, parts, about, rows.missed()))


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
    rows = compared_rows(source.base, unseen, source.processing, report, cancelled)
    names = [one.source for one in unseen]
    return held_out_errors(names, rows.factors, found.estimate.values, parts=len(rest))
