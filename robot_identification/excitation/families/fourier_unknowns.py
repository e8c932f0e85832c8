"""Coefficients of Fourier series as vectors of unknowns, and the penalty of their jerk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_identification.excitation.families.fourier_series import Series, basis
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.robot.model import Array

_MOST = 1.5  # the first harmonic of a square wave is 4 / pi of its height
_MARGIN = 0.02


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
        beyond = np.maximum(np.abs(jerk) - (1.0 - _MARGIN), 0.0)
        onto = 2.0 * np.copysign(beyond, jerk) * self._inverse
        slope = Series(self._basis @ onto.T)
        return weight * float(np.vdot(beyond, beyond)), slope.times(weight)
