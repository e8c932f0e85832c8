"""The one path from recordings to identified base parameters, for bags and live topics alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError, ShapeError
from robot_identification.identification import least_squares
from robot_identification.identification.bands import BandGrams, BandStream
from robot_identification.identification.base import BaseParameters, base_parameters
from robot_identification.identification.energy import identify_energy
from robot_identification.identification.essential import (
    Elimination,
    EliminationRule,
    eliminate,
)
from robot_identification.identification.factor import JointFactor, restrict
from robot_identification.identification.least_squares import Estimate, RelativeError
from robot_identification.identification.one_joint.base_estimate import identify_one_joint
from robot_identification.identification.one_joint.thresholds import keeping_held_joints
from robot_identification.identification.result import IdentificationResult, Regrouping, Source
from robot_identification.identification.robust import robust_std
from robot_identification.identification.stream import band_stream, factorise
from robot_identification.robot.model import RobotModel, read_only
from robot_identification.robot.processing import Divisor, ProcessingSettings
from robot_identification.signals.processing import Processing
from robot_identification.signals.recording import Recording
from robot_identification.signals.samples import FilteredSegment, filter_recording
from robot_identification.signals.settings import resolve_processing

Progress = Callable[[str, float], None]
Cancelled = Callable[[], bool]

METHODS = ("ols", "wls", "energy", "one-joint")

_STACKED = ("ols", "wls")
_UNTRUSTED_PERCENT = 30.0
_POOR_CONDITION = 100.0
_COLOURED = 1.5


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
    essential: EliminationRule | None = None,
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
        essential: how to find the essential parameters, with ``ols`` or ``wls``; the others become
            zero.  By default all base parameters are kept.
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        SettingError: if the method or a setting is not possible.
        RecordingError: if the recordings are of no use.
        NotExcitedError: if the motion does not determine every base parameter.
        CancelledError: if ``cancelled`` says so.
    """
    begin = time.monotonic()
    if method not in METHODS:
        raise SettingError("method", method, f"choose one of {', '.join(METHODS)}")
    if not 0.0 <= held_out_fraction < 1.0:
        raise SettingError("held_out_fraction", held_out_fraction, "choose from 0 to below 1")
    if essential is not None and method not in _STACKED:
        raise SettingError("essential", method, "elimination works with the methods ols and wls")
    report = progress or _silent
    report("base parameters", 0.0)
    base = base_parameters(robot)
    processing = resolve_processing(robot, recordings, overrides or ProcessingSettings())
    if method == "one-joint":
        processing = keeping_held_joints(robot, processing)
    fitted = [r.between(0.0, 1.0 - held_out_fraction) for r in recordings]
    segments = _filtered(fitted, processing, report)
    bands = band_stream(robot, base.base_columns) if method != "energy" else None
    factors = _factors(base, segments, processing, report, cancelled, bands)
    if bands is None:
        estimate = identify_energy(base, segments, processing, factors)
    elif method == "one-joint":
        divisor = processing.residual_divisor
        estimate = identify_one_joint(base, factors, divisor, bands.grams())
    else:
        solve = least_squares.ordinary if method == "ols" else least_squares.weighted
        estimate = solve(factors, base.names, processing.residual_divisor)
        robust = robust_std(bands.grams(), factors, estimate.values, estimate.weights)
        estimate = replace(estimate, std_robust=robust)
    elimination = None
    if essential is not None and bands is not None:
        elimination = essential_only(
            base, factors, bands.grams(), estimate, essential, processing.residual_divisor
        )
        estimate = elimination.estimate
    held_out = None
    if held_out_fraction > 0.0:
        rest = [r.between(1.0 - held_out_fraction, 1.0) for r in recordings]
        unseen = _filtered(rest, processing, report)
        held_out = least_squares.relative_error(
            _factors(base, unseen, processing, report, cancelled), estimate.values
        )
    report("done", 1.0)
    return IdentificationResult(
        robot=robot.name,
        robot_digest=robot.digest,
        joint_names=robot.joint_names,
        sources=tuple(Source(r.source, r.digest, r.samples, r.duration) for r in recordings),
        method=method,
        settings=processing.entries(),
        regrouping=Regrouping.of(base),
        estimate=estimate,
        factors=factors,
        held_out=held_out,
        elimination=elimination,
        seconds=time.monotonic() - begin,
        warnings=(*recording_warnings(recordings), *warnings_of(base.names, estimate)),
    )


