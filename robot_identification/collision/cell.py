"""Cell files, and the section `cell` of robot files: what stands around a robot and is on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.collision.engine import load_mesh
from robot_identification.collision.hulls import hull
from robot_identification.collision.scene import STATIC, CollisionBody
from robot_identification.collision.shapes import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    Shape,
    Sphere,
)
from robot_identification.robot.angles import parse_angle, rotation_x, rotation_y, rotation_z
from robot_identification.robot.document import Document, read_document
from robot_identification.robot.model import Array
from robot_identification.robot.schema import check

CLEARANCE = 0.02
"""Distance in m that motions keep where nothing else is said."""

_WALLS = {"x": (1, 0, 0), "-x": (-1, 0, 0), "y": (0, 1, 0), "-y": (0, -1, 0)}
_SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh", "plane")


@dataclass(frozen=True)
class Arm:
    """Another robot that stands still.

    Attributes:
        name: of the arm.
        robot: robot file, URDF, or name of a robot.
        rotation: (3, 3) orientation of its base in the base of the robot that moves.
        translation: (3,) origin of its base there, in m.
        position: rad or m by joint; joints that are not named stand at 0.
        joint_states: topic that says where it stands; empty: as ``position`` says.
    """

    name: str
    robot: str
    rotation: Array
    translation: Array
    position: Mapping[str, float] = field(default_factory=dict)
    joint_states: str = ""


@dataclass(frozen=True)
class Attached:
    """A shape that a link of the robot has or carries; the frame is that of the link."""

    name: str
    link: str
    shape: Shape
    rotation: Array
    translation: Array


@dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes:
        clearance: distance in m that motions keep; None: not said.
        mounting: bodies of the plane that the robot is mounted on; None: not said.
        srdf: SRDF of the robot; None: not said.
        rest: a posture in which the robot touches nothing but itself where it must, by joint.
        link_radius: of capsules from joint to joint, in m; None: not said.
        links: shapes of links.
        tools: shapes of what links carry.
        standing: bodies that stand in the cell.
        arms: other robots.
        digests: SHA-256 of all files that were read.
    """

    clearance: float | None = None
    mounting: tuple[CollisionBody, ...] | None = None
    srdf: Path | None = None
    rest: Mapping[str, float] = field(default_factory=dict)
    link_radius: float | None = None
    links: tuple[Attached, ...] = ()
    tools: tuple[Attached, ...] = ()
    standing: tuple[CollisionBody, ...] = ()
    arms: tuple[Arm, ...] = ()
    digests: tuple[str, ...] = ()

    def beside(self, other: Cell) -> Cell:
        """Return both: what this one says counts, what it does not say comes from the other."""
        return Cell(
            clearance=other.clearance if self.clearance is None else self.clearance,
            mounting=other.mounting if self.mounting is None else self.mounting,
            srdf=self.srdf or other.srdf,
            rest=self.rest or other.rest,
            link_radius=other.link_radius if self.link_radius is None else self.link_radius,
            links=(*other.links, *self.links),
            tools=(*other.tools, *self.tools),
            standing=(*other.standing, *self.standing),
            arms=(*other.arms, *self.arms),
            digests=(*other.digests, *self.digests),
        )


def read_cell(path: str | Path) -> Cell:
    """Return the cell that a cell file describes.

    Args:
        path: the file; ``docs/cells.md`` describes it.

    Raises:
        RobotDescriptionError: the file, or one that it names, is wrong; with file, line and field.
        MissingPackageError: there are meshes, and coal, which reads them, is not installed.
    """
    document = read_document(Path(path))
    check(document, "cell")
    return _cell(document, document.data, ())


def declared_cell(path: Path) -> Cell:
    """Return what a robot file says of its cell; nothing where it says nothing.

    Args:
        path: the robot file.

    Raises:
        RobotDescriptionError, MissingPackageError: as :func:`read_cell`.
    """
    document = read_document(path)
    section = document.data.get("cell") if isinstance(document.data, dict) else None
    if isinstance(section, str):
        return read_cell(path.parent / section)
    return Cell() if section is None else _cell(document, section, ("cell",))


def plane(name: str, normal: tuple[float, float, float], height: float = 0.0) -> CollisionBody:
    """Return a plane of the cell, at a distance along its normal from the base in m."""
    shape = HalfSpace(normal)
    return CollisionBody(
        name, name, STATIC, shape, np.eye(3), height * np.array(shape.normal), of_robot=False
    )


FLOOR = plane("floor", (0, 0, 1))
"""The plane of the base, below the robot."""


def _cell(document: Document, data: Mapping[str, Any], at: tuple[str | int, ...]) -> Cell:
    folder = Path(document.path).parent
    reader = _Reader(document, folder)
    standing = [
        body
        for kind in ("obstacles", "keep_out")
        for i, entry in enumerate(data.get(kind, ()))
        for body in reader.standing(entry, (*at, kind, i))
    ]
    for i, entry in enumerate(data.get("keep_in", ())):
        standing += reader.walls(entry, (*at, "keep_in", i))
    return Cell(
        clearance=data.get("clearance"),
        mounting=_mounting(data["mounting"]) if "mounting" in data else None,
        srdf=folder / data["srdf"] if "srdf" in data else None,
        rest=dict(data.get("rest", {})),
        link_radius=data.get("link_radius"),
        links=reader.attached(data, at, "links"),
        tools=reader.attached(data, at, "tools"),
        standing=tuple(standing),
        arms=tuple(
            Arm(
                entry["name"],
                entry["robot"],
                *reader.pose(entry, (*at, "arms", i)),
                dict(entry.get("position", {})),
                entry.get("joint_states", ""),
            )
            for i, entry in enumerate(data.get("arms", ()))
        ),
        digests=(document.digest,),
    )


