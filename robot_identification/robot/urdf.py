"""From a URDF to the model of the robot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.model import RobotModel


@dataclass(frozen=True)
class UrdfDescription:
    """A robot read from a URDF."""

    robot: RobotModel
    mimics: tuple[str, ...]


def read_urdf(path: Path, *, allow_mimic: bool = False) -> UrdfDescription:
    """Read a URDF."""
    raise RobotDescriptionError("URDF is not supported", path=path)
