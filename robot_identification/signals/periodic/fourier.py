"""Fourier series of positions, with exact derivatives (Swevers et al. 1997)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from robot_identification.robot.arrays import Array, by_value, read_only

# Samples of which the basis exists at a time.
_BLOCK = 8192


@by_value
@dataclass(frozen=True)
class FourierSeries:
    """Positions q(t) = c_0 + sum of c_{2h-1} cos(2 pi h t / T) + c_{2h} sin(2 pi h t / T).

    Attributes:
        period: T in s.
        harmonics: (joints,) highest harmonic of every joint.
        coefficients: (joints, 2 max(harmonics) + 1) in rad or m; those beyond the highest harmonic
            of a joint are zero.
        spread: (joints, 2 max(harmonics) + 1) standard deviations of the coefficients for noise of
            the positions of 1 rad or m.
    """

    period: float
    harmonics: tuple[int, ...]
    coefficients: Array
    spread: Array

    def basis(self, time: Array) -> tuple[Array, Array, Array]:
        """Return what the coefficients multiply; see :func:`derivative_basis`."""
        return derivative_basis(time, self.period, self.coefficients.shape[1] // 2)

    def sample(self, time: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations, (joints, samples) each.

        Args:
            time: (samples,) in s.
        """
        position, velocity, acceleration = (self.coefficients @ part.T for part in self.basis(time))
        return position, velocity, acceleration


def derivative_basis(time: Array, period: float, harmonics: int) -> tuple[Array, Array, Array]:
    """Return the functions of a Fourier series and their first and second derivatives.

    Args:
        time: (samples,) in s.
        period: in s.
        harmonics: the highest one.

    Returns:
        Three arrays (samples, 2 harmonics + 1): constant, then cosine and sine of every harmonic.
    """
    rate = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
    angle = np.multiply.outer(time, rate)
    cosine, sine = np.cos(angle), np.sin(angle)
    shape = (len(time), 2 * harmonics + 1)
    parts = tuple(np.zeros(shape) for _ in range(3))
    parts[0][:, 0] = 1.0
    for part, even, odd in (
        (parts[0], cosine, sine),
        (parts[1], -rate * sine, rate * cosine),
        (parts[2], -(rate**2) * cosine, -(rate**2) * sine),
    ):
        part[:, 1::2], part[:, 2::2] = even, odd
    return parts[0], parts[1], parts[2]


def fit_series(
    time: Array,
    position: Array,
    period: float,
    harmonics: tuple[int, ...],
    *,
    repeated: float = 1.0,
) -> FourierSeries:
    """Return the series nearest to positions, by least squares on their stamps.

    Args:
        time: (samples,) in s.
        position: (samples, joints) in rad or m.
        period: of the series, in s.
        harmonics: (joints,) highest harmonic of every joint.
        repeated: number of samples that each position is the mean of; less than one where some were
            made of their neighbours.
    """
    highest = max(harmonics)
    size = 2 * highest + 1
    triangle: Array = np.zeros((0, size + position.shape[1]))
    for first in range(0, len(time), _BLOCK):
        part = slice(first, first + _BLOCK)
        rows = np.hstack([derivative_basis(time[part], period, highest)[0], position[part]])
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, rows]), mode="r"))
    coefficients, spread = np.zeros((2, position.shape[1], size))
    for joint, own in enumerate(harmonics):
        used = slice(2 * own + 1)
        root = triangle[used, used]
        coefficients[joint, used] = scipy.linalg.solve_triangular(
            root, triangle[used, size + joint]
        )
        inverse = scipy.linalg.solve_triangular(root, np.eye(len(root)))
        spread[joint, used] = np.linalg.norm(inverse, axis=1) / np.sqrt(repeated)
    return FourierSeries(period, harmonics, read_only(coefficients), read_only(spread))
