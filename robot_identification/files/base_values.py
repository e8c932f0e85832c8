"""Values of a robot's base parameters out of a result or a parameter file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from robot_identification.errors import ResultFileError
from robot_identification.files.provenance import robot_file_warnings, stated_provenance
from robot_identification.files.results import read_result_of
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.belonging import effort_meaning_of, refuse_other_geometry
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.result_settings import settings_of
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.files.values import is_result, load_values
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings


@by_value
@dataclass(frozen=True)
class BaseValues:
    """Values of a robot's base parameters.

    Attributes:
        values: (base,) in the order of ``base_parameters(robot).names``.
        processing: how the recordings were processed that they were identified from; open where
            nobody says so.
        efforts: what the efforts of these recordings were; empty where nobody says so.
        warnings: what a user should know before predicting with them, one line each.
    """

    values: Array
    processing: ProcessingSettings = field(default_factory=ProcessingSettings)
    efforts: str = ""
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, result: IdentificationResult, robot: RobotModel) -> BaseValues:
        """Return those of a result, for a robot whose file may have changed since."""
        return cls(
            result.estimate.values,
            settings_of(result),
            effort_meaning_of(result),
            result.remarks_on(robot),
        )


def read_base_values(path: str | Path, robot: RobotModel) -> BaseValues:
    """Return the values of a robot's base parameters from a result or a parameter file.

    Args:
        path: result file of identify, file of standard parameters, or the name of one of the
            parameter files of this package.
        robot: the robot to predict for.

    Raises:
        ResultFileError: if a result file is damaged or belongs to another robot.
        ResultMismatchError: if it belongs to one with another geometry.
        UnknownRobotError: if there is no such file.
        RobotDescriptionError: if a parameter file is wrong or belongs to another robot.
    """
    base = base_parameters(robot)
    if not is_result(path):
        values = base.values(load_values(path, robot)[base.columns])
        stated = stated_provenance(path)
        return BaseValues(
            values,
            ProcessingSettings.of(stated.get("processing", {})),
            str(stated.get("effort_meaning", "")),
            robot_file_warnings(stated, path, robot),
        )
    result = read_result_of(path, robot)
    if result.regrouping.names != base.names:
        raise ResultFileError(
            path,
            f"holds base parameters of {result.robot} that differ from those of {robot.name}; "
            "give the robot file that it was identified with",
        )
    refuse_other_geometry(robot, result, base)
    return BaseValues.of(result, robot)
