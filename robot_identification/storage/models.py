"""Parameters to predict with, from whatever file holds them."""

from __future__ import annotations

from pathlib import Path

from robot_identification.errors import ResultFileError
from robot_identification.identification.base import base_parameters
from robot_identification.robot.model import Array, RobotModel
from robot_identification.robot.values import load_values
from robot_identification.storage.results import is_result, read_result


def read_base_values(path: str | Path, robot: RobotModel) -> Array:
    """Return the values of a robot's base parameters from a result or a parameter file.

    Args:
        path: result file of identify, file of standard parameters, or the name of one of the
            parameter files of this package.
        robot: the robot to predict for.

    Returns:
        (base,) values in the order of ``base_parameters(robot).names``.

    Raises:
        ResultFileError: if a result file is damaged or belongs to a robot with other parameters.
        UnknownRobotError: if there is no such file.
        RobotDescriptionError: if a parameter file is wrong or belongs to another robot.
    """
    base = base_parameters(robot)
    if not is_result(path):
        return base.values(load_values(path, robot)[base.columns])
    result = read_result(path)
    if result.regrouping.names != base.names:
        raise ResultFileError(
            path,
            f"holds base parameters of {result.robot} that differ from those of {robot.name}; "
            "give the robot file that it was identified with",
        )
    return result.estimate.values
