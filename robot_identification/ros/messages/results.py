"""Results of identification as messages."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from diagnostic_msgs.msg import KeyValue

from robot_identification import msg
from robot_identification.identification.estimators.huber import robustness_entries
from robot_identification.identification.friction.law import law_entries
from robot_identification.identification.result import (
    SCHEMA_VERSION,
    IdentificationResult,
    is_good_enough,
)
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.statistics.cross_validation import Fold
from robot_identification.robot.model import RobotModel
from robot_identification.ros.messages.common import floats, time_of


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
