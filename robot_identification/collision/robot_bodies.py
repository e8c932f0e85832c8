"""Bodies of a robot and of its tools: shapes of its URDF, of its cell file, and capsules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from robot_identification.collision.bodies.urdf import connected_links, urdf_bodies
from robot_identification.collision.cells.cell import Attached, Cell
from robot_identification.collision.cells.shapes import capsule_between
from robot_identification.collision.scene import STATIC, CollisionBody
from robot_identification.errors import SettingError
from robot_identification.robot.files.loading import source_urdf
from robot_identification.robot.files.schema import suggestion
from robot_identification.robot.files.urdf.robot import read_urdf_of
from robot_identification.robot.files.urdf.tree import LinkFrame
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import urdf_frames


def robot_bodies(
    source: str | Path, robot: RobotModel, cell: Cell
) -> tuple[list[CollisionBody], list[str]]:
    """Return the bodies of a robot and of its tools, and what was assumed.

    Args:
        source: the robot file, URDF or name that the robot was loaded from.
        robot: the robot.
        cell: what its robot file and a cell file say.

    Raises:
        RobotDescriptionError: a file is wrong.
        MissingMeshError: a mesh of the robot is not there.
        SettingError: a link that is named is not there.
    """
    urdf, frames, remarks = source_urdf(source), urdf_frames(source, robot), []
    bodies: list[CollisionBody] = []
    if urdf is not None:
        description = read_urdf_of(urdf, robot)
        own = tuple(j for j in description.robot.joint_names if j in robot.joint_names)
        if len(own) == len(robot.joints):
            bodies += urdf_bodies(description, urdf, robot)
            told = next(iter(description.links.values())).element.remarks
            remarks += [text for text in told if text not in description.robot.warnings]
    bodies += [_attached(one, robot, frames, i) for i, one in enumerate(cell.links)]
    if cell.link_radius is not None:
        shaped = {body.joint for body in bodies}
        missing = [j for j in range(len(robot.joints)) if j not in shaped]
        bodies += _capsules(robot, missing, cell.link_radius)
        if missing:
            remarks.append(
                f"links without a shape are capsules of radius {cell.link_radius:g} m from joint "
                "to joint"
            )
    if bodies:
        first, taken = len(bodies), {*_frames_of(robot, frames), *(body.link for body in bodies)}
        tools = [_named_apart(one, taken) for one in cell.tools]
        bodies += [_attached(one, robot, frames, first + i) for i, one in enumerate(tools)]
    return bodies, remarks


def _named_apart(tool: Attached, links: Collection[str]) -> Attached:
    """Return a tool that has no name of a link.

    A joint connects links by their names, and an SRDF disables pairs of names; neither is said of
    what a link carries, which may strike the link before it.
    """
    return replace(tool, name=f"{tool.name} (tool)") if tool.name in links else tool


def connected_bodies(
    source: str | Path, robot: RobotModel, bodies: Sequence[CollisionBody], cell: Cell
) -> set[frozenset[str]]:
    """Return the pairs of links that a joint of the robot connects.

    Shapes that the cell file gives a link count as that link; tools do not.
    """
    urdf, shape_of = source_urdf(source), {one.name: one.link for one in cell.links}
    links = {body.link: shape_of.get(body.link, body.link) for body in bodies}
    if urdf is None:
        names = (*(joint.link for joint in robot.joints), robot.base_link)
        pairs = {frozenset((joint.link, names[joint.antecedent])) for joint in robot.joints}
    else:
        description = read_urdf_of(urdf, robot)
        pairs = connected_links(description, set(links.values()))
    return {
        frozenset(two) for two in combinations(links, 2) if {links[one] for one in two} in pairs
    }


def _frames_of(robot: RobotModel, frames: Mapping[str, LinkFrame]) -> dict[str, LinkFrame]:
    """Return where all links of a robot are, by name.

    Args:
        robot: the robot.
        frames: of the links of its URDF, where it has one.
    """
    links = {
        joint.link: LinkFrame(i, np.eye(3), np.zeros(3)) for i, joint in enumerate(robot.joints)
    }
    return {robot.base_link: LinkFrame(STATIC, np.eye(3), np.zeros(3)), **links, **frames}


def _attached(
    one: Attached, robot: RobotModel, frames: Mapping[str, LinkFrame], number: int
) -> CollisionBody:
    """Return a body that is fixed in a link."""
    known = _frames_of(robot, frames)
    if one.link not in known:
        hint = suggestion(one.link, known) or f"; there are {', '.join(known)}"
        raise SettingError("link", one.link, f"{robot.name} has no link of this name{hint}")
    frame = known[one.link]
    return CollisionBody(
        name=f"{one.name} [{number}]",
        link=one.name,
        joint=frame.joint,
        shape=one.shape,
        rotation=frame.rotation @ one.rotation,
        translation=frame.translation + frame.rotation @ one.translation,
    )


def _capsules(robot: RobotModel, links: Sequence[int], radius: float) -> list[CollisionBody]:
    """Return capsules from the origins of links to those of the links that they carry."""
    bodies = []
    for j in links:
        ends = [joint.translation for joint in robot.joints if joint.antecedent == j]
        for number, end in enumerate(ends or [np.zeros(3)]):
            shape, turn, place = capsule_between(np.zeros(3), np.array(end), radius)
            name = robot.joints[j].link
            bodies.append(CollisionBody(f"{name} <{number}>", name, j, shape, turn, place))
    return bodies
