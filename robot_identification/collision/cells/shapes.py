"""Shapes and planes of cell files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.collision.bodies.hulls import hull
from robot_identification.collision.bodies.shapes import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    Shape,
    Sphere,
)
from robot_identification.collision.engine import load_mesh
from robot_identification.collision.scene import STATIC, CollisionBody
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.document import Document
from robot_identification.robot.geometry import (
    axis_frame,
    parse_angle,
    rotation_x,
    rotation_y,
    rotation_z,
)

_WALLS = {"x": (1, 0, 0), "-x": (-1, 0, 0), "y": (0, 1, 0), "-y": (0, -1, 0)}
_SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh", "plane")


def plane(name: str, normal: tuple[float, float, float], height: float = 0.0) -> CollisionBody:
    """Return a plane of the cell, at a distance along its normal from the base in m."""
    shape = HalfSpace(normal)
    return CollisionBody(
        name, name, STATIC, shape, np.eye(3), height * np.array(shape.normal), of_robot=False
    )


FLOOR = plane("floor", (0, 0, 1))
"""The plane of the base, below the robot."""


def mounting_bodies(given: Any) -> tuple[CollisionBody, ...]:
    """Return what a robot is mounted on, by the entry ``mounting`` of a cell file."""
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
class ShapeReader:
    """Reads the shapes of a document."""

    document: Document
    folder: Path

    def pose(self, entry: Mapping[str, Any], at: tuple[str | int, ...]) -> tuple[Array, Array]:
        """Return rotation and translation of an entry."""
        place = self._vector(entry, "at", at)
        roll, pitch, yaw = self._vector(entry, "rpy", at)
        return rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll), np.array(place)

    def positions(
        self, entry: Mapping[str, Any], key: str, at: tuple[str | int, ...]
    ) -> dict[str, float]:
        """Return positions of joints by name, in rad or m."""
        given = entry.get(key, {})
        return {name: self._angle(value, (*at, key, name)) for name, value in given.items()}

    def _angle(self, value: float | str, at: tuple[str | int, ...]) -> float:
        try:
            return parse_angle(value)
        except ValueError as error:
            raise self.document.error(str(error), *at) from error

    def _vector(self, entry: Mapping[str, Any], key: str, at: tuple[str | int, ...]) -> list[float]:
        return [self._angle(x, (*at, key)) for x in entry.get(key, (0.0, 0.0, 0.0))]

    def standing(self, entry: Mapping[str, Any], at: tuple[str | int, ...]) -> list[CollisionBody]:
        """Return the bodies of something that stands in the cell."""
        turn, place = self.pose(entry, at)
        name = entry["name"]
        parts = self.shapes(entry, at)
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

    def shapes(
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
    return Capsule(radius, length), axis_frame(way / length), (begin + end) / 2.0
