"""Shapes as triangles, to be drawn."""

from __future__ import annotations

import numpy as np
import scipy

from robot_identification.collision.bodies.hulls import convex_surface
from robot_identification.collision.bodies.shapes import (
    Capsule,
    Cylinder,
    HalfSpace,
    Hull,
    Sphere,
    outline,
)
from robot_identification.collision.scene import CollisionBody, Indices
from robot_identification.robot.arrays import Array
from robot_identification.robot.geometry import axis_frame

_ROUND = 20
"""Corners of a circle."""

_MOST_CORNERS = 160
"""Of a hull: a picture needs no more."""


def triangles(body: CollisionBody, side: float) -> tuple[Array, Indices]:
    """Return the surface of a body.

    Args:
        body: the body.
        side: of the square that is drawn of a plane, in m.

    Returns:
        Corners (corners, 3) in m, in the frame of the body's joint, and faces (faces, 3),
        counterclockwise from outside.
    """
    corners, faces = _of_shape(body, side)
    return corners @ body.rotation.T + body.translation, faces


def _of_shape(body: CollisionBody, side: float) -> tuple[Array, Indices]:
    shape = body.shape
    if isinstance(shape, HalfSpace):
        return _plane(np.array(shape.normal), side)
    if isinstance(shape, Sphere | Capsule):
        ends, radius = outline(shape)
        return convex_surface((ends[:, None] + radius * _ball()).reshape(-1, 3))
    if isinstance(shape, Cylinder):
        ends, radius = outline(shape)
        turn = np.linspace(0.0, 2.0 * np.pi, _ROUND, endpoint=False)
        ring = radius * np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], axis=1)
        return convex_surface((ends[:, None] + ring).reshape(-1, 3))
    if isinstance(shape, Hull):
        return surface(shape)
    return convex_surface(outline(shape)[0])


def surface(shape: Hull, most_corners: int | None = None) -> tuple[Array, Indices]:
    """Return the surface of a hull, or of one with fewer corners that lies inside of it.

    Args:
        shape: the hull.
        most_corners: of what is returned; None: as many as a picture needs.

    Returns:
        Corners (corners, 3) in m and faces (faces, 3), counterclockwise from outside.
    """
    most, corners = most_corners or _MOST_CORNERS, np.array(shape.vertices)
    if len(corners) <= most:
        return corners, np.array(shape.faces)
    # The farthest in evenly spread directions, so that no side is left out.
    height = 1.0 - (2.0 * np.arange(most) + 1.0) / most
    turn = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(most)
    flat = np.sqrt(1.0 - height**2)
    directions = np.stack([flat * np.cos(turn), flat * np.sin(turn), height])
    spread = (corners - corners.mean(axis=0)) / np.ptp(corners, axis=0)
    try:
        return convex_surface(corners[np.unique(np.argmax(spread @ directions, axis=0))])
    except scipy.spatial.QhullError:  # those few lie in a plane
        return corners, np.array(shape.faces)


def _ball() -> Array:
    """Return points (points, 3) of the unit sphere."""
    polar, turn = np.meshgrid(
        np.linspace(0.0, np.pi, _ROUND // 2 + 1),
        np.linspace(0.0, 2.0 * np.pi, _ROUND, endpoint=False),
    )
    x, y = np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn)
    return np.stack([x, y, np.cos(polar)], axis=-1).reshape(-1, 3)


def _plane(normal: Array, side: float) -> tuple[Array, Indices]:
    """Return a square in a plane, counterclockwise from where its normal points."""
    flat = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    return side / 2.0 * flat @ axis_frame(normal).T, np.array([[0, 1, 2], [0, 2, 3]])
