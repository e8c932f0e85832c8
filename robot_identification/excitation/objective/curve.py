"""Samples of the quintic motion through points, and their derivatives (eq. 24-28).

Between two points with positions a, b and velocities v, w and without acceleration, with the step
D = b - a and the duration u, the motion at the fraction s is

    q = a + D P(s) + u (v A(s) + w B(s)),
    P = 10 s^3 - 15 s^4 + 6 s^5,  A = s - 6 s^3 + 8 s^4 - 3 s^5,  B = -4 s^3 + 7 s^4 - 3 s^5

(Gautier and Khalil 1992, eq. 24-28, corrected): the product of the amounts (a, D, u v, u w) and the
shapes (1, P, A, B).  Every derivative with respect to time differentiates the shapes and divides
by u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import Array, by_value

_ORDERS = 3
_SHAPES = tuple(
    np.polynomial.Polynomial(powers)
    for powers in (
        [1.0],
        [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
        [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
        [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
    )
)


@by_value
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

    def plus(self, other: Points) -> Points:
        """Return the sums of these values and others: gradients add up."""
        return Points(
            self.positions + other.positions,
            self.velocities + other.velocities,
            self.durations + other.durations,
        )

    def times(self, factor: float) -> Points:
        """Return these values times a factor: the gradient of something weighted."""
        return Points(factor * self.positions, factor * self.velocities, factor * self.durations)

    def drawn_in(self, share: float) -> Points:
        """Return the points drawn in towards the first one, with as much less of the velocities."""
        begin = self.positions[0]
        near = begin + share * (self.positions - begin)
        return Points(near, share * self.velocities, self.durations)


@by_value
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
    """The map from points to samples, and the transpose of its derivative.

    Args:
        fractions: (fractions,) places in every interval, from 0 to 1.
    """

    def __init__(self, fractions: npt.ArrayLike) -> None:
        self.fractions = np.atleast_1d(np.asarray(fractions, dtype=np.float64))
        self._shapes = np.array(
            [[shape.deriv(order)(self.fractions) for shape in _SHAPES] for order in range(_ORDERS)]
        )  # (order, shape, fractions)
        self._back = np.ascontiguousarray(self._shapes.swapaxes(1, 2))

    def sample(self, points: Points) -> Samples:
        """Return the motion at the fractions."""
        motion = self.rows(points).reshape(_ORDERS, -1, points.intervals, len(self.fractions))
        return Samples(*motion.transpose(0, 2, 3, 1))

    @classmethod
    def midpoints(cls, samples: int) -> Curve:
        """Return the map to samples in the middle of equal parts of every interval."""
        return cls((np.arange(samples) + 0.5) / samples)

    def rows(self, points: Points) -> Array:
        """Return (3, joints, intervals x fractions) position, velocity and acceleration."""
        scaled = _amounts(points) * _rates(points)
        motion: Array = scaled.reshape(_ORDERS, -1, len(_SHAPES)) @ self._shapes
        return motion.reshape(_ORDERS, points.positions.shape[1], -1)

    def spans(self, points: Points) -> Array:
        """Return (intervals x fractions,) the time that every sample stands for, in s."""
        count = len(self.fractions)
        return np.repeat(points.durations / count, count)

    def pull(self, points: Points, slopes: Samples) -> Points:
        """Return the gradient with respect to points, of what has these slopes on the samples.

        Args:
            points: where the samples were taken.
            slopes: derivatives with respect to the samples.

        Returns:
            Derivatives with respect to positions, velocities and durations.
        """
        parts = (slopes.position, slopes.velocity, slopes.acceleration)
        return self.pull_rows(points, np.array([part.transpose(2, 0, 1) for part in parts]))

    def pull_rows(self, points: Points, slopes: Array, stretches: Array | None = None) -> Points:
        """Return the gradient with respect to points, of what has slopes on :meth:`rows`.

        Args:
            points: where the samples were taken.
            slopes: (3, joints, intervals x fractions) derivatives with respect to the samples.
            stretches: (intervals x fractions,) derivatives with respect to the logarithms of
                :meth:`spans`; None: all 0.
        """
        joints, intervals = points.positions.shape[1], points.intervals
        each = slopes.reshape(_ORDERS, joints * intervals, -1) @ self._back
        each = each.reshape(_ORDERS, joints, intervals, len(_SHAPES))
        each *= _rates(points)
        onto = each[0] + each[1] + each[2]  # the amounts
        positions, velocities = np.zeros((2, joints, intervals + 1))
        positions[:, :-1] += onto[:, :, 0] - onto[:, :, 1]
        positions[:, 1:] += onto[:, :, 1]
        velocities[:, :-1] += points.durations * onto[:, :, 2]
        velocities[:, 1:] += points.durations * onto[:, :, 3]
        before, after = points.velocities[:-1].T, points.velocities[1:].T
        slower = np.einsum("jis,jis->i", _amounts(points), each[1] + 2.0 * each[2])
        longer = (before * onto[:, :, 2] + after * onto[:, :, 3]).sum(axis=0)
        over_durations = longer - slower / points.durations
        if stretches is not None:
            over_durations += stretches.reshape(intervals, -1).sum(axis=1) / points.durations
        return Points(positions.T, velocities.T, over_durations)


def _amounts(points: Points) -> Array:
    """Return (joints, intervals, 4) the amounts of the shapes."""
    q, qd, u = points.positions.T, points.velocities.T, points.durations
    amounts = np.empty((len(q), len(u), len(_SHAPES)))
    amounts[:, :, 0] = q[:, :-1]
    amounts[:, :, 1] = q[:, 1:] - q[:, :-1]
    amounts[:, :, 2] = u * qd[:, :-1]
    amounts[:, :, 3] = u * qd[:, 1:]
    return amounts


def _rates(points: Points) -> Array:
    """Return (orders, 1, intervals, 1) powers of 1 / u, one for each derivative over time."""
    rates = np.ones((_ORDERS, 1, points.intervals, 1))
    rates[1, 0, :, 0] = 1.0 / points.durations
    rates[2] = rates[1] * rates[1]
    return rates
