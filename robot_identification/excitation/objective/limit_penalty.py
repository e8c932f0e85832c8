"""Smooth penalty of limits that a motion exceeds, with its exact gradient over the motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

import numpy as np

from robot_identification.excitation.motions.braking import stopping_factors
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.objective.motion_map import Motion, MotionMap, Penalty


@dataclass(frozen=True)
class PenaltySum(Generic[Motion]):
    """The sum of penalties.

    Attributes:
        parts: at least one.
    """

    parts: tuple[Penalty[Motion], ...]

    def __call__(self, motion: Motion, weight: float = 1.0) -> tuple[float, Motion]:
        """Return the sum times a weight, and its gradient over the motion."""
        found = [part(motion, 1.0) for part in self.parts]
        slope = found[0][1]
        for _, onto in found[1:]:
            slope = slope.plus(onto)
        return weight * sum(value for value, _ in found), slope.times(weight)


class LimitPenalty(Generic[Motion]):
    """Squares of what samples of a motion exceed, as shares of the limits.

    It counts the place where braking from a sample would end, its velocity and its acceleration,
    each beyond its limit less a margin.

    Args:
        limits: of position, velocity and acceleration.
        curve: map from a motion to the samples that count.
        margin: share of the limits that samples keep off them, for what lies between.
    """

    def __init__(
        self, limits: MotionLimits, curve: MotionMap[Motion], margin: float = 0.02
    ) -> None:
        self._curve, self._least = curve, 1.0 - margin
        widths = np.stack([limits.half_range, limits.velocity, limits.acceleration])
        self._inverse = 1.0 / widths[:, :, None]
        self._middle = limits.middle[:, None]
        self._per_square, self._per_speed = (x[:, None] for x in stopping_factors(limits))

    def __call__(self, motion: Motion, weight: float = 1.0) -> tuple[float, Motion]:
        """Return the sum of the squares times a weight, and its gradient over the motion."""
        samples = self._curve.rows(motion)
        velocity = samples[1]
        speed = np.abs(velocity)
        samples[0] += (self._per_square * speed + self._per_speed) * velocity - self._middle
        samples *= self._inverse  # of position: where braking ends
        beyond = np.maximum(np.abs(samples) - self._least, 0.0)
        onto = 2.0 * np.copysign(beyond, samples) * self._inverse
        onto[1] += onto[0] * (2.0 * self._per_square * speed + self._per_speed)
        slope = self._curve.pull_rows(motion, onto)
        return weight * float(np.vdot(beyond, beyond)), slope.times(weight)
