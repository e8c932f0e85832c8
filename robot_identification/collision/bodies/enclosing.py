"""The capsule around a body: a small one, not the smallest, found along the body's own axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.collision.bodies.shapes import Shape, outline
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array, read_only

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
