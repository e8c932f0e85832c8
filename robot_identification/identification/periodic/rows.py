"""Periodic recordings: rows for the common pipeline, and the deviations that noise makes.

The rows are those of one averaged period.  Their weights are the noise of the efforts that differs
between periods (maximum likelihood, Swevers et al. 1997).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from robot_identification.errors import CancelledError, RecordingError, SettingError
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.estimators.choice import method_of
from robot_identification.identification.estimators.estimator import Choice, Fit
from robot_identification.identification.periodic.deviations import noise_effect
from robot_identification.identification.periodic.recordings import (
    PeriodicRecording,
    periodic_recording,
)
from robot_identification.identification.periodic.settings import row_noise, rows_segment
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import read_only
from robot_identification.robot.model import RobotModel
from robot_identification.signals.joint_columns import refuse_other_joints
from robot_identification.signals.periodic.average import AveragedPeriods, average_periods
from robot_identification.signals.periodic.periods import PeriodicMotion
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.recording import Recording


def refuse_with_periods(choice: Choice, held_out_fraction: float, held_out: int) -> None:
    """Refuse what cannot be done with recordings that are averaged over their periods.

    Raises:
        SettingError: something of the kind is asked for.
    """
    if not method_of(choice.method).stacked:
        raise SettingError("method", choice.method, "averages over periods need ols or wls")
    for name, asked in (
        ("essential", choice.essential is not None),
        ("robust", choice.robust is not None),
        ("bag_noise", choice.weighting.bag_noise),
        ("held_out_fraction", held_out_fraction > 0.0),
        ("held_out", held_out > 0),
    ):
        if asked:
            raise SettingError(name, "asked for", "does not go with an average over periods")


def averaged(
    robot: RobotModel,
    recordings: Sequence[Recording],
    motion: PeriodicMotion,
    report: Callable[[str, float], None],
    cancelled: Callable[[], bool] | None,
) -> tuple[AveragedPeriods, ...]:
    """Return the recordings averaged over their periods.

    Raises:
        RecordingError: there is none; NotPeriodicError where one does not repeat.
        JointNameError: a recording has other joints than the robot.
        CancelledError: if ``cancelled`` says so.
    """
    if not recordings:
        raise RecordingError("no recording was given")
    found = []
    for done, recording in enumerate(recordings):
        if cancelled is not None and cancelled():
            raise CancelledError(f"cancelled after {done} of {len(recordings)} recordings")
        refuse_other_joints(robot, [recording])
        report("periods", done / len(recordings))
        found.append(average_periods(recording, motion))
    return tuple(found)


def periodic_rows(
    base: BaseParameters,
    recordings: Sequence[Recording],
    averages: Sequence[AveragedPeriods],
    processing: Processing,
    report: Callable[[str, float], None],
    cancelled: Callable[[], bool] | None,
) -> WholeRows:
    """Return the rows of averaged recordings, whose noise is known."""
    names = tuple(recording.source for recording in recordings)
    bags = [(rows_segment(average, processing),) for average in averages]
    return replace(
        WholeRows.of_segments(base, names, bags, processing),
        noise=read_only([row_noise(average, processing) for average in averages]),
        progress=lambda fraction: report("regressor", fraction),
        cancelled=cancelled,
    )


def with_noise(
    source: WholeRows, averages: Sequence[AveragedPeriods], found: Fit
) -> tuple[Fit, tuple[PeriodicRecording, ...]]:
    """Return a fit with the standard deviations that the noise between periods makes.

    With it comes what the periods of every recording tell.
    """
    base, processing = source.base, source.processing
    factors = found.factors or source.rows("none").merged(found.scales)
    effect = noise_effect(source, averages, found.estimate, factors, found.scales)
    estimate, told = replace(found.estimate, std=effect.std), []
    for number, (name, average) in enumerate(zip(source.bags, averages, strict=True)):
        residuals = estimate.residual_std
        if source.scheme == "bags":
            own = found.measured[number]
            norms = np.array([factor.residual_norm(estimate.values) for factor in own])
            residuals = norms / np.sqrt([max(factor.rows, 1) for factor in own])
        noise = np.hypot(row_noise(average, processing), effect.of_positions[number])
        misfit = np.divide(residuals, noise, out=np.ones_like(noise), where=noise > 0.0)
        told.append(periodic_recording(base.robot, name, average, processing, misfit))
    return replace(found, estimate=estimate), tuple(told)
