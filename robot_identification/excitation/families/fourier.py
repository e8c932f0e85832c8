"""Fourier series over whole periods as a family of the search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.families.family import Start, already
from robot_identification.excitation.families.fourier_series import Series, SeriesMap, basis
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import motion_extrema, stops_outside
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.effort_rows import DynamicObservation
from robot_identification.excitation.objective.motion_map import Penalty
from robot_identification.excitation.objective.penalties import (
    ClearancePenalty,
    Intrusion,
    LimitPenalty,
    PenaltySum,
)
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.robot.arrays import Array

_MOST = 1.5  # the first harmonic of a square wave is 4 / pi of its height
_JERK_MARGIN = 0.02


@dataclass(frozen=True, eq=False)
class SeriesUnknowns:
    """Coefficients over what a single harmonic may have inside the limits.

    Attributes:
        settings: base frequency and harmonics.
        limits: of the motion.
        posture: (joints,) where it starts and ends.
    """

    settings: FourierSettings
    limits: MotionLimits
    posture: Array

    @cached_property
    def widths(self) -> Array:
        """(1 + 2 harmonics, joints) largest coefficients that keep every limit on their own."""
        w = 2.0 * np.pi * self.settings.base_frequency * np.arange(1, self.settings.harmonics + 1)
        rate = np.repeat(w, 2)[:, None]
        limits = self.limits
        bounds = (limits.velocity / rate, limits.acceleration / rate**2, limits.jerk / rate**3)
        oscillating = np.minimum(np.minimum.reduce(bounds), limits.half_range)
        return np.vstack([limits.half_range, oscillating])

    @property
    def _middle(self) -> Array:
        return self.limits.middle - self.posture

    def bounds(self) -> list[tuple[float, float]]:
        """Return the least and the largest value of every unknown."""
        oscillating = self.widths.size - len(self.posture)
        return [(-1.0, 1.0)] * len(self.posture) + [(-_MOST, _MOST)] * oscillating

    def vector(self, motion: Series, /) -> Array:
        """Return (unknowns,) the unknowns of a motion."""
        scaled = motion.coefficients.copy()
        scaled[0] -= self._middle
        scaled /= self.widths
        return np.concatenate(
            [np.clip(scaled[0], -1.0, 1.0), np.clip(scaled[1:].ravel(), -_MOST, _MOST)]
        )

    def motion(self, x: Array, /) -> Series:
        """Return the motion of unknowns."""
        coefficients = x.reshape(self.widths.shape) * self.widths
        coefficients[0] += self._middle
        return Series(coefficients)

    def gradient(self, _motion: Series, slope: Series, /) -> Array:
        """Return (unknowns,) derivatives over the unknowns, from those over the coefficients."""
        onto: Array = slope.coefficients * self.widths
        return onto.ravel()


class JerkPenalty:
    """Squares of what the jerk of samples exceeds, as shares of its limits less 2 %.

    Args:
        settings: periods, run-in and run-out.
        jerk: (joints,) limits.
        times: (samples,) since the trajectory starts, in s.
    """

    def __init__(self, settings: FourierSettings, jerk: Array, times: Array) -> None:
        self._basis = basis(settings, times)[3]
        self._inverse = 1.0 / jerk[:, None]

    def __call__(self, motion: Series, weight: float = 1.0) -> tuple[float, Series]:
        """Return the sum of the squares times a weight, and its gradient over the motion."""
        jerk = (motion.coefficients.T @ self._basis) * self._inverse
        beyond = np.maximum(np.abs(jerk) - (1.0 - _JERK_MARGIN), 0.0)
        onto = 2.0 * np.copysign(beyond, jerk) * self._inverse
        slope = Series(self._basis @ onto.T)
        return weight * float(np.vdot(beyond, beyond)), slope.times(weight)


_SAMPLES = 10  # per cycle of the highest harmonic, of the system
_LIMIT_SAMPLES = 16
_MARGIN = 0.005
_CLEARANCE_SAMPLES = 5
_RANDOM_SHARE = 0.5  # of the limits, in random starts
_DRAWN = 20  # random motions, of which the one that is nearest to free is a start
_DISTURBANCE = 0.1  # share of the limits of velocity
_ROUNDING = 1e-9
_SMALLER = 0.98
_ATTEMPTS = 200


@dataclass(frozen=True, eq=False)
class FourierFamily:
    """Whole periods of band-limited series, from rest to rest.

    Only the whole periods count for the system, limits and clearance everywhere.

    Attributes:
        settings: periods, run-in and run-out.
        limits: what to keep.
        posture: (joints,) where motions start and end.
        names: of the joints.
        intrusion: what postures lack to their clearance; None: nothing is to be kept clear of.
    """

    settings: FourierSettings
    limits: MotionLimits
    posture: Array
    names: tuple[str, ...]
    intrusion: Intrusion | None = None

    @property
    def aim_penalty(self) -> None:
        """None: base frequency and periods say how long a motion takes."""

    @cached_property
    def _space(self) -> SeriesUnknowns:
        return SeriesUnknowns(self.settings, self.limits, self.posture)

    @cached_property
    def _basis(self) -> Array:
        """(4, 1 + 2 harmonics, points) what coefficients contribute to the trajectory."""
        return basis(self.settings, self.settings.times)

    def observation(
        self, base: BaseParameters, smoothing: float = 0.0
    ) -> DynamicObservation[Series]:
        """Return the system that the whole periods give; it serves one thread."""
        times = self.settings.samples(_SAMPLES)
        span = self.settings.periods * self.settings.period / len(times)
        curve = SeriesMap(self.settings, self.posture, times, span)
        return DynamicObservation(base, curve, smoothing)

    def _map(self, per_cycle: int) -> SeriesMap:
        times = self.settings.samples_with_runs(per_cycle)
        return SeriesMap(self.settings, self.posture, times)

    @cached_property
    def limit_penalty(self) -> Penalty[Series]:
        """Excess of a motion over its limits."""
        kept = LimitPenalty(self.limits, self._map(_LIMIT_SAMPLES), _MARGIN)
        if np.isinf(self.limits.jerk).all():
            return kept
        times = self.settings.samples_with_runs(_LIMIT_SAMPLES)
        return PenaltySum((kept, JerkPenalty(self.settings, self.limits.jerk, times)))

    @cached_property
    def clearance_penalty(self) -> Penalty[Series] | None:
        """Clearance that a motion lacks; None: it need not keep clear of anything."""
        if self.intrusion is None:
            return None
        return ClearancePenalty(self.intrusion, self._map(_CLEARANCE_SAMPLES))

    def unknowns(self, _first: Series, /) -> SeriesUnknowns:
        """Return motions as vectors of unknowns."""
        return self._space

    def starts(self, settings: PlanSettings, count: int, /) -> list[Start[Series]]:
        """Return random starts."""
        seeds = np.random.SeedSequence(settings.points.seed).spawn(count)
        return [
            Start(
                f"gradient, start {i + 1}",
                "gradient",
                already(self._freest(np.random.default_rng(seed))),
            )
            for i, seed in enumerate(seeds)
        ]

    def _freest(self, rng: np.random.Generator) -> Series:
        """Return that of several random motions which lacks the least to its clearance."""
        penalty = self.clearance_penalty
        if penalty is None:
            return self._random(rng)
        drawn = [self._random(rng) for _ in range(_DRAWN)]
        return min(drawn, key=lambda one: penalty(one, 1.0)[0])

    def _random(self, rng: np.random.Generator) -> Series:
        """Return random coefficients with half of the velocities and accelerations allowed.

        The middle of every joint's motion is between the posture and a random place.
        """
        widths = self._space.widths
        drawn = widths * self._fading * rng.normal(size=widths.shape)
        drawn[0] = 0.0
        rates = np.abs(drawn.T @ self._basis[1:3]).max(axis=2)
        shares = np.max(rates / np.array([self.limits.velocity, self.limits.acceleration]), axis=0)
        swing = np.abs(drawn.T @ self._basis[0]).max(axis=1) / self.limits.half_range
        drawn *= _RANDOM_SHARE / np.maximum(shares, swing)
        away = rng.uniform(-0.5, 0.5, len(self.posture)) * self.limits.half_range
        drawn[0] = 0.5 * (self.limits.middle - self.posture + away)
        return Series(drawn)

    @property
    def _fading(self) -> Array:
        """(1 + 2 harmonics, 1) weights that fall with the number of a harmonic."""
        falling = np.repeat(1.0 / np.arange(1, self.settings.harmonics + 1), 2)
        return np.concatenate([[1.0], falling])[:, None]

    def disturbed(self, motion: Series, rng: np.random.Generator, /) -> Series:
        """Return a motion whose velocities are off by about a tenth of the limits."""
        moved = _DISTURBANCE * self._space.widths * rng.normal(size=motion.coefficients.shape)
        moved[0] *= 0.5
        moved[1:] *= (self._fading / np.linalg.norm(self._fading[1::2]))[1:]
        return Series(motion.coefficients + moved)

    def fitted(self, motion: Series, /) -> tuple[Series, bool]:
        """Return a motion that keeps all limits, and whether it had to be made smaller.

        A motion drawn in towards its start has velocities, accelerations and jerks that are
        smaller by the same share, and stays between the start and where it was, braking included.

        Raises:
            NotCertifiedError: no share of the motion keeps the limits.
        """
        trajectory = self.trajectory(motion)
        extrema = motion_extrema(trajectory.coefficients, np.diff(trajectory.times))[1:]
        bounds = np.array([self.limits.velocity, self.limits.acceleration, self.limits.jerk])
        worst = float((np.abs(extrema).max(axis=(1, 2)) / bounds).max())
        share = min(1.0, (1.0 - _ROUNDING) / worst) if worst > 0.0 else 1.0
        for _ in range(_ATTEMPTS):
            near = motion.drawn_in(share)
            outside = stops_outside(self.trajectory(near), self.limits)
            if not outside.any():
                return near, share < 1.0
            share *= _SMALLER
        joint = int(np.flatnonzero(outside.any(axis=0))[0])
        raise NotCertifiedError(
            "position", f"{self.names[joint]} has no room to brake where the motion begins"
        )

    def trajectory(self, motion: Series, /) -> Trajectory:
        """Return the motion through points so close that quintics between them follow it."""
        q, qd, qdd = motion.coefficients.T @ self._basis[:3]
        return Trajectory(
            self.names, self.settings.times, (q + self.posture[:, None]).T, qd.T, qdd.T
        )
