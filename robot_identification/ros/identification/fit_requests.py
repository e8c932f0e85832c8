"""Requests of a fit: recordings to fit and to hold out, weights, limits of outliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robot_identification.errors import RecordingError, SettingError
from robot_identification.identification.estimators.huber import METHOD, HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.signals.recording import Recording


@dataclass(frozen=True)
class FitRequest:
    """The part of a request to identify that is about its recordings.

    Attributes:
        fitted: recordings to fit.
        held_out: recordings to predict, not fit.
        weighting: what the fitted ones count.
        robust: how outliers are limited; None: not at all.
    """

    fitted: list[Recording]
    held_out: list[Recording]
    weighting: Weighting
    robust: HuberSettings | None


def fit_request(request: Any, recordings: Sequence[Recording]) -> FitRequest:
    """Return what a request, or a goal with the same fields, wants of its recordings.

    Args:
        request: of Identify.
        recordings: those of its data, bags first.

    Raises:
        SettingError: a field has a value that it cannot have.
        RecordingError: every recording is held out.
    """
    names = [*request.data.bags, *request.data.recordings]
    for name in request.held_out:
        if name not in names:
            raise SettingError("held_out", name, "not among the bags and recordings of data")
    weights = list(request.bag_weights)
    if weights and len(weights) != len(recordings):
        problem = f"give one for each of {len(recordings)} bags and recordings, or none"
        raise SettingError("bag_weights", len(weights), problem)
    fits = [name not in request.held_out for name in names] or [True] * len(recordings)
    fitted = [r for r, fit in zip(recordings, fits, strict=True) if fit]
    if not fitted:
        raise RecordingError("every bag and recording is held out; leave one to fit")
    counts = [w for w, fit in zip(weights, fits, strict=True) if fit] if weights else []
    return FitRequest(
        fitted=fitted,
        held_out=[r for r, fit in zip(recordings, fits, strict=True) if not fit],
        weighting=Weighting(tuple(counts), request.bag_noise),
        robust=_robust_of(request),
    )


def _robust_of(request: Any) -> HuberSettings | None:
    if request.robust not in ("", METHOD):
        raise SettingError("robust", request.robust, f"choose {METHOD}, or leave it empty")
    if not request.robust:
        if request.robust_threshold:
            raise SettingError("robust_threshold", request.robust_threshold, "needs robust")
        return None
    return HuberSettings.of({"threshold": request.robust_threshold or None})
