"""Planning scenes of MoveIt, as YAML: what stands around a robot, and what its links carry.

The text is that of a message ``moveit_msgs/PlanningScene``, as ``ros2 topic echo`` prints it.  No
package of MoveIt is needed to read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.collision.bodies.hulls import hull
from robot_identification.collision.bodies.shapes import Box, Cylinder, HalfSpace, Shape, Sphere
from robot_identification.collision.scene import STATIC, CollisionBody
from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.files.document import Document, parse_document, read_bytes

_BOX, _SPHERE, _CYLINDER, _CONE = 1, 2, 3, 4
_SIZES = {_BOX: 3, _SPHERE: 1, _CYLINDER: 2, _CONE: 2}
_REMOVE = 1
_ALL_SHOWN = "print it whole (ros2 topic echo --once --full-length)"

At = tuple[str | int, ...]
Pose = tuple[Array, Array]
Placed = tuple[Shape, Array, Array]


@by_value
@dataclass(frozen=True)
class PlanningScene:
    """Content of a planning scene of MoveIt.

    Attributes:
        standing: bodies that stand in the cell.
        carried: name, link, shape, rotation (3, 3) and translation (3,) in the frame of the link.
    """

    standing: tuple[CollisionBody, ...]
    carried: tuple[tuple[str, str, Shape, Array, Array], ...]


def read_planning_scene(path: Path, frame: str, base: Pose) -> PlanningScene:
    """Return what a planning scene holds.

    Args:
        path: YAML of a message ``moveit_msgs/PlanningScene``.
        frame: the frame that objects of the world are given in.
        base: (3, 3) orientation and (3,) origin in m of that frame in the base of the robot.

    Raises:
        RobotDescriptionError: the file cannot be read, is no planning scene, is not shown whole, or
            holds what cannot be taken over: an object in another frame, an octomap, a plane that a
            link carries, or a shape that is not known; with line and field.
    """
    raw, digest = read_bytes(path)
    text = raw.decode("utf-8", "replace").split("\n---")[0]  # the first message of several
    document = parse_document(text, str(path), digest)
    reader = _Reader(document)
    data = reader.mapping(document.data, ())
    if "world" not in data:
        raise document.error("is no moveit_msgs/PlanningScene: world is missing")
    if data.get("is_diff"):
        raise document.error("tells only what has changed; a whole scene is needed", "is_diff")
    at: At = ("world",)
    world = reader.mapping(data["world"], at)
    if reader.entry(world, at, "octomap", "octomap").get("data"):
        raise document.error("an octomap cannot be taken over; give its obstacles as boxes", *at)
    standing = []
    for i, given in reader.listed(world, at, "collision_objects"):
        here = (*at, "collision_objects", i)
        reader.require_frame(given, here, frame)
        parts = list(reader.shapes(given, here))
        for number, (shape, turn, place) in enumerate(parts):
            name = str(given.get("id", "object"))
            part = name if len(parts) == 1 else f"{name} ({number + 1})"
            turn, place = base[0] @ turn, base[1] + base[0] @ place
            standing.append(CollisionBody(part, name, STATIC, shape, turn, place, of_robot=False))
    carried = []
    at = ("robot_state",)
    state = reader.entry(data, (), *at)
    for i, attached in reader.listed(state, at, "attached_collision_objects"):
        here = (*at, "attached_collision_objects", i)
        link, given = str(attached.get("link_name", "")), reader.entry(attached, here, "object")
        reader.require_frame(given, (*here, "object"), link)
        for number, _ in reader.listed(given, (*here, "object"), "planes"):
            plane = (*here, "object", "planes", number)
            raise document.error("a plane cannot be carried by a link", *plane)
        name = str(given.get("id", "object"))
        carried += [(name, link, *one) for one in reader.shapes(given, (*here, "object"))]
    return PlanningScene(tuple(standing), tuple(carried))


@dataclass(frozen=True)
class _Reader:
    """Reads the fields of a message; those that are not there have their default."""

    document: Document

    def mapping(self, data: Any, at: At) -> Mapping[str, Any]:
        """Return a message; refuse what has no fields."""
        if not isinstance(data, Mapping):
            raise self.document.error(f"must have fields; {_ALL_SHOWN}", *at)
        return data

    def entry(self, data: Mapping[str, Any], at: At, *names: str) -> Mapping[str, Any]:
        """Return a message inside a message."""
        for name in names:
            at = (*at, name)
            data = self.mapping(data.get(name) or {}, at)
        return data

    def listed(
        self, data: Mapping[str, Any], at: At, name: str
    ) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Return the messages of a list."""
        values = data.get(name) or []
        if not isinstance(values, list):
            raise self.document.error(f"must be a list; {_ALL_SHOWN}", *at, name)
        for i, value in enumerate(values):
            yield i, self.mapping(value, (*at, name, i))

    def numbers(self, data: Mapping[str, Any], at: At, names: str) -> Array:
        """Return some fields that are numbers."""
        try:
            return np.array([float(data.get(name, 0.0)) for name in names])
        except (TypeError, ValueError) as error:
            raise self.document.error(f"{', '.join(names)} must be numbers", *at) from error

    def require_frame(self, given: Mapping[str, Any], at: At, frame: str) -> None:
        """Refuse an object that is given in another frame."""
        own = str(self.entry(given, at, "header").get("frame_id", ""))
        if own != frame:
            raise self.document.error(f"is given in {own!r}, not in {frame!r}", *at, "header")

    def pose(self, given: Mapping[str, Any], at: At) -> Pose:
        """Return rotation and translation; a quaternion of zeros is no rotation."""
        place = self.numbers(self.entry(given, at, "position"), at, "xyz")
        q = self.numbers(self.entry(given, at, "orientation"), at, "xyzw")
        length = float(np.linalg.norm(q))
        if length == 0.0:
            return np.eye(3), place
        x, y, z, w = q / length
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross, place

    def shapes(self, given: Mapping[str, Any], at: At) -> Iterator[Placed]:
        """Return the shapes of an object, with rotation and translation in its header's frame."""
        operation = given.get("operation", 0)  # a byte is printed as a character
        if operation in (_REMOVE, chr(_REMOVE)):
            return
        turn, place = self.pose(self.entry(given, at, "pose"), (*at, "pose"))
        for kind, placed, read in (
            ("primitives", "primitive_poses", self._primitive),
            ("meshes", "mesh_poses", self._mesh),
            ("planes", "plane_poses", self._plane),
        ):
            poses = dict(self.listed(given, at, placed))
            for i, shape in self.listed(given, at, kind):
                own_turn, own_place = self.pose(poses.get(i, {}), (*at, placed, i))
                for made, more_turn, more_place in read(shape, (*at, kind, i)):
                    local = own_place + own_turn @ more_place
                    yield made, turn @ own_turn @ more_turn, place + turn @ local

    def _array(self, data: Mapping[str, Any], at: At, name: str, count: int) -> Array:
        """Return the first numbers of a list."""
        values = data.get(name)
        if not isinstance(values, list) or len(values) < count:
            raise self.document.error(f"{count} numbers are expected", *at, name)
        fields = {str(i): value for i, value in enumerate(values[:count])}
        return self.numbers(fields, (*at, name), "".join(fields))

    def _primitive(self, shape: Mapping[str, Any], at: At) -> Iterator[Placed]:
        kind = shape.get("type")
        if kind not in _SIZES:
            raise self.document.error("a box, sphere, cylinder or cone is expected", *at, "type")
        given = self._array(shape, at, "dimensions", _SIZES[kind])
        try:
            yield _solid(kind, given), np.eye(3), np.zeros(3)
        except SettingError as error:
            raise self.document.error(str(error), *at, "dimensions") from error

    def _mesh(self, shape: Mapping[str, Any], at: At) -> Iterator[Placed]:
        corners = [
            self.numbers(v, (*at, "vertices", i), "xyz")
            for i, v in self.listed(shape, at, "vertices")
        ]
        points = np.array(corners).reshape(-1, 3)
        yield hull(points, Path(self.document.path)), np.eye(3), np.zeros(3)

    def _plane(self, shape: Mapping[str, Any], at: At) -> Iterator[Placed]:
        """Give out the half-space behind the plane a x + b y + c z + d = 0."""
        a, b, c, d = self._array(shape, at, "coef", 4)
        normal = np.array([a, b, c])
        if not normal.any():
            raise self.document.error("a normal must not be 0", *at, "coef")
        yield HalfSpace((a, b, c)), np.eye(3), -d * normal / float(normal @ normal)


def _solid(kind: int, sizes: Array) -> Shape:
    """Return a primitive; a cone as the cylinder around it."""
    if kind == _BOX:
        return Box((sizes[0], sizes[1], sizes[2]))
    if kind == _SPHERE:
        return Sphere(float(sizes[0]))
    height, radius = float(sizes[0]), float(sizes[1])
    return Cylinder(radius, height)
