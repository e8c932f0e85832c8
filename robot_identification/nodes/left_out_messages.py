"""Errors on data that had no part in the fit, as messages and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_identification import msg
from robot_identification.identification.cross_validation import CrossValidation, Fold
from robot_identification.identification.least_squares import RelativeError
from robot_identification.identification.result import IdentificationResult
from robot_identification.nodes.messages import floats


def left_out_fields(result: IdentificationResult) -> dict[str, Any]:
    """Return the fields on data that had no part in the fit, bag by bag."""
    found = result.cross_validation
    error = None if found is None else found.error
    return {
        "held_out_bags": [_fold_message(fold) for fold in result.held_out_bags],
        "cross_validation_scheme": "" if found is None else found.scheme,
        "cross_validation": [] if found is None else [_fold_message(f) for f in found.folds],
        "cross_validation_error": floats(error.joints if error else None),
        "cross_validation_error_total": error.total if error else math.nan,
    }


def _fold_message(fold: Fold) -> msg.FoldError:
    return msg.FoldError(
        name=fold.name,
        rows=list(fold.rows),
        effort_rms=list(fold.effort_rms),
        fitted_relative_error=floats(fold.fitted.joints if fold.fitted else None),
        fitted_relative_error_total=fold.fitted.total if fold.fitted else math.nan,
        relative_error=floats(fold.error.joints if fold.error else None),
        relative_error_total=fold.error.total if fold.error else math.nan,
        reason=fold.reason,
    )


def fold_of(message: msg.FoldError) -> Fold:
    """Return the error on a group in a message."""
    return Fold(
        name=message.name,
        rows=tuple(message.rows),
        effort_rms=tuple(message.effort_rms),
        fitted=error_of(message.fitted_relative_error, message.fitted_relative_error_total),
        error=error_of(message.relative_error, message.relative_error_total),
        reason=message.reason,
    )


def error_of(joints: Sequence[float], total: float) -> RelativeError | None:
    """Return an error per joint and in total, None where there is none."""
    return RelativeError(total, np.array(joints)) if len(joints) else None


def cross_validation_of(message: msg.IdentificationResult) -> CrossValidation | None:
    """Return the cross-validation in a message, None where there is none."""
    if not message.cross_validation_scheme:
        return None
    return CrossValidation(
        scheme=message.cross_validation_scheme,
        folds=tuple(fold_of(fold) for fold in message.cross_validation),
        error=error_of(message.cross_validation_error, message.cross_validation_error_total),
    )
