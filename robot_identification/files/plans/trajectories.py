"""Trajectory files: the fields of trajectory_msgs/JointTrajectory, as YAML."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_identification.errors import RobotDescriptionError, TrajectoryError
from robot_identification.excitation.motions.trajectory import POINT_FIELDS, Trajectory
from robot_identification.files.atomic import write_text_atomically
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.document import (
    Accepted,
    Document,
    parse_document,
    read_document,
)

_MOST_ENTRIES = 150_000


def write_trajectory(path: str | Path, trajectory: Trajectory, comment: str = "") -> None:
    """Write a trajectory file; it appears whole or not at all.

    Args:
        path: the target.
        trajectory: what to write; numbers survive the round trip exactly.
        comment: put before it.

    Raises:
        OutputError: if the target cannot be written.
    """
    write_text_atomically(path, trajectory_text(trajectory, comment))


def trajectory_text(trajectory: Trajectory, comment: str = "") -> str:
    """Return the text of a trajectory file; see :func:`write_trajectory`."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines.append(f"joint_names: [{', '.join(map(name_text, trajectory.joint_names))}]")
    lines.append("points:")
    for i, time in enumerate(trajectory.times):
        lines.append(f"  - time_from_start: {_number(time)}")
        for name, field in POINT_FIELDS.items():
            values = getattr(trajectory, name)
            if values is not None:
                lines.append(f"    {field}: [{', '.join(map(_number, values[i]))}]")
    return "\n".join(lines) + "\n"


def name_text(name: str) -> str:
    """Return a name as it is where YAML reads it as key, value and in a list, else quoted."""
    quoted = str(yaml.safe_dump(name, default_style='"', width=math.inf)).rstrip("\n")
    entry = yaml.safe_dump([name], allow_unicode=True, default_flow_style=False, width=math.inf)
    if entry != f"- {name}\n":
        return quoted
    try:
        found = parse_document(f"{name}: [{name}]\n'': {name}", name).data
    except RobotDescriptionError:
        return quoted
    return name if found == {name: [name], "": name} else quoted


def _number(value: float) -> str:
    """Return the shortest text that YAML reads back as the same floating-point number."""
    return str(yaml.safe_dump(float(value), explicit_end=False)).splitlines()[0]


def read_trajectory(path: str | Path) -> Trajectory:
    """Read a trajectory file.

    Raises:
        RobotDescriptionError: if the file cannot be read or is not YAML.
        TrajectoryError: if it does not hold a trajectory.
        ShapeError: if a point has not one value per joint.
    """
    return trajectory_of(read_trajectory_document(path))


def read_trajectory_document(path: str | Path) -> Document:
    """Read the YAML of a trajectory file or a plan, which may be longer than other files.

    Raises:
        RobotDescriptionError: if the file cannot be read or is not YAML.
    """
    return read_document(Path(path), Accepted(_MOST_ENTRIES))


def trajectory_of(document: Document) -> Trajectory:
    """Return the trajectory in a document.

    Raises:
        TrajectoryError: if it does not hold a trajectory.
        ShapeError: if a point has not one value per joint.
    """
    path = document.path
    if not isinstance(document.data, dict) or not isinstance(document.data.get("points"), list):
        raise TrajectoryError(f"{path}: needs joint_names and a list of points")
    names = document.data.get("joint_names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TrajectoryError(f"{path}: joint_names must be a list of names")
    points = document.data["points"]
    for index, point in enumerate(points):
        _check_point(document, index, point, len(names))
    times = np.array([float(point["time_from_start"]) for point in points])
    columns = {name: _column(document, points, own) for name, own in POINT_FIELDS.items()}
    if columns["positions"] is None:
        raise TrajectoryError(f"{path}: a trajectory needs points with positions")
    return Trajectory(
        tuple(names),
        times,
        columns["positions"],
        columns["velocities"],
        columns["accelerations"],
        columns["efforts"],
    )


def _check_point(document: Document, index: int, point: Any, joints: int) -> None:
    place = f"{document.path}:{document.line(('points', index))}: point {index}"
    if not isinstance(point, dict) or "time_from_start" not in point:
        raise TrajectoryError(f"{place} needs time_from_start and positions")
    unknown = sorted(set(map(str, point)) - {"time_from_start", *POINT_FIELDS.values()})
    if unknown:
        raise TrajectoryError(f"{place} has the unknown field {unknown[0]}")
    for name, value in point.items():
        entries = [value] if name == "time_from_start" else value
        if not isinstance(entries, list) or not all(
            isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in entries
        ):
            raise TrajectoryError(f"{place}: {name} must consist of numbers")
        if name != "time_from_start" and len(entries) != joints:
            raise TrajectoryError(f"{place}: {name} needs {joints} values, one per joint")


def _column(document: Document, points: list[Any], name: str) -> Array | None:
    """Return (points, joints) of one field, None where no point has it."""
    given = [name in point for point in points]
    if not any(given):
        return None
    if not all(given):
        index = given.index(False)
        line = document.line(("points", index))
        raise TrajectoryError(
            f"{document.path}:{line}: point {index} lacks the {name} that others have"
        )
    return np.array([point[name] for point in points], dtype=np.float64)
