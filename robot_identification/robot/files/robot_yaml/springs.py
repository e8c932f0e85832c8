"""The section ``springs`` of a robot file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_identification.robot.arrays import Array
from robot_identification.robot.files.document import Document
from robot_identification.robot.files.schema import suggestion
from robot_identification.robot.files.urdf.tree import LinkFrame
from robot_identification.robot.geometry import forward_kinematics
from robot_identification.robot.loops import loop_offset
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.springs import Spring, SpringEnd, SpringKind


def springs(
    document: Document, robot: RobotModel, frames: Mapping[str, LinkFrame]
) -> tuple[Spring, ...]:
    """Read the section ``springs``.

    Args:
        document: content of the robot file.
        robot: the robot, without springs.
        frames: link name -> where its frame is, of a robot that is described by a URDF.

    Raises:
        RobotDescriptionError: an unknown link, a name that stands twice, both ends on one body, or
            no parameter.
    """
    entries = document.data.get("springs", ())
    result: list[Spring] = []
    for i, entry in enumerate(entries):
        path = ("springs", i)
        if any(entry["name"] == other.name for other in result):
            raise document.error(f"a second spring named {entry['name']}", *path, "name")
        first, second = (_end(document, robot, frames, i, end) for end in (0, 1))
        if first.joint == second.joint:
            raise document.error(
                "both ends are on the same rigid body, so that no joint changes its length",
                *path,
                "between",
            )
        spring = Spring(
            name=entry["name"],
            kind=SpringKind(entry["kind"]),
            ends=(first, second),
            length=float(entry.get("length", _distance(robot, first, second))),
            preload=entry.get("preload", True),
            stiffness=entry.get("stiffness", True),
        )
        if not spring.parameters:
            raise document.error(
                "it has neither preload nor stiffness; leave the spring out", *path
            )
        result.append(spring)
    return tuple(result)


def _end(
    document: Document, robot: RobotModel, frames: Mapping[str, LinkFrame], i: int, end: int
) -> SpringEnd:
    """Return one end of a spring, in the frame of the joint that moves it."""
    entry = document.data["springs"][i]["between"][end]
    name, point = entry["link"], np.array(entry["point"], dtype=np.float64)
    if name in frames:
        frame = frames[name]
        return _at(frame.joint, frame.rotation @ point + frame.translation)
    if name == robot.base_link:
        return _at(-1, point)
    for index, joint in enumerate(robot.joints):
        if name in (joint.link, joint.name):
            return _at(index, point)
    known = [robot.base_link, *(joint.link for joint in robot.joints), *frames]
    hint = suggestion(name, known) or f"; the links are {', '.join(dict.fromkeys(known))}"
    raise document.error(f"no link is named {name}{hint}", "springs", i, "between", end, "link")


def _at(joint: int, point: Array) -> SpringEnd:
    x, y, z = (float(value) for value in point)
    return SpringEnd(joint, (x, y, z))


def _distance(robot: RobotModel, first: SpringEnd, second: SpringEnd) -> float:
    """Return the distance of two points at position zero, in m."""
    frames = forward_kinematics(robot, loop_offset(robot))
    places = [
        np.array(end.point)
        if end.joint < 0
        else frames[end.joint, :3, :3] @ end.point + frames[end.joint, :3, 3]
        for end in (first, second)
    ]
    return float(np.linalg.norm(places[1] - places[0]))
