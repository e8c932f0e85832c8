"""Smooth penalty of clearances that a motion does not keep, with its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

import numpy as np
import numpy.typing as npt

from robot_identification.collision.kernels import intrusion as kernels
from robot_identification.collision.model import CollisionModel
from robot_identification.excitation.motions.braking import stopping_factors
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.objective.motion_map import Motion, MotionMap, Penalty
from robot_identification.robot.arrays import Array


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


_SCALE = 0.1  # m
_OF_SPARE = 0.25
"""Share of the largest distance of a pair beyond the clearance that is kept as room at most."""


class Intrusion:
    """Squares of what capsules around bodies lack to their margins, in single postures.

    Args:
        collisions: what the robot must not touch.
        limits: of position, velocity and acceleration.
        off: (joints,) by how much the robot may be off its reference, in rad or m.
        room: distance in m to be kept beyond the clearance, for what lies between postures; less
            of pairs that are near in every posture, as neighbouring links of a wrist.
    """

    def __init__(
        self, collisions: CollisionModel, limits: MotionLimits, off: Array, room: float
    ) -> None:
        self._arrays = collisions.check.arrays
        sampled = collisions.sampled(off)
        spare = np.maximum(sampled.largest - collisions.clearance, 0.0)
        own = np.minimum(room, _OF_SPARE * spare)
        self._margin = collisions.clearance + own - sampled.looseness
        self._off = np.ascontiguousarray(off, dtype=np.float64)
        self._beyond = self._margin + self._arrays.widest(self._off)
        self.limits = limits

    def free(self, postures: Array) -> npt.NDArray[np.bool_]:
        """Tell which postures (postures, joints) lack nothing."""
        lacking = [self.at(np.ascontiguousarray(posture[None]))[0] for posture in postures]
        found: npt.NDArray[np.bool_] = np.array(lacking) == 0.0
        return found

    def at(self, postures: Array) -> tuple[float, Array]:
        """Return what postures (postures, joints) lack together, and its gradient over them."""
        arrays, slopes = self._arrays, np.empty_like(postures)
        lack = kernels.intrusion(
            postures, self._off, self._margin, self._beyond, _SCALE,
            arrays.robot, arrays.bodies, arrays.pairs, slopes,
        )  # fmt: skip
        return float(lack), slopes


class ClearancePenalty(Generic[Motion]):
    """Clearance that samples of a motion lack, and the postures where braking would end.

    Args:
        intrusion: what single postures lack.
        curve: map from a motion to the samples that count.
    """

    def __init__(self, intrusion: Intrusion, curve: MotionMap[Motion]) -> None:
        self._intrusion, self._curve = intrusion, curve
        factors = stopping_factors(intrusion.limits)
        self._per_square, self._per_speed = (x[:, None] for x in factors)

    def __call__(self, motion: Motion, weight: float = 1.0) -> tuple[float, Motion]:
        """Return the sum of the squares times a weight, and its gradient over the motion."""
        samples = self._curve.rows(motion)
        speed = np.abs(samples[1])
        ends = samples[0] + (self._per_square * speed + self._per_speed) * samples[1]
        postures = np.ascontiguousarray(np.hstack([samples[0], ends]).T)
        value, slopes = self._intrusion.at(postures)
        own, at_rest = np.split(slopes.T, 2, axis=1)
        onto = np.zeros_like(samples)
        onto[0] = own + at_rest
        onto[1] = at_rest * (2.0 * self._per_square * speed + self._per_speed)
        return weight * value, self._curve.pull_rows(motion, onto).times(weight)
