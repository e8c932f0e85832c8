"""Convex hulls of the vertices of meshes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from robot_identification.collision.shapes import Hull
from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.model import Array


def hull(points: Array, source: Path) -> Hull:
    """Return the convex hull of points (points, 3).

    Raises:
        RobotDescriptionError: they lie in a plane.
    """
    try:
        found = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise RobotDescriptionError(
            f"the mesh has no volume: {str(error).splitlines()[0]}", path=source
        ) from error
    corners, faces = np.unique(found.simplices, return_inverse=True)
    faces = faces.reshape(-1, 3)
    vertices = points[corners]
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return Hull(vertices, faces.astype(np.int64))
