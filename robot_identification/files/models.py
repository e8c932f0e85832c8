"""Parameters to predict with, from whatever file holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from robot_identification.errors import ResultFileError
from robot_identification.files.parameters import stated_processing
from robot_identification.files.results import is_result, read_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.result_settings import settings_of
from robot_identification.robot.arrays import by_value
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import Array, RobotModel
from robot_identification.robot.processing import ProcessingSettings


@by_value
@dataclass(frozen=True)
class BaseValues:
    """Values of a robot's base parameters.

    Attributes:
        values: (base,) in the order of ``base_parameters(robot).names``.
        processing: how the recordings were processed that they were identified from; open where
            nobody says so.
    """

    values: Array
    processing: ProcessingSettings = field(default_factory=ProcessingSettings)


def read_base_values(path: str | Path, robot: RobotModel) -> BaseValues:
    """Return the values of a robot's base parameters from a result or a parameter file.

    Args:
        path: result file of identify, file of standard parameters, or the name of one of the
            parameter files of this package.
        robot: the robot to predict for.

    Raises:
        ResultFileError: if a result file is damaged or belongs to a robot with other parameters.
        UnknownRobotError: if there is no such file.
        RobotDescriptionError: if a parameter file is wrong or belongs to another robot.
    """
    base = base_parameters(robot)
    if not is_result(path):
        values = base.values(load_values(path, robot)[base.columns])
        return BaseValues(values, stated_processing(path))
    result = read_result(path)
    if result.regrouping.names != base.names:
        raise ResultFileError(
            path,
            f"holds base parameters of {result.robot} that differ from those of {robot.name}; "
            "give the robot file that it was identified with",
        )
    return BaseValues(result.estimate.values, settings_of(result))
