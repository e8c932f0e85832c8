"""Shapes as triangles, to be drawn."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from robot_identification.collision.scene import CollisionBody, Indices
from robot_identification.collision.shapes import (
    Capsule,
    Cylinder,
    HalfSpace,
    Hull,
    Sphere,
    outline,
)
from robot_identification.robot.model import Array

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
        return _hull((ends[:, None] + radius * _ball()).reshape(-1, 3))
    if isinstance(shape, Cylinder):
        ends, radius = outline(shape)
        turn = np.linspace(0.0, 2.0 * np.pi, _ROUND, endpoint=False)
        ring = radius * np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], axis=1)
        return _hull((ends[:, None] + ring).reshape(-1, 3))
    corners, _ = outline(shape)
    if isinstance(shape, Hull) and len(corners) > _MOST_CORNERS:
        corners = corners[np.linspace(0, len(corners) - 1, _MOST_CORNERS).astype(int)]
    return _hull(corners)


def _ball() -> Array:
    """Return points (points, 3) of the unit sphere."""
    polar, turn = np.meshgrid(
        np.linspace(0.0, np.pi, _ROUND // 2 + 1),
        np.linspace(0.0, 2.0 * np.pi, _ROUND, endpoint=False),
    )
    x, y = np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn)
    return np.stack([x, y, np.cos(polar)], axis=-1).reshape(-1, 3)


def _hull(corners: Array) -> tuple[Array, Indices]:
    """Return the corners of a convex hull and its faces, counterclockwise from outside."""
    found = ConvexHull(corners)
    faces = np.array(found.simplices, dtype=np.int64)
    a, b, c = (corners[faces[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    used, place = np.unique(faces, return_inverse=True)
    return corners[used], place.reshape(faces.shape)


def _plane(normal: Array, side: float) -> tuple[Array, Indices]:
    """Return a square in a plane, counterclockwise from where its normal points."""
    along = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    along /= np.linalg.norm(along)
    across = np.cross(normal, along)
    signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    corners = side / 2.0 * (signs[:, :1] * along + signs[:, 1:] * across)
    return corners, np.array([[0, 1, 2], [0, 2, 3]])
