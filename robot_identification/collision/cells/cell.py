"""Cell files, and the section `cell` of robot files: what stands around a robot and is on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robot_identification.collision.bodies.shapes import Shape, meant_in_mm
from robot_identification.collision.cells.planning_scene import read_planning_scene
from robot_identification.collision.cells.shapes import ShapeReader, mounting_bodies
from robot_identification.collision.scene import CollisionBody
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.files.document import Document, read_document
from robot_identification.robot.files.robot_yaml.document import robot_document
from robot_identification.robot.files.schema import check

CLEARANCE = 0.02
"""Distance in m that motions keep where nothing else is said."""


@by_value
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


@by_value
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
    document = robot_document(path)
    section = document.data.get("cell") if isinstance(document.data, dict) else None
    if isinstance(section, str):
        return read_cell(Path(document.path).parent / section)
    return Cell() if section is None else _cell(document, section, ("cell",))


def _cell(document: Document, data: Mapping[str, Any], at: tuple[str | int, ...]) -> Cell:
    folder = Path(document.path).parent
    reader = ShapeReader(document, folder)
    standing = [
        body
        for kind in ("obstacles", "keep_out")
        for i, entry in enumerate(data.get(kind, ()))
        for body in reader.standing(entry, (*at, kind, i))
    ]
    for i, entry in enumerate(data.get("keep_in", ())):
        standing += reader.walls(entry, (*at, "keep_in", i))
    tools = _attached(reader, data, at, "tools")
    if "planning_scene" in data:
        entry = data["planning_scene"]
        base = reader.pose(entry, (*at, "planning_scene"))
        scene = read_planning_scene(folder / entry["file"], entry["frame"], base)
        standing += scene.standing
        tools += tuple(Attached(*one) for one in scene.carried)
    return Cell(
        clearance=data.get("clearance"),
        mounting=mounting_bodies(data["mounting"]) if "mounting" in data else None,
        srdf=folder / data["srdf"] if "srdf" in data else None,
        rest=reader.positions(data, "rest", at),
        link_radius=data.get("link_radius"),
        links=_attached(reader, data, at, "links"),
        tools=tools,
        standing=tuple(standing),
        arms=tuple(
            Arm(
                entry["name"],
                _beside(folder, entry["robot"]),
                *reader.pose(entry, (*at, "arms", i)),
                reader.positions(entry, "position", (*at, "arms", i)),
                entry.get("joint_states", ""),
            )
            for i, entry in enumerate(data.get("arms", ()))
        ),
    )


def _beside(folder: Path, robot: str) -> str:
    """Return a robot that is named in a file: one of the files beside that, where it is one."""
    return str(folder / robot) if (folder / robot).is_file() else robot


def _attached(
    reader: ShapeReader, data: Mapping[str, Any], at: tuple[str | int, ...], kind: str
) -> tuple[Attached, ...]:
    """Return the shapes of links or tools."""
    found = []
    for i, entry in enumerate(data.get(kind, ())):
        here = (*at, kind, i)
        turn, place = reader.pose(entry, here)
        for shape, own_turn, own_place in reader.shapes(entry, here):
            wrong = meant_in_mm(shape, own_turn, own_place, "scale: [0.001, 0.001, 0.001]")
            if wrong:
                raise reader.document.error(wrong, *here)
            name = entry.get("name", entry["link"])
            found.append(
                Attached(name, entry["link"], shape, turn @ own_turn, place + turn @ own_place)
            )
    return tuple(found)
