"""Shapes that bodies of a robot and of its cell have.

Every shape but the half-space is convex and bounded: the convex hull of some points, widened by a
radius.  Bounds of how far a body moves need no more than that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.arrays import Array, by_value, read_only


@dataclass(frozen=True)
class Sphere:
    """A sphere about the origin; its radius in m."""

    radius: float

    def __post_init__(self) -> None:
        _require_positive("radius", self.radius)


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with half a sphere at both ends, centred at the origin.

    Attributes:
        radius: in m.
        length: of the cylinder, without the half-spheres, in m; 0: a sphere.
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        _require_positive("radius", self.radius)
        if not 0.0 <= self.length < np.inf:
            raise SettingError("length", self.length, "must be 0 or more")


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z, centred at the origin; radius and length in m."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _require_positive("radius", self.radius)
        _require_positive("length", self.length)


@dataclass(frozen=True)
class Box:
    """A box along the axes, centred at the origin; its size (x, y, z) in m."""

    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", tuple(float(x) for x in self.size))
        if len(self.size) != 3:
            raise ShapeError("size", (len(self.size),), "(3,)")
        for length in self.size:
            _require_positive("size", length)


@by_value
@dataclass(frozen=True)
class Hull:
    """The convex hull of points, such as the vertices of a mesh.

    Attributes:
        vertices: (points, 3) in m, each of them a corner.
        faces: (faces, 3) indices of corners, counterclockwise from outside.
    """

    vertices: Array
    faces: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", read_only(self.vertices))
        object.__setattr__(self, "faces", read_only(self.faces, np.int64))


@dataclass(frozen=True)
class HalfSpace:
    """All points p with normal . p <= 0; of a body that does not move."""

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        length = float(np.linalg.norm(self.normal))
        if not 0.0 < length < np.inf:
            raise SettingError("normal", self.normal, "must be three numbers, not all of them 0")
        x, y, z = (float(x) / length for x in self.normal)
        object.__setattr__(self, "normal", (x, y, z))


Shape = Sphere | Capsule | Cylinder | Box | Hull | HalfSpace
"""A shape in the frame of its body."""

_FARTHEST = 50.0  # m from its frame; no moving link has a shape there, but one in mm has


def outline(shape: Shape) -> tuple[Array, float]:
    """Return points (points, 3) and a radius: the shape lies in the hull of the points, widened.

    Raises:
        SettingError: the shape is a half-space, which has no end.
    """
    if isinstance(shape, Sphere):
        return np.zeros((1, 3)), shape.radius
    if isinstance(shape, (Capsule, Cylinder)):
        half = shape.length / 2.0
        return np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]), shape.radius
    if isinstance(shape, Box):
        signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij"), axis=-1)
        return signs.reshape(8, 3) * np.array(shape.size) / 2.0, 0.0
    if isinstance(shape, Hull):
        return np.array(shape.vertices), 0.0
    raise SettingError("shape", shape, "a half-space has no end")


def meant_in_mm(shape: Shape, rotation: Array, translation: Array, scale: str) -> str:
    """Return what is wrong with a shape so large that no moving link has it; empty: nothing.

    Args:
        shape: the shape; a half-space has no end, and is not judged.
        rotation: (3, 3) of its own frame in that of its link.
        translation: (3,) of its own origin there, in m.
        scale: what is to be stated for a mesh in mm, for people.
    """
    if isinstance(shape, HalfSpace):
        return ""
    points, radius = outline(shape)
    far = float(np.linalg.norm(points @ rotation.T + translation, axis=1).max()) + radius
    if far <= _FARTHEST:
        return ""
    return f"reaches {far:.3g} m; is it in mm? meshes in mm need {scale}"


def _require_positive(name: str, value: float) -> None:
    if not 0.0 < value < np.inf:
        raise SettingError(name, value, "must be positive")
