"""What a motion lacks to its clearance: a smooth penalty with its gradient over the points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.collision import kernels
from robot_identification.collision.model import CollisionModel
from robot_identification.excitation.braking import stopping_factors
from robot_identification.excitation.curve import Curve, Points
from robot_identification.excitation.limits import MotionLimits
from robot_identification.robot.model import Array

_FRACTIONS = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
_SCALE = 0.1  # m


class ClearancePenalty:
    """Squares of what capsules around bodies lack to their margins, on samples of every interval.

    It counts the posture of a sample and the one where braking from there would end.

    Args:
        collisions: what the robot must not touch.
        limits: of position, velocity and acceleration.
        off: (joints,) by how much the robot may be off its reference, in rad or m.
        room: distance in m to be kept beyond the clearance, for what lies between the samples.
    """

    def __init__(
        self, collisions: CollisionModel, limits: MotionLimits, off: Array, room: float
    ) -> None:
        self._arrays = collisions.check.arrays
        self._margin = collisions.clearance + room - collisions.looseness
        self._off = np.ascontiguousarray(off, dtype=np.float64)
        self._beyond = self._margin + self._arrays.widest(self._off)
        self._curve = Curve(_FRACTIONS)
        self._per_square, self._per_speed = (x[:, None] for x in stopping_factors(limits))

    def free(self, postures: Array) -> npt.NDArray[np.bool_]:
        """Tell which postures (postures, joints) lack nothing."""
        lacking = [self._at(np.ascontiguousarray(posture[None]))[0] for posture in postures]
        found: npt.NDArray[np.bool_] = np.array(lacking) == 0.0
        return found

    def _at(self, postures: Array) -> tuple[float, Array]:
        """Return what postures lack, and its gradient (postures, joints)."""
        arrays, slopes = self._arrays, np.empty_like(postures)
        lack = kernels.intrusion(
            postures, self._off, self._margin, self._beyond, _SCALE,
            arrays.robot, arrays.bodies, arrays.pairs, slopes,
        )  # fmt: skip
        return float(lack), slopes

    def __call__(self, points: Points) -> tuple[float, Points]:
        """Return the sum of the squares, and its gradient over the points."""
        motion = self._curve.rows(points)
        speed = np.abs(motion[1])
        ends = motion[0] + (self._per_square * speed + self._per_speed) * motion[1]
        value, slopes = self._at(np.ascontiguousarray(np.hstack([motion[0], ends]).T))
        own, at_rest = np.split(slopes.T, 2, axis=1)
        onto = np.zeros_like(motion)
        onto[0] = own + at_rest
        onto[1] = at_rest * (2.0 * self._per_square * speed + self._per_speed)
        return value, self._curve.pull_rows(points, onto)
