"""Bodies of a robot and of its cell, and which pairs of them must keep apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_identification.collision.bodies.shapes import Box, HalfSpace, Shape, outline
from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array, by_value, read_only

_ROUNDS = 100  # of the enclosing circle, whose excess falls as one over their number


@by_value
@dataclass(frozen=True)
class EnclosingCapsule:
    """All points within a radius of a segment.

    Attributes:
        ends: (2, 3) ends of the segment in m.
        radius: in m.
    """

    ends: Array
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends", read_only(self.ends))

    @property
    def volume(self) -> float:
        """In m^3."""
        length = float(np.linalg.norm(self.ends[1] - self.ends[0]))
        return float(np.pi * self.radius**2 * (length + 4.0 * self.radius / 3.0))


def enclosing_capsule(shape: Shape) -> EnclosingCapsule:
    """Return a capsule, in the frame of a shape, that the shape lies in.

    Raises:
        SettingError: the shape is a half-space.
    """
    points, radius = outline(shape)
    if len(points) <= 2:
        return EnclosingCapsule(np.array([points[0], points[-1]]), radius)
    axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
    tried = [_along(points, axis) for axis in (*axes, *np.eye(3))]
    best = min(tried, key=lambda capsule: capsule.volume)
    return EnclosingCapsule(best.ends, best.radius + radius)


def _along(points: Array, axis: Array) -> EnclosingCapsule:
    """Return a capsule around points whose segment has a direction."""
    height = points @ axis
    flat = points - np.outer(height, axis)
    centre = _circle_centre(flat)
    away = np.linalg.norm(flat - centre, axis=1)
    radius = float(away.max())
    # A half-sphere covers a point that lies beyond the segment's end by no more than this.
    reach = np.sqrt(np.maximum(radius**2 - away**2, 0.0))
    low, high = float((height + reach).min()), float((height - reach).max())
    if low > high:
        low = high = (low + high) / 2.0
    ends = centre + np.outer([low, high], axis)
    return EnclosingCapsule(ends, max(radius, _farthest(points, ends)))


def _circle_centre(points: Array) -> Array:
    """Return about the centre of the smallest circle around points (Badoiu and Clarkson 2003)."""
    centre: Array = (points.min(axis=0) + points.max(axis=0)) / 2.0
    for i in range(1, _ROUNDS):
        farthest = points[np.argmax(np.linalg.norm(points - centre, axis=1))]
        centre = centre + (farthest - centre) / (i + 1)
    return centre


def _farthest(points: Array, ends: Array) -> float:
    """Return the largest distance of points from a segment."""
    way = ends[1] - ends[0]
    length = float(way @ way)
    share = np.clip((points - ends[0]) @ way / length, 0.0, 1.0) if length > 0.0 else 0.0
    return float(np.linalg.norm(points - ends[0] - np.outer(share, way), axis=1).max())


Indices = npt.NDArray[np.int64]

STATIC = -1
"""Joint of a body that does not move."""


@by_value
@dataclass(frozen=True)
class CollisionBody:
    """A shape that is fixed in a link, or stands in the cell.

    Attributes:
        name: unique among the bodies of a scene.
        link: name of the link, or of what stands in the cell.
        joint: index of the joint that moves it; -1: it does not move.
        shape: in its own frame.
        rotation: (3, 3) orientation of that frame in the frame of the joint, or in the base.
        translation: (3,) its origin there, in m.
        of_robot: whether it belongs to the robot, and not to the cell.

    Raises:
        SettingError: a joint would move a half-space.
    """

    name: str
    link: str
    joint: int
    shape: Shape
    rotation: Array
    translation: Array
    of_robot: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.shape, HalfSpace) and self.joint != STATIC:
            raise SettingError("shape", self.shape, f"{self.name}: a link cannot carry a plane")
        object.__setattr__(self, "rotation", read_only(self.rotation))
        object.__setattr__(self, "translation", read_only(self.translation))

    @cached_property
    def capsule(self) -> EnclosingCapsule:
        """A capsule around the body, in the frame of its joint; none around a half-space."""
        own = enclosing_capsule(self.shape)
        return EnclosingCapsule(own.ends @ self.rotation.T + self.translation, own.radius)

    def pose(self, frames: Array) -> tuple[Array, Array]:
        """Return rotation (3, 3) and translation (3,) in m in the base.

        Args:
            frames: (joints, 4, 4) of the joints in the base.
        """
        if self.joint == STATIC:
            return self.rotation, self.translation
        turn, place = frames[self.joint, :3, :3], frames[self.joint, :3, 3]
        return turn @ self.rotation, place + turn @ self.translation

    @property
    def normal(self) -> Array:
        """(3,) of a half-space, in the base frame."""
        if not isinstance(self.shape, HalfSpace):
            return np.zeros(3)
        return np.array(self.rotation @ np.array(self.shape.normal))

    @property
    def half_size(self) -> Array:
        """(3,) of a box, in m."""
        return np.array(self.shape.size) / 2.0 if isinstance(self.shape, Box) else np.zeros(3)


@dataclass(frozen=True)
class LeftOut:
    """Two links whose distance is not kept.

    Attributes:
        first: name of a link.
        second: name of the other.
        reason: why.
        harmless: whether that was shown, for every posture within the limits.
        judged: whether postures tell so; otherwise a joint or a file does.
    """

    first: str
    second: str
    reason: str
    harmless: bool = False
    judged: bool = False


@by_value
@dataclass(frozen=True)
class Scene:
    """Bodies, and the pairs of them that must keep apart.

    Attributes:
        bodies: of robot and cell.
        pairs: (pairs, 2) indices of bodies; the first of a pair moves.
        left_out: links whose distance is not kept.
    """

    bodies: tuple[CollisionBody, ...]
    pairs: Indices
    left_out: tuple[LeftOut, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", read_only(self.pairs, np.int64).reshape(-1, 2))

    def names(self, pair: int) -> tuple[str, str]:
        """Return the names of the links of a pair."""
        first, second = self.pairs[pair]
        return self.bodies[first].link, self.bodies[second].link
