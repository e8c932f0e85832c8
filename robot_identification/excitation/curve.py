"""Samples of the quintic motion through points, and their derivatives (eq. 24-28).

Between two points with positions a, b and velocities v, w and without acceleration, with the step
D = b - a and the duration u, the motion at the fraction s is

    q = a + D P(s) + u (v A(s) + w B(s)),
    P = 10 s^3 - 15 s^4 + 6 s^5,  A = s - 6 s^3 + 8 s^4 - 3 s^5,  B = -4 s^3 + 7 s^4 - 3 s^5

(Gautier and Khalil 1992, eq. 24-28, corrected), linear in the points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.robot.model import Array

_STEP = np.polynomial.Polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0])
_BEFORE = np.polynomial.Polynomial([0.0, 1.0, 0.0, -6.0, 8.0, -3.0])
_AFTER = np.polynomial.Polynomial([0.0, 0.0, 0.0, -4.0, 7.0, -3.0])


@dataclass(frozen=True)
class Points:
    """Points that a motion passes without acceleration, and how long it takes between them.

    Attributes:
        positions: (points, joints) in rad or m.
        velocities: (points, joints) in rad/s or m/s.
        durations: (points - 1,) in s.
    """

    positions: Array
    velocities: Array
    durations: Array

    @property
    def intervals(self) -> int:
        """Number of intervals between the points."""
        return len(self.positions) - 1


@dataclass(frozen=True)
class Samples:
    """Motion at the same fractions of every interval; gradients with respect to it look the same.

    Attributes:
        position: (intervals, fractions, joints).
        velocity: (intervals, fractions, joints).
        acceleration: (intervals, fractions, joints).
    """

    position: Array
    velocity: Array
    acceleration: Array


class Curve:
    """The linear map from points to samples, and its transpose.

    Args:
        fractions: (fractions,) places in every interval, from 0 to 1.
    """

    def __init__(self, fractions: npt.ArrayLike) -> None:
        self.fractions = np.atleast_1d(np.asarray(fractions, dtype=np.float64))
        shapes = []
        for order in range(3):
            curves = (_STEP, _BEFORE, _AFTER)
            shapes.append([(c.deriv(order) if order else c)(self.fractions) for c in curves])
        self._shape = np.array(shapes)  # (order, curve, fractions)

    def sample(self, points: Points) -> Samples:
        """Return the motion at the fractions."""
        a = points.positions[:-1, None, :]
        step = np.diff(points.positions, axis=0)[:, None, :]
        before, after = points.velocities[:-1, None, :], points.velocities[1:, None, :]
        u = points.durations[:, None, None]
        P, A, B = self._shape[:, :, None, :, None].swapaxes(0, 1)
        return Samples(
            a + step * P[0] + u * (before * A[0] + after * B[0]),
            step * P[1] / u + before * A[1] + after * B[1],
            (step * P[2] / u + before * A[2] + after * B[2]) / u,
        )

    def pull(self, points: Points, slopes: Samples) -> Points:
        """Return the gradient with respect to points, of what has these slopes on the samples.

        Args:
            points: where the samples were taken.
            slopes: derivatives with respect to the samples.

        Returns:
            Derivatives with respect to positions, velocities and durations.
        """
        u = points.durations[:, None]
        sums = np.array(
            [
                [np.einsum("ikj,k->ij", slope, curve) for curve in curves]
                for slope, curves in zip(
                    (slopes.position, slopes.velocity, slopes.acceleration),
                    self._shape,
                    strict=True,
                )
            ]
        )  # (order, curve, intervals, joints)
        onto_step = sums[0, 0] + sums[1, 0] / u + sums[2, 0] / u**2
        onto_before = u * sums[0, 1] + sums[1, 1] + sums[2, 1] / u
        onto_after = u * sums[0, 2] + sums[1, 2] + sums[2, 2] / u
        positions = np.zeros_like(points.positions)
        positions[:-1] += slopes.position.sum(axis=1) - onto_step
        positions[1:] += onto_step
        velocities = np.zeros_like(points.velocities)
        velocities[:-1] += onto_before
        velocities[1:] += onto_after
        step = np.diff(points.positions, axis=0)
        before, after = points.velocities[:-1], points.velocities[1:]
        durations = (
            before * (sums[0, 1] - sums[2, 1] / u**2)
            + after * (sums[0, 2] - sums[2, 2] / u**2)
            - step * (sums[1, 0] / u**2 + 2.0 * sums[2, 0] / u**3)
        ).sum(axis=1)
        return Points(positions, velocities, durations)
