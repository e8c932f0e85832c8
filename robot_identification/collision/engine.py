"""Exact distances between bodies, by the library coal."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from robot_identification.collision.bodies import collada
from robot_identification.collision.bodies.shapes import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    Hull,
    Shape,
    Sphere,
)
from robot_identification.collision.scene import Indices, Scene
from robot_identification.errors import MissingPackageError, RobotDescriptionError
from robot_identification.robot.arrays import Array, read_only


def available() -> bool:
    """Tell whether coal is installed."""
    return find_spec("coal") is not None


def _coal() -> Any:
    if not available():
        raise MissingPackageError("coal", "collision", "distances between bodies")
    return import_module("coal")


class Distances:
    """Distances between the bodies of a scene.

    Args:
        scene: the scene.

    Raises:
        MissingPackageError: coal is not installed.
    """

    def __init__(self, scene: Scene) -> None:
        self._coal, self._scene = _coal(), scene
        self._geometries = [self._geometry(body.shape) for body in scene.bodies]
        self._request, self._result = self._coal.DistanceRequest(), self._coal.DistanceResult()
        self._request.enable_signed_distance = True
        self._pairs = [
            self._coal.ComputeDistance(self._geometries[a], self._geometries[b])
            for a, b in scene.pairs
        ]

    def at(self, rows: Indices, turned: Array, placed: Array) -> tuple[Array, Array, Array]:
        """Return distances of pairs at postures, and their nearest points.

        Args:
            rows: (rows, 2) indices of a posture and of a pair, by rising postures.
            turned: (postures, joints, 3, 3) orientations of the joints' frames.
            placed: (postures, joints, 3) their origins, in m.

        Returns:
            (rows,) distances in m, negative where bodies overlap, (rows, 3) unit vectors from the
            second body to the first, and (rows, 2, 3) the nearest points in the base frame.
        """
        distances, normals = np.empty(len(rows)), np.empty((len(rows), 3))
        points = np.empty((len(rows), 2, 3))
        needed = self._scene.pairs[rows[:, 1]] + rows[:, :1] * len(self._scene.bodies)
        places, which = np.unique(needed, return_inverse=True)
        transforms = self._transforms(places, turned, placed)
        result = self._result
        for row, (pair, (a, b)) in enumerate(
            zip(rows[:, 1].tolist(), which.reshape(-1, 2).tolist(), strict=True)
        ):
            result.clear()
            distances[row] = self._pairs[pair](transforms[a], transforms[b], self._request, result)
            normals[row] = result.normal
            points[row, 0], points[row, 1] = result.getNearestPoint1(), result.getNearestPoint2()
        return distances, -normals, points

    def _transforms(self, places: Indices, turned: Array, placed: Array) -> list[Any]:
        """Return where bodies are; a place is posture * bodies + body."""
        posture, body = np.divmod(places, len(self._scene.bodies))
        joint = np.array([b.joint for b in self._scene.bodies])[body]
        turns = np.where((joint < 0)[:, None, None], np.eye(3), turned[posture, joint])
        origins = np.where((joint < 0)[:, None], 0.0, placed[posture, joint])
        rotations = np.array([b.rotation for b in self._scene.bodies])[body]
        translations = np.array([b.translation for b in self._scene.bodies])[body]
        return list(
            map(
                self._coal.Transform3s,
                turns @ rotations,
                origins + (turns @ translations[:, :, None])[:, :, 0],
            )
        )

    def _geometry(self, shape: Shape) -> Any:
        coal = self._coal
        if isinstance(shape, Sphere):
            return coal.Sphere(shape.radius)
        if isinstance(shape, Capsule):
            return coal.Capsule(shape.radius, shape.length)
        if isinstance(shape, Cylinder):
            return coal.Cylinder(shape.radius, shape.length)
        if isinstance(shape, Box):
            return coal.Box(*shape.size)
        if isinstance(shape, HalfSpace):
            return coal.Halfspace(np.array(shape.normal), 0.0)
        return _hull(coal, shape)


def _hull(coal: Any, shape: Hull) -> Any:
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in shape.vertices:
        points.append(np.array(vertex))
    for face in shape.faces.tolist():
        faces.append(coal.Triangle(*face))
    return coal.Convex(points, faces)


def load_mesh(path: Path, scale: Array) -> list[Array]:
    """Return the vertices of the connected parts of a mesh, each (vertices, 3) in m.

    Numbers are in m, or in the unit that a COLLADA file states.

    Args:
        path: an STL, DAE, OBJ or other file that the library assimp reads.
        scale: (3,) factors of x, y and z.

    Raises:
        MissingPackageError: coal is not installed.
        RobotDescriptionError: the file cannot be read, or its unit is none.
    """
    stamp = path.stat() if path.is_file() else None
    changed = (stamp.st_mtime_ns, stamp.st_size) if stamp else (0, 0)
    x, y, z = (float(factor) for factor in scale)
    return list(_parts_of_file(path, (x, y, z), changed))


@lru_cache(maxsize=256)
def _parts_of_file(
    path: Path, scale: tuple[float, float, float], _changed: tuple[int, int]
) -> tuple[Array, ...]:
    """Return the parts of a mesh; a node reads them at every start, and files rarely change."""
    coal = _coal()
    try:
        mesh = coal.MeshLoader(coal.BV_OBBRSS).load(str(path), np.array(scale))
    except (RuntimeError, ValueError) as error:
        problem = f"cannot be read as a mesh: {_reason(str(error))}"
        raise RobotDescriptionError(problem, path=path) from error
    unit = collada.metres_per_unit(path) if path.suffix.lower() == collada.ENDING else 1.0
    vertices = unit * np.array([mesh.vertex(i) for i in range(mesh.num_vertices)])
    triangles = map(mesh.tri_indices, range(mesh.num_tris))
    faces = np.array([[t[0], t[1], t[2]] for t in triangles], dtype=np.int64)
    return tuple(read_only(part) for part in _parts(vertices, faces))


def _reason(told: str) -> str:
    """Return what assimp says of a file, without coal's own source, the path and a hint."""
    lines = told.partition("message: ")[2].splitlines()[1:]
    return " ".join(line for line in lines if not line.startswith("Hint:")) or told


def _parts(vertices: Array, faces: Indices) -> list[Array]:
    """Return the vertices of the parts of a mesh that do not hang together.

    Corners at the same place are one, as files of triangles repeat them.
    """
    _, same = np.unique(np.round(vertices, 6), axis=0, return_inverse=True)
    same = same.reshape(-1)
    ends = same[faces]
    count = int(same.max()) + 1
    links = scipy.sparse.coo_array(
        (np.ones(2 * len(ends)), (np.repeat(ends[:, 0], 2), ends[:, 1:].ravel())),
        shape=(count, count),
    )
    parts, label = scipy.sparse.csgraph.connected_components(links, directed=False)
    return [vertices[label[same] == part] for part in range(parts)]
