"""Priors of the standard parameters, from a parameter file or a URDF."""

from __future__ import annotations

from pathlib import Path

from robot_identification.calibration.prior import Prior
from robot_identification.robot.files.document import read_bytes
from robot_identification.robot.files.values import is_urdf, load_given, values_path
from robot_identification.robot.files.xml_document import MAXIMUM_BYTES
from robot_identification.robot.model import RobotModel
from robot_identification.share import share_directory

NONE = "none"


def read_prior(source: str | Path | None, robot: RobotModel) -> Prior:
    """Read what is known of the standard parameters of a robot.

    Args:
        source: a parameter file, which may name a URDF, a URDF, the name of a file in
            config/priors or config/parameters, or None or ``none`` for a prior that knows
            nothing.  Parameters that a parameter file does not name, and inertials, damping and
            friction that a URDF does not state, are not known.
        robot: the robot.

    Raises:
        UnknownRobotError: there is no such file.
        RobotDescriptionError: the file is wrong or belongs to another robot.
    """
    names = robot.standard_names
    if source is None or str(source) == NONE:
        return Prior.none(names)
    path = Path(source) if is_urdf(source) else _find(source)
    values, given = load_given(path, robot)
    _, digest = read_bytes(path, MAXIMUM_BYTES)
    model = robot.standard_indices
    return Prior.given(names, values[model], given[model], str(source), digest)


def _find(source: str | Path) -> Path:
    """Return the parameter file of that name, priors first.

    Raises:
        UnknownRobotError: there is no such file.
    """
    shipped = share_directory() / "config" / "priors" / f"{source}.yaml"
    return shipped if not Path(source).exists() and shipped.is_file() else values_path(source)
