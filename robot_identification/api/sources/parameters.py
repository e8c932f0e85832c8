"""Results and parameters as arguments of the public functions, or the files of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy.typing as npt

from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.prior import Prior
from robot_identification.errors import ResultMismatchError, SettingError, ShapeError
from robot_identification.files.base_values import BaseValues, read_base_values
from robot_identification.files.parameters import read_prior, with_law_of
from robot_identification.files.provenance import robot_file_warnings, stated_provenance
from robot_identification.files.results import read_result, read_result_of
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.belonging import refuse_other_parameters
from robot_identification.identification.friction.law import FrictionLaw
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.arrays import Array, numbers, read_only_view
from robot_identification.robot.files.link_frames import geometry_entries, other_link_frames
from robot_identification.robot.files.values import is_result, load_values
from robot_identification.robot.files.versions import CALIBRATION, changed_robot_warnings
from robot_identification.robot.model import RobotModel

ResultSource: TypeAlias = IdentificationResult | str | Path
"""A result, or its file."""


ParameterSource: TypeAlias = (
    IdentificationResult | CalibratedParameters | BaseValues | npt.ArrayLike | str | Path
)
"""Parameters to predict with: a result, calibrated ones, (base,) values, or a file of the two."""


FullSource: TypeAlias = CalibratedParameters | npt.ArrayLike | str | Path
"""Standard parameters: calibrated ones, (full,) values, a file, or the name of a shipped one."""


def load_result(path: str | Path) -> IdentificationResult:
    """Load a result of identify from its file.

    Raises:
        ResultFileError: it is not one, is damaged or was changed, or has another schema version.
    """
    return read_result(path)


def result_of(source: ResultSource, robot: RobotModel | None = None) -> IdentificationResult:
    """Return a result, read where its file is named.

    Args:
        source: the result.
        robot: whose it is; None: anybody's.

    Raises:
        ResultMismatchError: it is another robot's.
        ResultFileError: its file is none, or is damaged, or is another robot's.
    """
    if not isinstance(source, IdentificationResult):
        return read_result(source) if robot is None else read_result_of(source, robot)
    if robot is not None:
        _refuse_other(robot, source.robot)
    return source


def base_values_of(robot: RobotModel, source: ParameterSource) -> BaseValues:
    """Return values of base parameters, and how recordings behind them were processed."""
    if isinstance(source, BaseValues):
        return source
    if isinstance(source, str | Path):
        return read_base_values(source, robot)
    base = base_parameters(robot)
    if isinstance(source, IdentificationResult):
        refuse_other_parameters(robot, result_of(source, robot), base)
        return BaseValues.of(source, robot)
    if isinstance(source, CalibratedParameters):
        _refuse_others(robot, source)
        return BaseValues(
            base.values(source.values[base.columns]),
            source.processing,
            source.efforts,
            changed_robot_remarks(robot, source),
        )
    return BaseValues(_numbers(source, base.names))


def with_law(robot: RobotModel, source: ParameterSource) -> tuple[RobotModel, ParameterSource]:
    """Return a robot with the friction law of parameters, and a result read where it is a file.

    Args:
        robot: as its file describes it.
        source: a result, calibrated parameters or their file; values have no law of their own.

    Raises:
        ResultMismatchError: they are another robot's.
    """
    if isinstance(source, str | Path):
        if not is_result(source):
            return with_law_of(source, robot), source
        source = read_result_of(source, robot)
    if isinstance(source, IdentificationResult):
        return result_of(source, robot).model_of(robot), source
    if isinstance(source, CalibratedParameters):
        _refuse_other(robot, source.robot)
        return FrictionLaw.of(source.description).applied(robot), source
    return robot, source


def full_values_of(robot: RobotModel, source: FullSource) -> Array:
    """Return the (full,) standard parameters, in the order of ``robot.all_parameter_names``."""
    if isinstance(source, str | Path):
        return load_values(source, robot)
    if isinstance(source, CalibratedParameters):
        _refuse_others(robot, source)
        return source.values
    return _numbers(source, robot.all_parameter_names)


def prior_of(robot: RobotModel, source: Prior | str | Path | None) -> Prior:
    """Return what is known of a robot's parameters, read where a file is named.

    Raises:
        SettingError: it is neither a prior nor a file.
    """
    if isinstance(source, Prior):
        return source
    if source is None or isinstance(source, str | Path):
        return read_prior(source, robot)
    raise SettingError("prior", type(source).__name__, "give a Prior, a file, or none")


def _numbers(source: npt.ArrayLike, names: Sequence[str]) -> Array:
    """Return values of parameters from an array.

    Raises:
        SettingError: an entry is no number, or not finite, or names stand in another order.
        ShapeError: there is not one for each.
    """
    problem = "give a result, calibrated parameters, their file, or an array of numbers"
    values = numbers("parameters", source, names, problem)
    if values.shape != (len(names),):
        raise ShapeError("values", values.shape, f"({len(names)},)")
    for name, value in zip(names, values.tolist(), strict=True):
        if not math.isfinite(value):
            raise SettingError(name, value, "must be a finite number")
    return read_only_view(values)


def changed_robot_remarks(robot: RobotModel, source: FullSource) -> tuple[str, ...]:
    """Return a line where parameters were calibrated with another version of a robot's file."""
    if isinstance(source, CalibratedParameters):
        return changed_robot_warnings(robot, source.robot_digest, CALIBRATION, "the parameters")
    if isinstance(source, str | Path):
        return robot_file_warnings(stated_provenance(source), source, robot)
    return ()


def _refuse_other(robot: RobotModel, name: str) -> None:
    """Refuse what belongs to a robot of another name.

    Raises:
        ResultMismatchError: it does.
    """
    if name != robot.name:
        problem = f"these are parameters of {name}; give the robot that they were identified with"
        raise ResultMismatchError(robot.name, problem)


def _refuse_others(robot: RobotModel, source: CalibratedParameters) -> None:
    """Refuse calibrated parameters that are others than those of a robot.

    Raises:
        ResultMismatchError: they belong to a robot of another name, or their names, or the link
            frames that they are about, are others.
    """
    _refuse_other(robot, source.robot)
    if source.names != robot.all_parameter_names:
        raise ResultMismatchError(
            robot.name, f"the parameters of {source.robot} are others than its own"
        )
    difference = other_link_frames(robot, geometry_entries(source.description))
    if difference is not None:
        raise ResultMismatchError(
            robot.name,
            f"the parameters of {source.robot} are about other link frames: {difference}; give "
            "the robot file that they were calibrated with, or calibrate again",
        )
