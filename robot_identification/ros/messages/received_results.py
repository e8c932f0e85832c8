"""Results of identification out of messages, checked as those in files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from robot_identification import msg
from robot_identification.errors import MessageError
from robot_identification.files.result_documents import (
    MOST_ENTRIES,
    MOST_LEVELS,
    MOST_TEXT,
    result_of_document,
)
from robot_identification.identification.friction.law import LAW_ENTRIES
from robot_identification.identification.result import IdentificationResult
from robot_identification.ros.messages.common import check_size


def left_out_entries(message: msg.IdentificationResult) -> dict[str, Any]:
    """Return what a message says of data without part in the fit, as a result file has it.

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
    """Return an error on data without part in the fit as a result file has it; None for none.

    A joint without rows has NaN in a message, and None in a result file.

    Raises:
        ValueError: there is not one error per joint.
    """
    if not len(errors):
        return None
    told = [None if math.isnan(error) else error for error in errors]
    return {"total": total, **per_joint("relative_error", joints, told)}


def per_joint(name: str, joints: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """Return values by joint.

    Raises:
        ValueError: there is not one value per joint.
    """
    if len(values) != len(joints):
        raise ValueError(f"{name} has {len(values)} values for {len(joints)} joints")
    return dict(zip(joints, values, strict=True))


def result_of(message: msg.IdentificationResult) -> IdentificationResult:
    """Return the result in a message, checked as one in a file.

    Raises:
        MessageError: the message is damaged.
    """
    try:
        check_size(message, MOST_ENTRIES, MOST_TEXT)
        return result_of_document(_document_of(message))
    except ValueError as error:
        raise MessageError("IdentificationResult", str(error)) from error


def _document_of(message: msg.IdentificationResult) -> dict[str, Any]:
    """Return what a message says as the entries that a result file has."""
    joints, rows = message.joint_names, len(message.parameters)
    columns = len(message.regrouped_names)
    if len(message.beta) != rows * columns:
        raise ValueError(f"beta has {len(message.beta)} numbers for {rows} times {columns}")
    beta = message.beta.tolist()
    factors = [_factor_entries(factor) for factor in message.factors]
    document = {
        "robot": message.robot,
        "robot_digest": message.robot_hash,
        "joints": list(joints),
        "sources": [
            {"name": s.name, "digest": s.hash, "samples": s.samples, "duration": s.duration}
            for s in message.sources
        ],
        "method": message.method,
        "settings": {entry.key: _json(entry.key, entry.value) for entry in message.settings},
        "standard": list(message.standard_names),
        "leading": [parameter.leading for parameter in message.parameters],
        "regrouped": list(message.regrouped_names),
        "beta": [beta[i * columns : (i + 1) * columns] for i in range(rows)],
        "parameters": [_parameter_entries(parameter) for parameter in message.parameters],
        "weights": message.weights.tolist(),
        "residual_std": per_joint("residual_std", joints, message.residual_std),
        "rows_per_joint": per_joint("rows", joints, message.rows),
        "factors": factors[: len(joints)],
        "relative_error": {
            "total": message.relative_error_total,
            **per_joint("relative_error", joints, message.relative_error),
        },
        "held_out_error": error_entries(
            joints, message.held_out_relative_error, message.held_out_relative_error_total
        ),
        **left_out_entries(message),
        "condition_number": message.condition_number,
        "scaled_condition_number": message.scaled_condition_number,
        "singular_values": message.singular_values.tolist(),
        "iterations": message.iterations,
        "converged": message.converged,
        "seconds": message.seconds,
        "warnings": list(message.warnings),
    }
    if len(factors) > len(joints):
        document["measured_factors"] = factors[len(joints) :]
    if message.friction:
        document.update(_mapping("friction", message.friction))
    if message.robust:
        document["robust"] = _json("robust", message.robust)
    if not all(parameter.essential for parameter in message.parameters):
        # A message tells which are essential, and not how that was found.
        document["elimination"] = {"rule": "", "threshold": math.nan, "removed": []}
    return document


def _parameter_entries(parameter: msg.BaseParameter) -> dict[str, Any]:
    robust = parameter.std_robust
    return {
        "name": parameter.name,
        "value": parameter.value,
        "std": parameter.std,
        "std_robust": robust if math.isfinite(robust) else None,
        "essential": parameter.essential,
    }


def _factor_entries(factor: msg.TriangularFactor) -> dict[str, Any]:
    """Return the entries of a factor, its triangle row by row."""
    size = len(factor.columns) + 1
    if len(factor.triangle) != size * (size + 1) // 2:
        raise ValueError(
            f"factor of joint {factor.joint} has {len(factor.triangle)} numbers for "
            f"{size - 1} columns"
        )
    numbers = iter(factor.triangle)
    return {
        "joint": factor.joint,
        "columns": list(factor.columns),
        "rows": factor.rows,
        "triangle": [list(islice(numbers, size - i)) for i in range(size)],
    }


def _json(name: str, text: str) -> Any:
    """Return what a text of JSON holds, if that is not nested too deeply."""
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError(f"{name} is nested too deeply") from error
    level = [found]
    for _ in range(MOST_LEVELS):
        level = [inner for outer in level for inner in _inside(outer)]
    if level:
        raise ValueError(f"{name} is nested too deeply")
    return found


def _mapping(name: str, text: str) -> Mapping[str, Any]:
    """Return the friction entries that a text of JSON holds.

    Raises:
        ValueError: it holds something else.
    """
    found = _json(name, text)
    if not isinstance(found, dict) or not set(found) <= set(LAW_ENTRIES):
        raise ValueError(f"{name} holds something else than {' and '.join(LAW_ENTRIES)}")
    return found


def _inside(entry: Any) -> list[Any]:
    if isinstance(entry, dict):
        return list(entry.values())
    return entry if isinstance(entry, list) else []
