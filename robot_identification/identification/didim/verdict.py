"""What the iterations of DIDIM have come to: a verdict, and a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_identification.errors import CancelledError, RobotIdentificationError
from robot_identification.identification import least_squares
from robot_identification.identification.didim.experiments import has_positions
from robot_identification.identification.didim.iteration import Iterations, Problem
from robot_identification.identification.didim.noise import NoiseFloor, measured_noise
from robot_identification.identification.didim.preparation import FirstParameters
from robot_identification.identification.history import (
    CONVERGED,
    MODEL_MISMATCH,
    NOT_CONVERGED,
    History,
)
from robot_identification.identification.identify import identify
from robot_identification.identification.least_squares import Estimate, RelativeError
from robot_identification.identification.result import IdentificationResult, Regrouping, Source
from robot_identification.identification.result_warnings import recording_warnings, warnings_of
from robot_identification.identification.robust import robust_std
from robot_identification.identification.stream import band_stream, factorise
from robot_identification.robot.model import Array, read_only
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import Recording

METHOD = "didim"
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
        "check controller, reference and friction in the robot file, or state a noise floor"
    )


def result_of(
    problem: Problem,
    recordings: Sequence[Recording],
    iterations: Iterations,
    history: History,
    seconds: float,
) -> IdentificationResult:
    """Return the result of iterations, whatever the verdict."""
    base = problem.base
    estimate = _estimate(problem, iterations)
    return IdentificationResult(
        robot=base.robot.name,
        robot_digest=base.robot.digest,
        joint_names=base.robot.joint_names,
        sources=tuple(map(Source.of, recordings)),
        method=METHOD,
        settings=_settings(problem),
        regrouping=Regrouping.of(base),
        estimate=estimate,
        factors=iterations.source.factors,
        iterations=len(history.iterations) - 1,
        converged=history.verdict == CONVERGED,
        seconds=seconds,
        warnings=(
            *_lines(mismatch_text(history, base.robot.joint_names)),
            *recording_warnings(recordings),
            *warnings_of(base.names, estimate),
        ),
        history=history,
    )


def _settings(problem: Problem) -> dict[str, dict[str, object]]:
    """Return every setting with its value and where it came from."""
    entries = {**problem.processing.entries(), **problem.settings.entries()}
    entries["transient"]["reason"] = f"{entries['transient']['reason']}: {problem.transient:.4g} s"
    return entries


def _estimate(problem: Problem, iterations: Iterations) -> Estimate:
    """Return the newest parameters with the statistics of the fit that gave them."""
    source, values = iterations.source, iterations.trial.values
    columns = problem.base.base_columns
    solved = iterations.estimate or problem.solve(source.factors)
    bands = band_stream(problem.base.robot, columns)
    factorise(problem.base.robot, columns, source.segments, problem.processing, bands=bands)
    return replace(
        solved,
        values=read_only(values),
        relative_error=least_squares.relative_error(source.factors, values),
        std_robust=robust_std(bands.grams(), source.factors, solved.values, solved.weights),
    )


def _lines(text: str) -> tuple[str, ...]:
    return (text,) if text else ()


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
