"""An independent judge of distances: Pinocchio's kinematics, coal on the meshes as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin

from robot_identification.collision.model import CollisionModel
from robot_identification.collision.shapes import Box, Capsule, HalfSpace, Sphere

try:
    import coal
except ImportError:  # as it was called before
    import hppfcl as coal


ROUNDING = 1e-6  # m


class Judge:
    """Tells whether a robot keeps a distance at postures.

    Args:
        path: URDF of the robot.
        packages: folder that has the packages of the meshes.
        model: tells the pairs of links that must keep apart, and what stands in the cell.
    """

    def __init__(self, path: Path, packages: Path, model: CollisionModel) -> None:
        self._model = pin.buildModelFromUrdf(str(path))
        shapes = pin.buildGeomFromUrdf(
            self._model, str(path), pin.GeometryType.COLLISION, package_dirs=[str(packages)]
        )
        by_link: dict[str, list[int]] = {}
        for i, one in enumerate(shapes.geometryObjects):
            by_link.setdefault(self._model.frames[one.parentFrame].name, []).append(i)
        for body in model.scene.bodies:
            if not body.of_robot:
                place = pin.SE3(np.array(body.rotation), np.array(body.translation))
                shape = _geometry(body.shape)
                added = pin.GeometryObject(body.name, 0, place, shape)
                by_link.setdefault(body.link, []).append(shapes.addGeometryObject(added))
        pairs = {model.scene.names(pair) for pair in range(len(model.scene.pairs))}
        for first, second in sorted(pairs):
            for a in by_link[first]:
                for b in by_link[second]:
                    shapes.addCollisionPair(pin.CollisionPair(a, b))
        self._shapes = shapes
        self._data, self._geometry = self._model.createData(), shapes.createData()
        self._places = [
            self._model.joints[self._model.getJointId(name)].idx_q
            for name in model.robot.joint_names
        ]
        self._neutral = pin.neutral(self._model)

    def keeps(self, postures: np.ndarray, distance: float) -> bool:
        """Tell whether no pair is nearer than a distance in m at any of some postures.

        Boxes around the meshes that are farther apart than that spare most of the work.
        """
        for request in self._geometry.collisionRequests:
            request.security_margin = distance - ROUNDING
        q = self._neutral.copy()
        for posture in postures:
            q[self._places] = posture
            if pin.computeCollisions(
                self._model, self._data, self._shapes, self._geometry, q, True
            ):
                return False
        return True


def _geometry(shape: object) -> object:
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    if isinstance(shape, HalfSpace):
        return coal.Halfspace(np.array(shape.normal), 0.0)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.length)
    raise TypeError(f"{shape} is in no cell of this study")
