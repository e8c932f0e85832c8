"""Convex hulls of the vertices of meshes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy

from robot_identification.collision.bodies.shapes import Hull
from robot_identification.collision.scene import Indices
from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.arrays import Array

_THICKNESS = 1e-4  # m, that a part without volume, such as a sheet, is given to either side


def hull(points: Array, source: Path) -> Hull:
    """Return the convex hull of points (points, 3); of a flat part, that of a thin plate.

    Raises:
        RobotDescriptionError: there are no points, or one is NaN or infinite.
    """
    if not len(points) or not np.isfinite(points).all():
        raise RobotDescriptionError("the mesh has no points, or one that is NaN", path=source)
    try:
        return Hull(*convex_surface(points))
    except scipy.spatial.QhullError:
        return Hull(*convex_surface(_thickened(points)))


def convex_surface(points: Array) -> tuple[Array, Indices]:
    """Return the surface of the convex hull of points (points, 3).

    Returns:
        Corners (corners, 3) and faces (faces, 3), counterclockwise from outside.

    Raises:
        QhullError: the points lie in a plane.
    """
    found = scipy.spatial.ConvexHull(points)
    used, place = np.unique(found.simplices, return_inverse=True)
    corners, faces = points[used], place.reshape(-1, 3).astype(np.int64)
    a, b, c = (corners[faces[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return corners, faces


def _thickened(points: Array) -> Array:
    """Return points on either side of points (points, 3), along their principal axes.

    Those that were given are inside of the hull of those that are returned.
    """
    axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=True)[2]
    steps = _THICKNESS * np.vstack([axes, -axes])
    thick: Array = (points[:, None, :] + steps[None]).reshape(-1, 3)
    return thick
