"""Contents of requests: fits, settings and parameters, from their messages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robot_identification import msg
from robot_identification.errors import (
    RecordingError,
    ResultFileError,
    SettingError,
    UnknownRobotError,
)
from robot_identification.files.base_values import BaseValues, read_base_values
from robot_identification.files.parameters import with_law_of
from robot_identification.files.results import read_result_of
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.estimators.huber import METHOD, HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.files.values import is_result
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.messages.common import stated
from robot_identification.signals.recording import Recording
from robot_identification.srv import Validate


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


def values_to_validate(
    request: Validate.Request,
    robot: RobotModel,
    base: BaseParameters,
    last: IdentificationResult | None,
) -> tuple[RobotModel, BaseValues]:
    """Return the base parameters that a request wants compared with data, and their robot.

    The robot has the friction law of the result or parameter file, where that has one.

    Args:
        request: names a file, or parameters with their values, or nothing.
        robot: the robot.
        base: its base parameters.
        last: result that counts where the request names nothing.

    Raises:
        SettingError: if names and values do not fit together, or stand beside a file.
        ResultFileError: if there is no result, or it is another robot's.
    """
    if request.result and (request.names or request.values):
        raise SettingError("result", request.result, "says it all; leave out names and values")
    if request.result:
        robot = _with_law_of(request.result, robot)
        return robot, values_of_file(request.result, robot)
    if request.names or request.values:
        given = named_values(request.names, request.values)
        return robot, BaseValues(base_values(given, base))
    if last is None:
        raise ResultFileError("the last result", "there is none: call ~/identify first")
    return last.model_of(robot), BaseValues.of(last, robot)


def _with_law_of(path: str, robot: RobotModel) -> RobotModel:
    """Return a robot with the friction law of a file; without it where there is no such file."""
    if is_result(path):
        return read_result_of(path, robot).model_of(robot)
    try:
        return with_law_of(path, robot)
    except UnknownRobotError:
        return robot  # the error of its values says what was asked for


def values_of_file(path: str, robot: RobotModel) -> BaseValues:
    """Return the base parameters in a result or parameter file that a request names.

    Raises:
        ResultFileError: if there is no such file, it is damaged, or it is another robot's.
        RobotDescriptionError: if a parameter file is wrong.
    """
    try:
        return read_base_values(path, robot)
    except UnknownRobotError as error:
        raise ResultFileError(path, "no such result or parameter file") from error


def base_values(given: Mapping[str, float], base: BaseParameters) -> Array:
    """Return base parameters from values of base or of standard parameters; others are 0.

    Raises:
        SettingError: if a name is neither, or both kinds are mixed.
    """
    for names, convert in ((base.names, read_only), (base.standard_names, base.values)):
        if set(given) <= set(names):
            return convert([given.get(name, 0.0) for name in names])
    unknown = sorted(set(given) - {*base.names, *base.standard_names})
    if unknown:
        raise SettingError("names", ", ".join(unknown), "no such parameter of the robot")
    raise SettingError("names", ", ".join(given), "give base or standard parameters, not both")


def named_values(names: list[str], values: list[float]) -> Mapping[str, float]:
    """Return values by name.

    Raises:
        SettingError: if there is not one finite value per name, or a name stands twice.
    """
    if len(names) != len(values):
        problem = f"one is needed for each of {len(names)} names"
        raise SettingError("values", f"{len(values)} of them", problem)
    for name, value in zip(names, values, strict=True):
        if not math.isfinite(value):
            raise SettingError(name, value, "must be finite")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SettingError("names", twice, "stands twice; give every parameter one value")
    return dict(zip(names, (float(value) for value in values), strict=True))


def processing_of(message: msg.ProcessingSettings) -> ProcessingSettings:
    """Return the settings of the signal processing that a request states.

    Raises:
        SettingError: if one has a value that it cannot have.
    """
    return ProcessingSettings(**stated(message, ProcessingSettings))