def essential_only(
    base: BaseParameters,
    factors: Sequence[JointFactor],
    grams: BandGrams,
    estimate: Estimate,
    rule: EliminationRule,
    divisor: Divisor,
) -> Elimination:
    """Return the essential parameters; those removed keep the robust deviation of the full set.

    Args:
        base: the base parameters.
        factors: one factor per joint.
        grams: Gram matrices of the same rows, band by band.
        estimate: of all base parameters, with robust deviations.
        rule: when to stop removing parameters.
        divisor: of the variance of the residual.

    Raises:
        SettingError: there is no such rule, or its threshold is not possible.
    """
    elimination = eliminate(
        factors,
        base.names,
        estimate.weights,
        rule=rule.rule,
        threshold=rule.threshold,
        divisor=divisor,
    )
    kept = np.flatnonzero(elimination.kept)
    robust = np.array(estimate.std_robust)
    robust[kept] = robust_std(
        grams.restricted(kept),
        [restrict(factor, kept) for factor in factors],
        elimination.estimate.values[kept],
        estimate.weights,
    )
    return replace(
        elimination, estimate=replace(elimination.estimate, std_robust=read_only(robust))
    )


def validate(
    robot: RobotModel,
    values: npt.ArrayLike,
    recordings: Sequence[Recording],
    *,
    overrides: ProcessingSettings | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Validation:
    """Compare the efforts of recordings with those that base parameters predict.

    Args:
        robot: the robot.
        values: (base,) values in the order of ``base_parameters(robot).names``.
        recordings: joint states on the joint side.
        overrides: processing settings that replace recommended and derived ones.
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
    processing = resolve_processing(robot, recordings, overrides or ProcessingSettings())
    report = progress or _silent
    segments = _filtered(recordings, processing, report)
    factors = _factors(base, segments, processing, report, cancelled)
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
    recordings: Sequence[Recording], processing: Processing, report: Progress
) -> list[FilteredSegment]:
    report("filter", 0.0)
    return [s for r in recordings for s in filter_recording(r, processing)]


def _factors(
    base: BaseParameters,
    segments: Sequence[FilteredSegment],
    processing: Processing,
    report: Progress,
    cancelled: Cancelled | None,
    bands: BandStream | None = None,
) -> tuple[JointFactor, ...]:
    return factorise(
        base.robot,
        base.base_columns,
        segments,
        processing,
        bands=bands,
        progress=lambda fraction: report("regressor", fraction),
        cancelled=cancelled,
    )


def recording_warnings(recordings: Sequence[Recording]) -> tuple[str, ...]:
    """Return a line for every recording that lost samples or came in disorder."""
    lines: list[str] = []
    for recording in recordings:
        lines.extend(recording.warnings)
        statistics = recording.statistics
        if statistics.lost:
            lines.append(
                f"{recording.source}: {statistics.lost} samples lost in {statistics.gaps} gaps; "
                "the recording was split there"
            )
        if statistics.resampled:
            lines.append(
                f"{recording.source}: the sampling period varies by "
                f"{100.0 * statistics.jitter:.2g} %; resampled to a constant one"
            )
    return tuple(lines)


def warnings_of(names: tuple[str, ...], estimate: Estimate) -> tuple[str, ...]:
    """Return what a user should know before trusting the numbers."""
    lines = []
    used = zip(names, estimate.relative_std_percent, estimate.values, strict=True)
    doubtful = [name for name, percent, v in used if v != 0.0 and percent > _UNTRUSTED_PERCENT]
    if doubtful:
        lines.append(
            f"{len(doubtful)} of {len(names)} parameters have a standard deviation above "
            f"{_UNTRUSTED_PERCENT:g} % and cannot be trusted alone: {', '.join(doubtful)}"
        )
    if estimate.scaled_condition_number > _POOR_CONDITION:
        lines.append(
            f"condition number {estimate.scaled_condition_number:.3g} with scaled columns: "
            "a motion optimised for excitation would give better parameters"
        )
    known = estimate.std > 0.0
    if estimate.std_robust is None:
        lines.append("this method has no std_robust; std takes the residuals for white")
    elif known.any():
        ratio = float(np.median(estimate.std_robust[known] / estimate.std[known]))
        if ratio > _COLOURED:
            lines.append(
                f"the residuals are coloured: std_robust is {ratio:.1f} times std in the median, "
                "and is the one to judge by"
            )
    return tuple(lines)
