"""Motions through points from rest to rest as vectors of unknowns, with their durations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.objective.curve import Points
from robot_identification.robot.model import Array

_DURATION_RANGE = 3.0  # durations change by a factor of up to e^3 from where they start


@dataclass(frozen=True)
class PointUnknowns:
    """Positions and velocities between the ends over their limits, and logarithms of durations.

    Attributes:
        limits: of positions and velocities.
        first: where a search starts from; its first and last point stay.
    """

    limits: MotionLimits
    first: Points

    def bounds(self) -> list[tuple[float, float]]:
        """Return the least and the largest value of every unknown."""
        count, joints = self.first.positions.shape
        inner = [(-1.0, 1.0)] * (2 * joints * (count - 2))
        middle = np.log(self.first.durations)
        return inner + [(float(m) - _DURATION_RANGE, float(m) + _DURATION_RANGE) for m in middle]

    def vector(self, points: Points, /) -> Array:
        """Return (unknowns,) the unknowns of points."""
        scaled = (
            (points.positions[1:-1] - self.limits.middle) / self.limits.half_range,
            points.velocities[1:-1] / self.limits.velocity,
        )
        inner = np.clip(np.hstack(scaled), -1.0, 1.0)
        return np.concatenate([inner.ravel(), np.log(points.durations)])

    def motion(self, x: Array, /) -> Points:
        """Return the points of unknowns."""
        count, joints = self.first.positions.shape
        inner = x[: x.size - self.first.intervals].reshape(count - 2, 2 * joints) * self._widths
        positions, velocities = self.first.positions.copy(), self.first.velocities.copy()
        positions[1:-1] = self._middle + inner[:, :joints]
        velocities[1:-1] = inner[:, joints:]
        return Points(positions, velocities, np.exp(x[x.size - self.first.intervals :]))

    def gradient(self, points: Points, slope: Points, /) -> Array:
        """Return (unknowns,) derivatives over the unknowns, from those over the points."""
        inner = np.hstack([slope.positions[1:-1], slope.velocities[1:-1]]) * self._widths
        return np.concatenate([inner.ravel(), slope.durations * points.durations])

    @cached_property
    def _middle(self) -> Array:
        return self.limits.middle

    @cached_property
    def _widths(self) -> Array:
        """(2 joints,) what positions and velocities are scaled by."""
        return np.concatenate([self.limits.half_range, self.limits.velocity])


@dataclass(frozen=True)
class DurationPenalty:
    """The square of what the duration of a motion differs from the one aimed at, as a share of it.

    Attributes:
        duration: what is aimed at, in s.
    """

    duration: float

    def __call__(self, points: Points, weight: float = 1.0) -> tuple[float, Points]:
        """Return the square times a weight, and its gradient over the points."""
        late = float(points.durations.sum()) / self.duration - 1.0
        slope = np.full_like(points.durations, 2.0 * weight * late / self.duration)
        still = np.zeros_like(points.positions)
        return weight * late**2, Points(still, still, slope)
