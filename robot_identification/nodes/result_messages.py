"""Results of identification as messages, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import numpy as np
from diagnostic_msgs.msg import KeyValue

from robot_identification import msg
from robot_identification.identification.essential import Elimination
from robot_identification.identification.factor import JointFactor
from robot_identification.identification.huber import robustness_entries, robustness_of
from robot_identification.identification.least_squares import Estimate, RelativeError
from robot_identification.identification.result import (
    SCHEMA_VERSION,
    IdentificationResult,
    Regrouping,
    Source,
    is_good_enough,
)
from robot_identification.nodes.left_out_messages import (
    cross_validation_of,
    error_of,
    fold_of,
    left_out_fields,
)
from robot_identification.nodes.messages import floats, time_of
from robot_identification.robot.model import RobotModel
from robot_identification.robot.units import unit_of


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
    held_out, robustness = result.held_out, result.robustness
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
        factors=[_factor_message(factor) for factor in result.factors],
        relative_error=floats(estimate.relative_error.joints),
        relative_error_total=estimate.relative_error.total,
        held_out_relative_error=floats(held_out.joints if held_out else None),
        held_out_relative_error_total=held_out.total if held_out else math.nan,
        **left_out_fields(result),
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
        warnings=list(result.warnings),
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
                unit=unit_of(leading, robot),
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
    """Return the result in a message.

    Raises:
        ValueError, InputError: the message is damaged.
    """
    try:
        return _result_of(message)
    except (LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"the message is damaged: {error!r:.200}") from error


def _result_of(message: msg.IdentificationResult) -> IdentificationResult:
    held_out = error_of(message.held_out_relative_error, message.held_out_relative_error_total)
    estimate = _estimate_of(message)
    return IdentificationResult(
        robot=message.robot,
        robot_digest=message.robot_hash,
        joint_names=tuple(message.joint_names),
        sources=tuple(Source(s.name, s.hash, s.samples, s.duration) for s in message.sources),
        method=message.method,
        settings={entry.key: json.loads(entry.value) for entry in message.settings},
        regrouping=Regrouping(
            standard_names=tuple(message.standard_names),
            names=tuple(parameter.name for parameter in message.parameters),
            leading=tuple(parameter.leading for parameter in message.parameters),
            regrouped=tuple(message.regrouped_names),
            beta=np.array(message.beta).reshape(len(message.parameters), -1),
        ),
        estimate=estimate,
        factors=tuple(_factor_of(factor) for factor in message.factors),
        held_out=held_out,
        held_out_bags=tuple(fold_of(fold) for fold in message.held_out_bags),
        cross_validation=cross_validation_of(message),
        robustness=robustness_of(json.loads(message.robust)) if message.robust else None,
        elimination=_elimination_of(message, estimate),
        iterations=message.iterations,
        converged=message.converged,
        seconds=message.seconds,
        warnings=tuple(message.warnings),
    )


def _elimination_of(message: msg.IdentificationResult, estimate: Estimate) -> Elimination | None:
    """Return which parameters are essential; a message does not tell how that was found."""
    kept = np.array([parameter.essential for parameter in message.parameters])
    if kept.all():
        return None
    return Elimination(rule="", threshold=math.nan, kept=kept, removals=(), estimate=estimate)


def _estimate_of(message: msg.IdentificationResult) -> Estimate:
    robust = np.array([parameter.std_robust for parameter in message.parameters])
    return Estimate(
        values=np.array([parameter.value for parameter in message.parameters]),
        std=np.array([parameter.std for parameter in message.parameters]),
        weights=np.array(message.weights),
        residual_std=np.array(message.residual_std),
        condition_number=message.condition_number,
        scaled_condition_number=message.scaled_condition_number,
        singular_values=np.array(message.singular_values),
        relative_error=RelativeError(
            message.relative_error_total, np.array(message.relative_error)
        ),
        rows=tuple(message.rows),
        std_robust=robust if np.isfinite(robust).all() else None,
    )


def _factor_of(message: msg.TriangularFactor) -> JointFactor:
    size = len(message.columns) + 1
    triangle = np.zeros((size, size))
    triangle[np.triu_indices(size)] = message.triangle
    return JointFactor(
        joint=message.joint,
        columns=np.array(message.columns, dtype=np.intp),
        triangle=triangle,
        rows=message.rows,
    )