def _mounting(given: Any) -> tuple[CollisionBody, ...]:
    if given == "none":
        return ()
    if given == "floor":
        return (FLOOR,)
    if given == "ceiling":
        return (plane("ceiling", (0, 0, -1)),)
    if "wall" in given:
        return (plane("wall", _WALLS[given["wall"]]),)
    height = float(given["pedestal"])
    floor = plane("floor", (0, 0, 1), -height)
    if "radius" not in given:
        return (floor,)
    middle = np.array([0.0, 0.0, -height / 2.0])
    shape = Cylinder(given["radius"], height)
    column = CollisionBody("pedestal", "pedestal", STATIC, shape, np.eye(3), middle, of_robot=False)
    return floor, column


@dataclass(frozen=True)
class _Reader:
    """Reads the shapes of a document."""

    document: Document
    folder: Path

    def pose(self, entry: Mapping[str, Any], at: tuple[str | int, ...]) -> tuple[Array, Array]:
        """Return rotation and translation of an entry."""
        place = self._vector(entry, "at", at)
        roll, pitch, yaw = self._vector(entry, "rpy", at)
        return rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll), np.array(place)

    def _vector(self, entry: Mapping[str, Any], key: str, at: tuple[str | int, ...]) -> list[float]:
        try:
            return [parse_angle(x) for x in entry.get(key, (0.0, 0.0, 0.0))]
        except ValueError as error:
            raise self.document.error(str(error), *at, key) from error

    def standing(self, entry: Mapping[str, Any], at: tuple[str | int, ...]) -> list[CollisionBody]:
        """Return the bodies of something that stands in the cell."""
        turn, place = self.pose(entry, at)
        name = entry["name"]
        parts = self._shapes(entry, at)
        return [
            CollisionBody(
                name if len(parts) == 1 else f"{name} ({i + 1})",
                name,
                STATIC,
                shape,
                turn @ own_turn,
                place + turn @ own_place,
                of_robot=False,
            )
            for i, (shape, own_turn, own_place) in enumerate(parts)
        ]

    def walls(self, entry: Mapping[str, Any], at: tuple[str | int, ...]) -> list[CollisionBody]:
        """Return the six planes of a box that nothing may leave."""
        turn, place = self.pose(entry, at)
        bodies = []
        for axis, size in enumerate(entry["box"]):
            for sign in (-1.0, 1.0):
                x, y, z = sign * np.eye(3)[axis]
                name = f"{entry['name']} {'+' if sign < 0 else '-'}{'xyz'[axis]}"
                shape = HalfSpace((x, y, z))
                origin = place - turn @ np.array(shape.normal) * size / 2.0
                bodies.append(
                    CollisionBody(name, name, STATIC, shape, turn, origin, of_robot=False)
                )
        return bodies

    def attached(
        self, data: Mapping[str, Any], at: tuple[str | int, ...], kind: str
    ) -> tuple[Attached, ...]:
        """Return the shapes of links or tools."""
        found = []
        for i, entry in enumerate(data.get(kind, ())):
            here = (*at, kind, i)
            turn, place = self.pose(entry, here)
            for shape, own_turn, own_place in self._shapes(entry, here):
                name = entry.get("name", entry["link"])
                found.append(
                    Attached(name, entry["link"], shape, turn @ own_turn, place + turn @ own_place)
                )
        return tuple(found)

    def _shapes(
        self, entry: Mapping[str, Any], at: tuple[str | int, ...]
    ) -> list[tuple[Shape, Array, Array]]:
        """Return shapes of an entry, with rotation and translation in its own frame."""
        given = [key for key in _SHAPES if key in entry]
        if len(given) != 1:
            raise self.document.error(f"give one of {', '.join(_SHAPES)}", *at)
        (kind,) = given
        value, eye, zero = entry[kind], np.eye(3), np.zeros(3)
        if kind == "box":
            x, y, z = value
            return [(Box((x, y, z)), eye, zero)]
        if kind == "sphere":
            return [(Sphere(value["radius"]), eye, zero)]
        if kind == "cylinder":
            return [(Cylinder(value["radius"], value["length"]), eye, zero)]
        if kind == "plane":
            normal = self._vector(entry, "plane", at)
            if not np.any(normal):
                raise self.document.error("a normal must not be 0", *at, "plane")
            return [(HalfSpace((normal[0], normal[1], normal[2])), eye, zero)]
        if kind == "mesh":
            path = self.folder / value
            scale = np.array(entry.get("scale", (1.0, 1.0, 1.0)))
            return [(hull(part, path), eye, zero) for part in load_mesh(path, scale)]
        begin, end = (np.array(self._vector(value, key, (*at, kind))) for key in ("from", "to"))
        return [capsule_between(begin, end, value["radius"])]


def capsule_between(begin: Array, end: Array, radius: float) -> tuple[Shape, Array, Array]:
    """Return a capsule around a segment, with rotation and translation of its frame.

    Args:
        begin: (3,) one end of the segment, in m.
        end: (3,) the other.
        radius: in m.
    """
    way = end - begin
    length = float(np.linalg.norm(way))
    if length == 0.0:
        return Sphere(radius), np.eye(3), np.array(begin)
    z = way / length
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    turn = np.column_stack([x, np.cross(z, x), z])
    return Capsule(radius, length), turn, (begin + end) / 2.0
