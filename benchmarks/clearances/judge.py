"""An independent judge of distances: Pinocchio's kinematics, coal on the meshes as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from robot_identification.collision.bodies.shapes import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    Shape,
    Sphere,
)
from robot_identification.collision.model import CollisionModel
from robot_identification.collision.scene import CollisionBody, Scene
from robot_identification.robot.files.urdf.robot import read_urdf

ROUNDING = 1e-6  # m


class Judge:
    """Tells whether a robot keeps a distance at postures.

    Links count with their meshes as they are.  In pairs of links of which the certificate leaves
    out some parts, and for robots without meshes, the convex parts of the model count.

    Args:
        path: URDF of the robot.
        packages: folder that has the packages of the meshes.
        model: tells the pairs that must keep apart, and what stands in the cell.
    """

    def __init__(self, path: Path, packages: Path, model: CollisionModel) -> None:
        self._model = pin.buildModelFromUrdf(str(path))
        self._shapes = pin.buildGeomFromUrdf(
            self._model, str(path), pin.GeometryType.COLLISION, package_dirs=[str(packages)]
        )
        self._frames = read_urdf(path).frames
        meshes: dict[str, list[int]] = {}
        for i, one in enumerate(self._shapes.geometryObjects):
            meshes.setdefault(self._model.frames[one.parentFrame].name, []).append(i)
        parts = [self._added(body) for body in model.scene.bodies]
        for first, second in _judged(model.scene, meshes, parts):
            self._shapes.addCollisionPair(pin.CollisionPair(first, second))
        hulls = self._shapes.copy()
        for one in hulls.geometryObjects:
            if isinstance(one.geometry, coal.BVHModelBase):
                one.geometry.buildConvexHull(True, "Qt")
                one.geometry = one.geometry.convex
        self._data = self._model.createData()
        self._checks = [(shapes, shapes.createData()) for shapes in (hulls, self._shapes)]
        joints = [self._model.joints[self._model.getJointId(x)] for x in model.robot.joint_names]
        self._places = [(joint.idx_q, joint.nq) for joint in joints]
        self._neutral = pin.neutral(self._model)

    def _added(self, body: CollisionBody) -> int:
        """Add a body of the model to the shapes; return its index."""
        place, joint = pin.SE3(np.array(body.rotation), np.array(body.translation)), 0
        if body.of_robot:
            own = self._frames[body.link]
            link = pin.SE3(np.array(own.rotation), np.array(own.translation))
            frame = self._model.frames[self._model.getFrameId(body.link)]
            joint, place = frame.parentJoint, frame.placement * link.inverse() * place
        one = pin.GeometryObject(f"part {body.name}", joint, place, _geometry(body.shape))
        return int(self._shapes.addGeometryObject(one))

    def keeps(self, postures: np.ndarray, distance: float) -> bool:
        """Tell whether no pair is nearer than a distance in m at any of some postures.

        Where the convex hulls of the meshes are farther apart than that, so are the meshes.
        """
        for _, found in self._checks:
            for request in found.collisionRequests:
                # Meshes are not judged by negative margins.
                request.security_margin = max(distance - ROUNDING, 0.0)
        q = self._neutral.copy()
        for posture in postures:
            for (place, width), value in zip(self._places, posture, strict=True):
                q[place : place + width] = value if width == 1 else (np.cos(value), np.sin(value))
            if all(
                pin.computeCollisions(self._model, self._data, shapes, found, q, True)
                for shapes, found in self._checks
            ):
                return False
        return True


def _judged(
    scene: Scene, meshes: dict[str, list[int]], parts: list[int]
) -> Iterator[tuple[int, int]]:
    """Return the shapes that must keep apart: meshes where all parts of two links must."""
    wanted: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for pair, (first, second) in enumerate(scene.pairs.tolist()):
        wanted.setdefault(scene.names(pair), []).append((first, second))
    of_link = Counter(body.link for body in scene.bodies)
    for (first, second), bodies in wanted.items():
        if len(bodies) == of_link[first] * of_link[second] and first in meshes:
            other = meshes.get(second, [parts[b] for b in {b for _, b in bodies}])
            yield from product(meshes[first], other)
        else:
            yield from ((parts[a], parts[b]) for a, b in bodies)


def _geometry(shape: Shape) -> object:
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    if isinstance(shape, HalfSpace):
        return coal.Halfspace(np.array(shape.normal), 0.0)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.length)
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius, shape.length)
    points = coal.StdVec_Vec3s()
    for vertex in shape.vertices:
        points.append(np.array(vertex))
    return coal.Convex.convexHull(points, True, "Qt")
