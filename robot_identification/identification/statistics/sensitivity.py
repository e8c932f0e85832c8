"""Sensitivity of an estimate to the cut-off of the position filter.

Noise of the positions enters the regressor and shrinks inertias; too low a cut-off takes away a
part of the motion.  Between the two the parameters should not care.  They are identified again with
half and with twice the cut-off, everything else as it was, but for what was chosen for the filter
of the result: ends of a recording that one filter spares are spoilt by those of a slower one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from robot_identification.errors import InputError, ResultRefusedError, SettingError
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.friction.options import STATED
from robot_identification.identification.identify import identify
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.result_settings import settings_of
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.signals.recording import Recording

FACTORS = (0.5, 2.0)
# What is chosen for a cut-off; only an option holds with others too.
_CHOSEN_FOR_CUTOFF = ("ends", "drop_start", "drop_end")
# Changes beyond this many standard deviations are more than the noise of the efforts explains.
_NOTICEABLE = 2.0


@by_value
@dataclass(frozen=True)
class CutoffChange:
    """Estimate with another cut-off frequency.

    Attributes:
        cutoff_hz: the cut-off.
        relative_error: of the fit, over all joints.
        cross_validation_error: over all joints; None where there is none.
        changes: (parameters,) change of the values, in standard deviations of the result.
        problem: why there is no estimate; the figures are then NaN and the changes empty.
        kept_ends_cut: whether ends that the result keeps were cut, here and in the estimate with
            its own cut-off that this one is compared with.
    """

    cutoff_hz: float
    relative_error: float
    cross_validation_error: float | None
    changes: Array
    problem: str = ""
    kept_ends_cut: bool = False


def cutoff_sensitivity(
    robot: RobotModel,
    recordings: Sequence[Recording],
    result: IdentificationResult,
    *,
    essential: EliminationRule | None = None,
    weighting: Weighting | None = None,
    robust: HuberSettings | None = None,
    friction: str = STATED,
    held_out_fraction: float = 0.0,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[CutoffChange, ...]:
    """Identify again with other cut-offs.

    Where the result keeps its ends, which hold for its own cut-off only, they are cut, and the
    estimates are compared with one that cuts them too.

    Args:
        robot: the robot.
        recordings: what the result was made from.
        result: by :func:`~.identify.identify`.
        essential: as for the result.
        weighting: as for the result.
        robust: as for the result.
        friction: as for the result; terms that were chosen stay.
        held_out_fraction: as for the result, which other data would change too.
        cancelled: asked now and then whether to stop.

    Raises:
        SettingError: the method of the result filters no positions.
        CancelledError: if ``cancelled`` says so.
    """
    settings = settings_of(result)
    if settings.cutoff_hz is None:
        raise SettingError("method", result.method, "filters no positions; there is no cut-off")
    again = partial(
        identify,
        result.model_of(robot),
        recordings,
        method=result.method,
        essential=essential,
        weighting=weighting,
        robust=robust,
        held_out_fraction=held_out_fraction,
        cancelled=cancelled,
    )
    if result.friction is None and friction != STATED:
        again = partial(again, friction=friction)
    free = replace(settings, **dict.fromkeys(_chosen_for_cutoff(result)))
    cut = settings.ends == "keep" and free.ends is None
    values = result.estimate.values
    cutoffs = [factor * settings.cutoff_hz for factor in FACTORS]
    if cut:
        free = replace(free, ends="cut")
        try:
            values = again(overrides=free).estimate.values
        except (InputError, ResultRefusedError) as error:
            return tuple(_unknown(cutoff, error, cut=cut) for cutoff in cutoffs)
    changes = []
    for cutoff in cutoffs:
        try:
            other = again(overrides=replace(free, cutoff_hz=cutoff))
        except (InputError, ResultRefusedError) as error:
            changes.append(_unknown(cutoff, error, cut=cut))
            continue
        changes.append(replace(_change(result, values, other, cutoff), kept_ends_cut=cut))
    return tuple(changes)


def _unknown(cutoff: float, error: Exception, *, cut: bool) -> CutoffChange:
    """Return what is told of a cut-off with which nothing is identified: the result stands."""
    return CutoffChange(cutoff, np.nan, None, read_only(np.empty(0)), str(error), cut)


def _chosen_for_cutoff(result: IdentificationResult) -> list[str]:
    """Return the settings of a result that another cut-off makes void."""
    reasons = {
        name: str(result.settings.get(name, {}).get("reason")) for name in _CHOSEN_FOR_CUTOFF
    }
    return [name for name, reason in reasons.items() if reason != "option"]


def _change(
    result: IdentificationResult, values: Array, other: IdentificationResult, cutoff: float
) -> CutoffChange:
    estimate = result.estimate
    std = estimate.std if estimate.std_robust is None else estimate.std_robust
    difference = other.estimate.values - values
    known = np.maximum(std, np.finfo(float).eps * np.abs(estimate.values).max(initial=1.0))
    validation = other.cross_validation
    error = None if validation is None or validation.error is None else validation.error.total
    return CutoffChange(
        cutoff_hz=cutoff,
        relative_error=other.estimate.relative_error.total,
        cross_validation_error=error,
        changes=read_only(difference / known),
    )


def sensitivity_entries(
    changes: Sequence[CutoffChange], names: Sequence[str]
) -> list[dict[str, object]]:
    """Return the plain data of changes, parameter by parameter."""
    return [
        {
            "cutoff_hz": change.cutoff_hz,
            "relative_error": change.relative_error,
            "cross_validation_error": change.cross_validation_error,
            "median_change_in_std": _median(change),
            "change_in_std": dict(zip(names, change.changes.tolist(), strict=False)),
            "problem": change.problem,
            "kept_ends_cut": change.kept_ends_cut,
        }
        for change in changes
    ]


def _median(change: CutoffChange) -> float | None:
    return float(np.median(np.abs(change.changes))) if len(change.changes) else None


def describe_change(change: CutoffChange, names: Sequence[str]) -> tuple[str, str, str, str]:
    """Return fit error, validation error, median change and largest changes, for people."""
    if change.problem:
        return "-", "-", "-", change.problem
    sizes = np.abs(change.changes)
    worst = [i for i in np.argsort(-sizes)[:3] if sizes[i] > _NOTICEABLE]
    largest = ", ".join(f"{names[i]} {change.changes[i]:+.1f}" for i in worst)
    validated = change.cross_validation_error
    return (
        f"{change.relative_error:.6f}",
        "-" if validated is None else f"{validated:.6f}",
        f"{np.median(sizes):.2f}",
        largest or f"all within {_NOTICEABLE:g}",
    )
