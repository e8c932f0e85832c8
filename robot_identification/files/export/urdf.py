"""URDF files: made from a robot and its parameters, never over a URDF that was read."""

from __future__ import annotations

import re
from pathlib import Path

import numpy.typing as npt

from robot_identification.errors import RobotDescriptionError
from robot_identification.files.export.remarks import description_remarks, parameter_remarks
from robot_identification.files.export.urdf_generation import generated_urdf
from robot_identification.files.export.urdf_rewriting import rewritten_urdf
from robot_identification.robot.files.urdf.robot import UrdfDescription, parse_urdf
from robot_identification.robot.files.urdf.xml_document import read_description
from robot_identification.robot.model import RobotModel

_DECLARED = re.compile(rb"""\A(?:\xef\xbb\xbf)?<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z0-9._-]+)""")
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def identified_urdf(
    robot: RobotModel,
    values: npt.ArrayLike,
    original: str | None = None,
    *,
    name: str = "<string>",
) -> str:
    """Return a URDF of a robot with given parameters.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        original: text of the URDF that is to keep everything but inertials and friction; by
            default a complete one is made.
        name: what the original is called in errors.

    Raises:
        RobotDescriptionError: the original is wrong or of another robot.
        ShapeError: the number of values differs.
        SampleError: a value is NaN or infinite.
        InconsistentParametersError: a link or a friction cannot exist.
    """
    if original is None:
        return generated_urdf(robot, values)
    return rewritten_urdf(original, robot, values, name=name)


def urdf_remarks(
    robot: RobotModel, values: npt.ArrayLike, original: object = None
) -> tuple[str, ...]:
    """Return what :func:`identified_urdf` leaves out or leaves open, one sentence each.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        original: the URDF or its file, None where one is made.
    """
    own = description_remarks(robot) if original is None else ()
    return (*parameter_remarks(robot, values), *own)


def urdf_file(
    robot: RobotModel, values: npt.ArrayLike, original: str | Path | None = None
) -> bytes:
    """Return what a file with :func:`identified_urdf` holds; the encoding of the original stays.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        original: file of a URDF of the robot that is to keep everything but inertials and
            friction; by default a complete one is made.

    Raises:
        RobotDescriptionError, ShapeError, SampleError, InconsistentParametersError: as
            :func:`identified_urdf`.
    """
    if original is None:
        return identified_urdf(robot, values).encode("utf-8")
    text, encoding = read_urdf_text(original)
    return identified_urdf(robot, values, text, name=str(original)).encode(encoding)


def read_urdf_text(path: str | Path) -> tuple[str, str]:
    """Return the text of a URDF file, line ends as they are, and its encoding.

    Raises:
        RobotDescriptionError: the file cannot be read, or is not in the encoding it declares.
    """
    raw, _ = read_description(Path(path))
    declared = _DECLARED.match(raw)
    encoding = _WIDE.get(raw[:2]) or (declared[1].decode() if declared else "utf-8")
    try:
        return raw.decode(encoding), encoding
    except (LookupError, UnicodeError) as error:
        raise RobotDescriptionError(f"is not {encoding}: {error}", path=path, line=1) from error


def describe(original: str | Path, robot: RobotModel | None = None) -> UrdfDescription:
    """Return the robot in a URDF file, mimic joints included; see :func:`read_urdf_text`.

    Args:
        original: the file.
        robot: says which of its joints stand still; None: none does.
    """
    text, _ = read_urdf_text(original)
    fixed = {} if robot is None else robot.fixed_joints
    return parse_urdf(text, str(original), allow_mimic=True, fixed=fixed)
