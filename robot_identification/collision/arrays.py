"""A robot and a scene as the arrays that compiled bounds work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.collision.bodies.shapes import Box, HalfSpace
from robot_identification.collision.kernels import bounds as kernels
from robot_identification.collision.kernels import forward_kinematics
from robot_identification.collision.scene import Indices, Scene
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

_CAPSULE, _BOX, _HALF_SPACE = 0, 1, 2


@by_value
@dataclass(frozen=True)
class SceneArrays:
    """Arrays of a scene, as :mod:`robot_identification.collision.kernels.bounds` takes them.

    Attributes:
        robot: antecedents, rotations, translations and kinds of the joints.
        bodies: joints, kinds and enclosing shapes of the bodies.
        pairs: (pairs, 3) indices of two bodies, and the last joint that carries both, or -1.
    """

    robot: tuple[Any, ...]
    bodies: tuple[Any, ...]
    pairs: Indices

    @classmethod
    def of(cls, robot: RobotModel, scene: Scene) -> SceneArrays:
        """Return the arrays of a robot and a scene."""
        antecedent = np.array([joint.antecedent for joint in robot.joints], dtype=np.int64)
        joints = (
            antecedent,
            np.array([joint.rotation for joint in robot.joints]),
            np.array([joint.translation for joint in robot.joints]),
            np.array([joint.type is JointType.PRISMATIC for joint in robot.joints]),
        )
        bodies = scene.bodies
        moves = np.array([body.joint for body in bodies], dtype=np.int64)
        kinds, ends, radii, sizes = [], np.zeros((len(bodies), 2, 3)), [], []
        for i, body in enumerate(bodies):
            endless = isinstance(body.shape, HalfSpace)
            boxed = isinstance(body.shape, Box) and body.joint < 0
            kinds.append(_HALF_SPACE if endless else _BOX if boxed else _CAPSULE)
            sizes.append(body.normal if endless else body.half_size)
            radii.append(0.0 if endless else body.capsule.radius)
            if not endless:
                ends[i] = body.capsule.ends
        shapes = (
            moves,
            np.array(kinds, dtype=np.int64),
            ends,
            np.array(radii),
            np.array([body.rotation for body in bodies]),
            np.array([body.translation for body in bodies]),
            np.array(sizes),
        )
        carried = [_shared(antecedent, moves[a], moves[b]) for a, b in scene.pairs]
        pairs = np.column_stack([scene.pairs, np.array(carried, dtype=np.int64)])
        return cls(joints, shapes, pairs.astype(np.int64).reshape(-1, 3))

    def frames(self, q: npt.ArrayLike) -> tuple[Array, Array]:
        """Return orientations (postures, joints, 3, 3) and origins (postures, joints, 3)."""
        postures = np.atleast_2d(np.asarray(q, dtype=np.float64))
        turned = np.empty((*postures.shape, 3, 3))
        placed = np.empty((*postures.shape, 3))
        forward_kinematics.frames(postures, self.robot, turned, placed)
        return turned, placed

    def between(self, pair: int) -> list[int]:
        """Return the joints that move the bodies of a pair against each other."""
        joints = []
        for body in self.pairs[pair, :2]:
            k = int(self.bodies[0][body])
            while k != self.pairs[pair, 2]:
                joints.append(k)
                k = int(self.robot[0][k])
        return joints

    def arms(self) -> Array:
        """Return (joints,) by how much bodies move per rad or m of a joint, at the zero posture."""
        turned, placed = self.frames(np.zeros(len(self.robot[0])))
        moves, _, ends, radii = self.bodies[:4]
        arms = np.where(self.robot[3], 1.0, 0.0)
        for body, last in enumerate(moves):
            k = int(last)
            while k >= 0:
                if not self.robot[3][k]:
                    world = ends[body] @ turned[0, last].T + placed[0, last] - placed[0, k]
                    along = world @ turned[0, k][:, 2]
                    away = np.sqrt(np.maximum((world**2).sum(axis=1) - along**2, 0.0))
                    arms[k] = max(arms[k], float(away.max()) + radii[body])
                k = int(self.robot[0][k])
        found: Array = arms
        return found

    def gaps(self, q: Array, h: Array, wanted: float) -> Array:
        """Return (cells, pairs) lower bounds of distances over cells, less what is wanted."""
        out = np.empty((len(q), len(self.pairs)))
        kernels.gaps(q, h, wanted, self.robot, self.bodies, self.pairs, out)
        return out

    def gaps_of(self, q: Array, h: Array, wanted: float, pairs: Indices) -> Array:
        """Return (cells,) as :meth:`gaps`, of one pair (cells,) each."""
        out = np.empty(len(q))
        kernels.gaps_of_pairs(q, h, wanted, self.robot, self.bodies, self.pairs, pairs, out)
        return out

    def arms_between(self) -> Array:
        """Return (pairs, joints) of :meth:`arms`, those that move the bodies of each pair."""
        arms, found = self.arms(), np.zeros((len(self.pairs), len(self.robot[0])))
        for pair in range(len(self.pairs)):
            joints = self.between(pair)
            found[pair, joints] = arms[joints]
        return found

    def widest(self, h: Array) -> Array:
        """Return (pairs,) by how much distances may shrink at most where joints move by h, in m."""
        # Arms of the zero posture: of a chain that is bent there they may be short by half.
        return 2.0 * self.arms_between() @ h

    def travel(self, q: Array, h: Array, rows: Indices, normals: Array, points: Array) -> Array:
        """Return (rows,) by how much distances of pairs may shrink in their cells, in m."""
        out = np.empty(len(rows))
        # NumPy's argwhere gives another order, for which the function would be compiled once more.
        chosen = np.ascontiguousarray(rows)
        kernels.travel(q, h, self.robot, self.bodies, self.pairs, chosen, normals, points, out)
        return out


def _shared(antecedent: Indices, first: int, second: int) -> int:
    """Return the last joint that carries two bodies, -1 where there is none."""
    carriers = []
    while first >= 0:
        carriers.append(int(first))
        first = antecedent[first]
    while second >= 0:
        if int(second) in carriers:
            return int(second)
        second = antecedent[second]
    return -1
