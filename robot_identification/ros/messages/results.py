"""Results of identification as messages, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from diagnostic_msgs.msg import KeyValue

from robot_identification import msg
from robot_identification.errors import MessageError
from robot_identification.files.result_documents import (
    MOST_ENTRIES,
    MOST_LEVELS,
    MOST_TEXT,
    result_of_document,
)
from robot_identification.identification.estimators.huber import robustness_entries
from robot_identification.identification.friction.law import LAW_ENTRIES, law_entries
from robot_identification.identification.result import (
    SCHEMA_VERSION,
    IdentificationResult,
    is_good_enough,
)
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.statistics.cross_validation import Fold
from robot_identification.robot.model import RobotModel
from robot_identification.ros.messages.common import check_size, floats, time_of


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


def result_message(
    result: IdentificationResult,
    robot: RobotModel,
    *,
    stamp: int,
    gap: float = math.inf,
    good_enough_std: float = 0.0,
) -> msg.IdentificationResult:
    """Return a result as a message.

    Args:
        result: the result.
        robot: the robot that it is about.
        stamp: stamp of the last sample used, in ns.
        gap: gap of the decision of the rank.
        good_enough_std: relative standard deviation at which a parameter is known well enough.
    """
    estimate, regrouping = result.estimate, result.regrouping
    grouped = {*regrouping.leading, *regrouping.regrouped}
    held_out, robustness, law = result.held_out, result.robustness, result.friction
    message = msg.IdentificationResult(
        schema_version=SCHEMA_VERSION,
        robot=result.robot,
        robot_hash=result.robot_digest,
        sources=[
            msg.DataSource(name=s.name, hash=s.digest, samples=s.samples, duration=s.duration)
            for s in result.sources
        ],
        method=result.method,
        settings=setting_messages(result.settings),
        standard_names=list(regrouping.standard_names),
        unaffecting_names=[n for n in regrouping.standard_names if n not in grouped],
        regrouped_names=list(regrouping.regrouped),
        parameters=_parameter_messages(result, robot),
        beta=floats(regrouping.beta),
        joint_names=list(result.joint_names),
        weights=floats(estimate.weights),
        residual_std=floats(estimate.residual_std),
        rows=list(estimate.rows),
        factors=[
            _factor_message(factor)
            for factor in (*(result.factors or ()), *(result.measured_factors or ()))
        ],
        relative_error=floats(estimate.relative_error.joints),
        relative_error_total=estimate.relative_error.total,
        held_out_relative_error=floats(held_out.joints if held_out else None),
        held_out_relative_error_total=held_out.total if held_out else math.nan,
        **left_out_fields(result),
        friction="" if law is None else json.dumps(law_entries(law, result.joint_names)),
        robust="" if robustness is None else json.dumps(robustness_entries(robustness)),
        condition_number=estimate.condition_number,
        scaled_condition_number=estimate.scaled_condition_number,
        singular_values=floats(estimate.singular_values),
        rank=len(regrouping.names),
        gap=gap,
        iterations=result.iterations,
        error_history=floats(_error_history(result)),
        converged=result.converged,
        good_enough=is_good_enough(result, good_enough_std),
        seconds=result.seconds,
        warnings=[*(finding.line for finding in result.findings), *result.warnings],
    )
    message.header.stamp = time_of(stamp)
    return message


def _error_history(result: IdentificationResult) -> list[float]:
    """Return the torque error of every iterate; methods that do not iterate have one."""
    if result.history is None:
        return [result.estimate.relative_error.total]
    return [iteration.torque_error.total for iteration in result.history.iterations]


def _parameter_messages(result: IdentificationResult, robot: RobotModel) -> list[msg.BaseParameter]:
    messages = []
    regrouping, estimate = result.regrouping, result.estimate
    elimination = result.elimination
    robust = estimate.std_robust
    for i, name in enumerate(regrouping.names):
        leading = regrouping.leading[i]
        others = {k: v for k, v in regrouping.grouping(i).items() if k != leading}
        messages.append(
            msg.BaseParameter(
                name=name,
                leading=leading,
                grouping_names=list(others),
                grouping_coefficients=floats(list(others.values())),
                unit=robot.unit_of(leading),
                value=float(estimate.values[i]),
                std=float(estimate.std[i]),
                std_robust=math.nan if robust is None else float(robust[i]),
                relative_std_percent=float(estimate.relative_std_percent[i]),
                essential=elimination is None or bool(elimination.kept[i]),
            )
        )
    return messages


def _factor_message(factor: JointFactor) -> msg.TriangularFactor:
    return msg.TriangularFactor(
        joint=factor.joint,
        columns=[int(column) for column in factor.columns],
        rows=factor.rows,
        triangle=floats(factor.triangle[np.triu_indices(len(factor.triangle))]),
    )


def setting_messages(settings: Mapping[str, Mapping[str, object]]) -> list[KeyValue]:
    """Return settings as messages: their names, and value and reason as json."""
    return [KeyValue(key=name, value=json.dumps(dict(e))) for name, e in settings.items()]


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
