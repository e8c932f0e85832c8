"""Provenance in parameter files: the recordings, settings and robot file behind their values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robot_identification.robot.files.values import is_urdf, values_document, values_path
from robot_identification.robot.files.versions import CALIBRATION, changed_robot_warnings
from robot_identification.robot.model import RobotModel


def stated_provenance(path: str | Path) -> Mapping[str, Any]:
    """Return what a parameter file says of what its values rest on; nothing where it is silent.

    Args:
        path: file that calibrate wrote, or any other that holds values.

    Raises:
        UnknownRobotError: there is no such file.
        RobotDescriptionError: the file is wrong.
    """
    place = values_path(path)
    if is_urdf(place):
        return {}
    stated: Mapping[str, Any] = values_document(place).data.get("provenance", {})
    return stated


def robot_file_warnings(
    stated: Mapping[str, Any], path: str | Path, robot: RobotModel
) -> tuple[str, ...]:
    """Return a line where a parameter file was made with another version of the robot's file.

    Args:
        stated: of :func:`stated_provenance`.
        path: the file.
        robot: the robot.
    """
    digest = str(stated.get("robot_sha256", ""))
    return changed_robot_warnings(robot, digest, CALIBRATION, str(path))
