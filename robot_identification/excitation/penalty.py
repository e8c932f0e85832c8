"""What a motion exceeds its limits by: a smooth penalty with its exact gradient over the points."""

from __future__ import annotations

import numpy as np

from robot_identification.excitation.braking import stopping_factors
from robot_identification.excitation.curve import Curve, Points
from robot_identification.excitation.limits import MotionLimits

_FRACTIONS = np.array([0.08, 0.17, 0.25, 0.33, 0.42, 0.5, 0.58, 0.67, 0.75, 0.83, 0.92])
_MARGIN = 0.02


class LimitPenalty:
    """Squares of what samples of every interval exceed, as shares of the limits.

    It counts the place where braking from a sample would end, its velocity and its acceleration,
    each beyond its limit less 2 %.

    Args:
        limits: of position, velocity and acceleration.
    """

    def __init__(self, limits: MotionLimits) -> None:
        self._curve = Curve(_FRACTIONS)
        widths = np.stack([limits.half_range, limits.velocity, limits.acceleration])
        self._inverse = 1.0 / widths[:, :, None]
        self._middle = limits.middle[:, None]
        self._per_square, self._per_speed = (x[:, None] for x in stopping_factors(limits))

    def __call__(self, points: Points) -> tuple[float, Points]:
        """Return the sum of the squares, and its gradient over the points."""
        motion = self._curve.rows(points)
        velocity = motion[1]
        speed = np.abs(velocity)
        motion[0] += (self._per_square * speed + self._per_speed) * velocity - self._middle
        motion *= self._inverse  # of position: where braking ends
        beyond = np.maximum(np.abs(motion) - (1.0 - _MARGIN), 0.0)
        onto = 2.0 * np.copysign(beyond, motion) * self._inverse
        onto[1] += onto[0] * (2.0 * self._per_square * speed + self._per_speed)
        return float(np.vdot(beyond, beyond)), self._curve.pull_rows(points, onto)
