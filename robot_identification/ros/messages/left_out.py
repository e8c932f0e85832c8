"""Errors on data that had no part in the fit, as messages and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from robot_identification import msg
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.statistics.cross_validation import Fold
from robot_identification.ros.messages.common import floats


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


def left_out_entries(message: msg.IdentificationResult) -> dict[str, Any]:
    """Return these fields as the entries that a result file has.

    Raises:
        ValueError: an array does not have one value per joint.
    """
    joints = message.joint_names
    entries: dict[str, Any] = {
        "held_out_bags": [_fold_entries(joints, fold) for fold in message.held_out_bags]
    }
    if message.cross_validation_scheme:
        entries["cross_validation"] = {
            "scheme": message.cross_validation_scheme,
            "folds": [_fold_entries(joints, fold) for fold in message.cross_validation],
            "relative_error": error_entries(
                joints, message.cross_validation_error, message.cross_validation_error_total
            ),
        }
    return entries


def _fold_entries(joints: Sequence[str], fold: msg.FoldError) -> dict[str, Any]:
    efforts = fold.effort_rms
    return {
        "name": fold.name,
        "rows": per_joint("rows", joints, fold.rows),
        **({"effort_rms": per_joint("effort_rms", joints, efforts)} if efforts else {}),
        "fitted_error": error_entries(
            joints, fold.fitted_relative_error, fold.fitted_relative_error_total
        ),
        "relative_error": error_entries(joints, fold.relative_error, fold.relative_error_total),
        "reason": fold.reason,
    }


def error_entries(
    joints: Sequence[str], errors: Sequence[float], total: float
) -> dict[str, Any] | None:
    """Return an error per joint and in total as a result file has it, None where there is none.

    Raises:
        ValueError: there is not one error per joint.
    """
    if not len(errors):
        return None
    return {"total": total, **per_joint("relative_error", joints, errors)}


def per_joint(name: str, joints: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """Return values by joint.

    Raises:
        ValueError: there is not one value per joint.
    """
    if len(values) != len(joints):
        raise ValueError(f"{name} has {len(values)} values for {len(joints)} joints")
    return dict(zip(joints, values, strict=True))
