"""A robot, its cell and the volume that a motion sweeps, as coloured shapes for a viewer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from robot_identification.collision.bodies.shapes import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    Hull,
    Shape,
    Sphere,
)
from robot_identification.collision.bodies.solids import surface
from robot_identification.collision.clearance import Nearest
from robot_identification.collision.model import CollisionModel
from robot_identification.collision.scene import STATIC, CollisionBody
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.geometry import axis_frame, forward_kinematics

Colour = tuple[float, float, float, float]

CELL, SWEPT, CLOSEST = "cell", "swept_volume", "closest_pair"
"""Namespaces of the markers; a viewer switches each on and off."""

_STANDING: Colour = (0.60, 0.65, 0.69, 0.6)
_PLANE: Colour = (0.60, 0.65, 0.69, 0.25)
_BASE: Colour = (0.36, 0.52, 0.69, 0.9)
_PASSED: Colour = (0.36, 0.52, 0.69, 0.12)
_NEAR: Colour = (0.75, 0.22, 0.17, 1.0)
_PLANE_SIDE, _PLANE_THICKNESS = 4.0, 0.002  # m
_LINE_WIDTH = 0.008  # m
_TEXT_HEIGHT = 0.06  # m
_CORNERS = 24
"""Of a hull in the swept volume, which is drawn many times."""


class Form(Enum):
    """Kind of a marker; sizes are along the axes of its frame, in m."""

    BOX = "box"
    SPHERE = "sphere"
    CYLINDER = "cylinder"
    TRIANGLES = "triangles"
    LINE = "line"
    TEXT = "text"


@by_value
@dataclass(frozen=True)
class Marker:
    """One shape.

    Attributes:
        namespace: what it belongs to.
        form: what it is.
        rotation: (3, 3) orientation of its frame in the base.
        translation: (3,) origin of its frame there, in m.
        size: (3,) lengths in m; of a line its width first, of a text its height last.
        colour: red, green, blue, opacity, each 0 to 1.
        points: (points, 3) ends of a line, or corners of triangles, in its frame, in m.
        text: of a text.
    """

    namespace: str
    form: Form
    rotation: Array
    translation: Array
    size: Array
    colour: Colour
    points: Array
    text: str = ""

    def __post_init__(self) -> None:
        for name in ("rotation", "translation", "size", "points"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def cell_markers(collisions: CollisionModel) -> tuple[Marker, ...]:
    """Return what stands still: the cell, other robots, and the base of the robot."""
    found: list[Marker] = []
    for body in collisions.scene.bodies:
        if body.joint != STATIC:
            continue
        plane = isinstance(body.shape, HalfSpace)
        colour = _BASE if body.of_robot else _PLANE if plane else _STANDING
        found += _drawn(body, CELL, colour, body.rotation, body.translation)
    return tuple(found)


def swept_markers(collisions: CollisionModel, postures: Array) -> tuple[Marker, ...]:
    """Return the moving bodies of a robot at postures of a motion, translucent.

    Args:
        collisions: the robot.
        postures: (postures, joints) in rad or m.
    """
    found: list[Marker] = []
    for frames in forward_kinematics(collisions.robot, postures):
        for body in collisions.scene.bodies:
            if body.joint != STATIC:
                found += _drawn(body, SWEPT, _PASSED, *body.pose(frames))
    return tuple(found)


def nearest_markers(nearest: Nearest) -> tuple[Marker, ...]:
    """Return the line between the nearest points, and what it means."""
    eye, none, points = np.eye(3), np.zeros((0, 3)), nearest.points
    width = np.full(3, _LINE_WIDTH)
    when = f"braking from {nearest.time:.2f} s" if nearest.braking else f"{nearest.time:.2f} s"
    text = f"{' and '.join(nearest.pair)}: {1e3 * nearest.distance:.0f} mm, {when}"
    above = points.mean(axis=0) + np.array([0.0, 0.0, 2.0 * _TEXT_HEIGHT])
    tall = np.array([0.0, 0.0, _TEXT_HEIGHT])
    balls = (Marker(CLOSEST, Form.SPHERE, eye, end, 2.0 * width, _NEAR, none) for end in points)
    return (
        Marker(CLOSEST, Form.LINE, eye, np.zeros(3), width, _NEAR, points),
        *balls,
        Marker(CLOSEST, Form.TEXT, eye, above, tall, _NEAR, none, text),
    )


def _drawn(
    body: CollisionBody, namespace: str, colour: Colour, turn: Array, place: Array
) -> Iterator[Marker]:
    """Return the markers of a body whose frame is where it is told to be."""
    none = np.zeros((0, 3))
    for form, size, own_turn, own_place in _forms(body.shape):
        origin = place + turn @ own_place
        yield Marker(namespace, form, turn @ own_turn, origin, size, colour, none)
    if isinstance(body.shape, Hull):
        points = _corners_of_faces(body.shape, _CORNERS if namespace == SWEPT else None)
        yield Marker(namespace, Form.TRIANGLES, turn, place, np.ones(3), colour, points)


def _forms(shape: Shape) -> Iterator[tuple[Form, Array, Array, Array]]:
    """Return what viewers can draw by themselves: form, size, and its frame in that of a shape."""
    eye, zero = np.eye(3), np.zeros(3)
    if isinstance(shape, Box):
        yield Form.BOX, np.array(shape.size), eye, zero
    elif isinstance(shape, Sphere):
        yield Form.SPHERE, np.full(3, 2.0 * shape.radius), eye, zero
    elif isinstance(shape, Cylinder | Capsule):
        wide = 2.0 * shape.radius
        yield Form.CYLINDER, np.array([wide, wide, shape.length]), eye, zero
        if isinstance(shape, Capsule):
            for end in (-shape.length / 2.0, shape.length / 2.0):
                yield Form.SPHERE, np.full(3, wide), eye, np.array([0.0, 0.0, end])
    elif isinstance(shape, HalfSpace):
        normal = np.array(shape.normal)
        size = np.array([_PLANE_SIDE, _PLANE_SIDE, _PLANE_THICKNESS])
        yield Form.BOX, size, axis_frame(normal), -normal * _PLANE_THICKNESS / 2.0


def _corners_of_faces(shape: Hull, most: int | None) -> Array:
    """Return (3 faces, 3) the corners of the faces of a hull, one face after the other."""
    corners, faces = surface(shape, most)
    return corners[faces].reshape(-1, 3)
