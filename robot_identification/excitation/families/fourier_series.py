"""Fourier series as motions of joints, with their run-in and run-out, and their derivatives.

With the posture p at rest, the time t since the first whole period begins, and w = 2 pi f, a joint
moves as

    q = p + E(t) (c + sum over k of a_k cos(k w t) + b_k sin(k w t)),    k = 1 ... harmonics

(Swevers et al. 1997).  E is 1 over the whole periods and a little longer.  At both ends it goes to
0 as 10 s^3 - 15 s^4 + 6 s^5, of which two derivatives vanish at 0 and at 1, so that the motion
begins and ends at rest.  Everything is linear in the coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.robot.arrays import Array, by_value

ORDERS = 4
"""Position, velocity, acceleration and jerk."""

_STEP = np.polynomial.Polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0])


@by_value
@dataclass(frozen=True)
class Series:
    """Coefficients of a motion, of the way from the posture at which it starts and ends.

    Attributes:
        coefficients: (1 + 2 harmonics, joints) c, then a_1, b_1, a_2, b_2 and so on, in rad or m.
    """

    coefficients: Array

    def plus(self, other: Series) -> Series:
        """Return the sums of these coefficients and others."""
        return Series(self.coefficients + other.coefficients)

    def times(self, factor: float) -> Series:
        """Return these coefficients times a factor."""
        return Series(factor * self.coefficients)

    def drawn_in(self, share: float) -> Series:
        """Return the motion drawn in towards its start: every way from there times a share."""
        return self.times(share)


def basis(settings: FourierSettings, times: Array) -> Array:
    """Return (4, 1 + 2 harmonics, samples) what every coefficient contributes to the motion.

    Args:
        settings: periods, run-in and run-out.
        times: (samples,) since the trajectory starts, in s.

    Returns:
        Position and its first three derivatives over time.
    """
    w = 2.0 * np.pi * settings.base_frequency * np.arange(1, settings.harmonics + 1)
    angle = w[:, None] * (times - settings.begins)
    series = np.zeros((ORDERS, 1 + 2 * settings.harmonics, len(times)))
    series[0, 0] = 1.0
    for order in range(ORDERS):
        turned = angle + order * np.pi / 2.0  # one derivative more, a quarter of a turn more
        series[order, 1::2] = w[:, None] ** order * np.cos(turned)
        series[order, 2::2] = w[:, None] ** order * np.sin(turned)
    e = _envelope(settings, times)
    return np.array(
        [
            e[0] * series[0],
            e[1] * series[0] + e[0] * series[1],
            e[2] * series[0] + 2.0 * e[1] * series[1] + e[0] * series[2],
            e[3] * series[0] + 3.0 * e[2] * series[1] + 3.0 * e[1] * series[2] + e[0] * series[3],
        ]
    )


def _envelope(settings: FourierSettings, times: Array) -> Array:
    """Return (4, samples) E and its first three derivatives over time."""
    left = settings.duration - times
    back = np.where(left < times, -1.0, 1.0)  # time runs backwards in the run-out
    s = np.clip(np.minimum(times, left) / settings.blend, 0.0, 1.0)
    inside = s < 1.0
    values = [_STEP(s)]
    for order in range(1, ORDERS):
        slope = _STEP.deriv(order)(s) * (back / settings.blend) ** order
        values.append(np.where(inside, slope, 0.0))
    return np.array(values)


class SeriesMap:
    """The map from series to samples, and the transpose of its derivative.

    Args:
        settings: periods, run-in and run-out.
        posture: (joints,) where motions start and end.
        times: (samples,) since the trajectory starts, in s.
        span: time that every sample stands for, in s.
    """

    def __init__(
        self, settings: FourierSettings, posture: Array, times: Array, span: float = 0.0
    ) -> None:
        self._basis = basis(settings, times)[:3]
        self._back = np.ascontiguousarray(self._basis.swapaxes(1, 2))
        self._posture = posture[:, None]
        self._spans = np.full(len(times), span)

    def rows(self, motion: Series) -> Array:
        """Return (3, joints, samples) position, velocity and acceleration."""
        samples: Array = motion.coefficients.T @ self._basis
        samples[0] += self._posture
        return samples

    def spans(self, _motion: Series) -> Array:
        """Return (samples,) the time that every sample stands for, in s."""
        return self._spans

    def pull_rows(self, _motion: Series, slopes: Array, _stretches: Array | None = None) -> Series:
        """Return the gradient over the coefficients of what has slopes on :meth:`rows`.

        Args:
            slopes: (3, joints, samples) derivatives over the samples.
        """
        onto = (slopes @ self._back).sum(axis=0)
        return Series(np.ascontiguousarray(onto.T))
