"""Verdict on the iterations of DIDIM, and their result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from robot_identification.errors import CancelledError, RobotIdentificationError
from robot_identification.identification.assembly import Subject, result_of
from robot_identification.identification.diagnosis.recorded.recording import recording_findings
from robot_identification.identification.didim.experiments import Experiment, has_positions
from robot_identification.identification.didim.iteration import Iterations, Problem
from robot_identification.identification.didim.preparation import FirstParameters
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.choice import DIDIM, fit
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.identification.history import (
    CONVERGED,
    MODEL_MISMATCH,
    NOT_CONVERGED,
    History,
)
from robot_identification.identification.identify import identify
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.source import Source
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.filters.decimation import CUTOFF
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.recording import Recording

# Part of the band up to half the sampling rate that is taken for noise alone.
_BAND = (0.6, 0.95)
_SEGMENT = 1024


class NoiseFloor(NamedTuple):
    """Torque errors that are noise.

    Attributes:
        joints: (joints,) as fractions of the effort.
        reason: how they were found.
    """

    joints: Array
    reason: str


def measured_noise(experiments: Sequence[Experiment], processing: Processing) -> NoiseFloor:
    """Return the noise floor that the measured efforts alone tell.

    Noise is taken as white: its density is the median of the spectrum from 0.6 to 0.95 of half
    the sampling rate, where a robot hardly moves.  What decimation lets pass of it, over the
    effort, is the floor.  Efforts that do carry signal there make the floor too high.

    Args:
        experiments: at least one.
        processing: settings of the decimation.
    """
    joints = experiments[0].effort.shape[1]
    noise, power = np.zeros(joints), np.zeros(joints)
    for experiment in experiments:
        effort = experiment.effort[experiment.used]
        decimator = processing.decimator(experiment.period)
        nyquist = 0.5 / experiment.period
        passed = nyquist if decimator.factor == 1 else CUTOFF * nyquist / decimator.factor
        frequency, density = scipy.signal.welch(
            effort, 1.0 / experiment.period, nperseg=min(_SEGMENT, len(effort)), axis=0
        )
        band = (frequency >= _BAND[0] * nyquist) & (frequency <= _BAND[1] * nyquist)
        median = np.median(density[band], axis=0) if band.any() else np.zeros(joints)
        noise += len(effort) * passed * median
        power += (effort**2).sum(axis=0)
    tiny = np.finfo(float).tiny
    return NoiseFloor(
        np.sqrt(noise / np.maximum(power, tiny)),
        "spectrum of the measured efforts above the band of the motion",
    )


MISMATCH = 3.0
"""Torque error over noise floor from which on the model does not explain the efforts."""
LEAST_FLOOR = 1e-3
"""Noise floor below which no recording is taken to be: no simulation is that exact."""


def judged(
    problem: Problem,
    first: FirstParameters,
    iterations: Iterations,
    recordings: Sequence[Recording],
    overrides: ProcessingSettings | None,
) -> History:
    """Return the iterations with the verdict on them.

    The noise floor is the stated one, or what the measured efforts tell.  Where the torque error
    is above three times that and positions were recorded, least squares on the measured motion
    (IDIM) has a say: what it leaves unexplained belongs to the robot's model, and DIDIM, whose
    motion is simulated, cannot be expected to explain more.
    """
    floor = _noise_floor(problem, recordings, overrides, iterations.trial.torque_error)
    mismatch = (iterations.trial.torque_error.joints > MISMATCH * floor.joints).any()
    verdict = CONVERGED if iterations.converged else NOT_CONVERGED
    return History(
        start=first.start.name,
        smallest_eigenvalue=first.smallest_eigenvalue,
        iterations=tuple(iterations.history),
        noise_floor=floor.joints,
        noise_floor_reason=floor.reason,
        verdict=MODEL_MISMATCH if iterations.converged and mismatch else verdict,
    )


def mismatch_text(history: History, joint_names: Sequence[str]) -> str:
    """Return which joints the model does not explain; empty if there are none."""
    last = history.iterations[-1].torque_error.joints
    parts = [
        f"{name} {error:.3g} (noise floor {floor:.3g})"
        for name, error, floor in zip(joint_names, last, history.noise_floor, strict=True)
        if error > MISMATCH * floor
    ]
    if not parts:
        return ""
    return (
        f"the torque error stays above {MISMATCH:g} times the noise floor for {', '.join(parts)}: "
        "check controller, reference and friction in the robot file, or give a noise floor"
    )


def outcome(
    problem: Problem,
    recordings: Sequence[Recording],
    iterations: Iterations,
    history: History,
    begin: float,
) -> IdentificationResult:
    """Return the result of iterations, whatever the verdict.

    It has the newest parameters with the statistics of the fit that gave them.

    Args:
        problem: what was solved.
        recordings: the recordings.
        iterations: as they ended.
        history: the same, with the verdict.
        begin: when the work began, on the clock of ``time.monotonic``.
    """
    base = problem.base
    source, values = iterations.source, iterations.trial.values
    rows = problem.rows(source.segments, source.values)
    found = fit(Choice(problem.settings.weighting), rows)
    estimate = replace(
        found.estimate,
        values=read_only(values),
        relative_error=least_squares.relative_error(source.factors, values),
    )
    mismatch = mismatch_text(history, base.robot.joint_names)
    return result_of(
        Subject.of(base),
        DIDIM.name,
        replace(found, estimate=estimate, fit_without=None),
        rows,
        begin=begin,
        sources=list(map(Source.of, recordings)),
        settings=_settings(problem),
        warnings=[*([mismatch] if mismatch else []), *_unused(problem, recordings)],
        findings=recording_findings(base.robot, recordings),
        iterations=len(history.iterations) - 1,
        converged=history.verdict == CONVERGED,
        history=history,
    )


def _unused(problem: Problem, recordings: Sequence[Recording]) -> list[str]:
    """Return a line for every recording no run of which is longer than the transient."""
    used = {experiment.recording for experiment in problem.experiments}
    return [
        f"{recording.source or 'a recording'}: not used, as every unbroken run of it is too short "
        f"beside the transient of {problem.transient:.3g} s; record longer, or give a smaller "
        "multiple (--transient)"
        for number, recording in enumerate(recordings)
        if number not in used
    ]


def _settings(problem: Problem) -> dict[str, dict[str, object]]:
    """Return every setting with its value and where it came from."""
    entries = {**problem.processing.entries(), **problem.settings.entries()}
    entries["transient"]["reason"] = f"{entries['transient']['reason']}: {problem.transient:.4g} s"
    return entries


def _noise_floor(
    problem: Problem,
    recordings: Sequence[Recording],
    overrides: ProcessingSettings | None,
    reached: RelativeError,
) -> NoiseFloor:
    joints = len(problem.base.robot.joints)
    stated = problem.settings.noise_floor
    if stated is not None:
        return NoiseFloor(np.full(joints, stated), "option")
    found = measured_noise(problem.experiments, problem.processing)
    floor = NoiseFloor(np.maximum(found.joints, LEAST_FLOOR), found.reason)
    if (reached.joints <= MISMATCH * floor.joints).all():
        return floor
    unexplained = _unexplained_by_measured_motion(problem, recordings, overrides)
    if unexplained is None:
        return floor
    return NoiseFloor(
        np.maximum(floor.joints, unexplained),
        f"{floor.reason}, or what least squares on the measured motion leaves unexplained",
    )


def _unexplained_by_measured_motion(
    problem: Problem, recordings: Sequence[Recording], overrides: ProcessingSettings | None
) -> Array | None:
    """Return the (joints,) error of IDIM as fractions; None where there is no measured motion."""
    if not has_positions(recordings):
        return None
    try:
        found = identify(
            problem.base.robot,
            recordings,
            method=problem.settings.weighting,
            overrides=overrides,
            cancelled=problem.cancelled,
        )
    except CancelledError:
        raise
    except RobotIdentificationError:
        return None
    return found.estimate.relative_error.joints
