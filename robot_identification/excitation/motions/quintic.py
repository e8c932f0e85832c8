"""Quintic motion between points without acceleration (Gautier and Khalil 1992, eq. 28).

The extrema are found as roots of polynomials, and the shortest duration as the largest one at
which a limit is met: over the duration the largest acceleration is not monotone, so that the
smallest root need not be safe for joints that move together (equations Q3 to Q5).
"""

from __future__ import annotations

import math

import numpy as np

from robot_identification.dynamics.reference import DEGREE
from robot_identification.errors import TrajectoryError
from robot_identification.robot.arrays import Array

_GRID = np.linspace(0.0, 1.0, 201)
_ZOOMS = 3  # the last grid has steps of 5e-7, and a minimum is flat
_ROUNDING = 1e-12
# From rest to rest, of a step of 1 in a time of 1: in the middle, and at (3 -+ sqrt 3) / 6.
_PEAK_VELOCITY, _PEAK_ACCELERATION = 15.0 / 8.0, 10.0 / math.sqrt(3.0)


def coefficients(start: float, end: float, before: float, after: float, duration: float) -> Array:
    """Return the six coefficients by rising powers of time (Gautier and Khalil 1992, eq. 28).

    Args:
        start: position at the start, in rad or m.
        end: position at the end.
        before: velocity at the start, in rad/s or m/s.
        after: velocity at the end.
        duration: in s.
    """
    step, u = end - start, duration
    return np.array(
        [
            start,
            before,
            0.0,
            10.0 * step / u**3 - (6.0 * before + 4.0 * after) / u**2,
            -15.0 * step / u**4 + (8.0 * before + 7.0 * after) / u**3,
            6.0 * step / u**5 - 3.0 * (before + after) / u**4,
        ]
    )


def extrema(polynomial: Array, duration: float, order: int = 0) -> tuple[float, float]:
    """Return the smallest and the largest value of a derivative of a polynomial.

    Args:
        polynomial: (6,) coefficients by rising powers of time.
        duration: the polynomial is taken from 0 to this time, in s.
        order: 0 position, 1 velocity, 2 acceleration.
    """
    scaled = polynomial * duration ** np.arange(DEGREE + 1)  # over time as a fraction: 0 to 1
    curve = np.polynomial.Polynomial(scaled).deriv(order)
    slope = curve.deriv().trim(_ROUNDING * max(1e-300, float(np.abs(scaled).max())))
    roots = slope.roots() if slope.degree() > 0 else np.array([])
    inside = [float(root.real) for root in roots if abs(root.imag) < 1e-6 and 0 < root.real < 1]
    values = curve(np.array([0.0, 1.0, *inside])) / duration**order
    return float(values.min()), float(values.max())


def shortest_duration(
    step: float,
    before: float,
    after: float,
    velocity_limit: float,
    acceleration_limit: float,
) -> float:
    """Return the duration from which on one joint keeps its limits, in s.

    At the fraction s of the way the acceleration is a quadratic function, and the velocity a
    linear one, of the inverse x of the duration; the smallest x at which one of them meets its
    limit, over all s, gives the duration.

    Args:
        step: distance to go, in rad or m, with its sign.
        before: velocity at the start, in rad/s or m/s.
        after: velocity at the end.
        velocity_limit: positive.
        acceleration_limit: positive.

    Raises:
        TrajectoryError: if a velocity at the ends is above the limit.
    """
    if max(abs(before), abs(after)) > velocity_limit:
        raise TrajectoryError(
            f"no duration keeps the velocity limit {velocity_limit:g}: the ends have "
            f"{before:g} and {after:g}"
        )
    if before == after == 0.0:
        distance = abs(step)
        return (1.0 + _ROUNDING) * max(
            _PEAK_VELOCITY * distance / velocity_limit,
            math.sqrt(_PEAK_ACCELERATION * distance / acceleration_limit),
        )

    def inverse(s: Array) -> Array:
        return np.minimum(
            _velocity_inverse(s, step, before, after, velocity_limit),
            _acceleration_inverse(s, step, before, after, acceleration_limit),
        )

    low, high, smallest = 0.0, 1.0, math.inf
    for _ in range(_ZOOMS):
        fractions = low + (high - low) * _GRID
        on_grid = inverse(fractions)
        place = int(np.argmin(on_grid))
        smallest = min(smallest, float(on_grid[place]))
        low, high = fractions[max(place - 1, 0)], fractions[min(place + 1, len(_GRID) - 1)]
    if not math.isfinite(smallest):
        return 0.0  # no way to go
    return (1.0 + _ROUNDING) / smallest


def _velocity_inverse(s: Array, step: float, before: float, after: float, limit: float) -> Array:
    """Return, at each fraction of the way, the inverse duration that meets the limit."""
    slope = step * 30.0 * s**2 * (1.0 - s) ** 2
    rest = before * (1.0 - 18.0 * s**2 + 32.0 * s**3 - 15.0 * s**4) + after * (
        -12.0 * s**2 + 28.0 * s**3 - 15.0 * s**4
    )
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverse = (limit - np.sign(slope) * rest) / np.abs(slope)
    return np.where(slope == 0.0, np.inf, inverse)


def _acceleration_inverse(
    s: Array, step: float, before: float, after: float, limit: float
) -> Array:
    """Return, at each fraction of the way, the inverse duration that first meets the limit."""
    square = step * (60.0 * s - 180.0 * s**2 + 120.0 * s**3)
    linear = before * (-36.0 * s + 96.0 * s**2 - 60.0 * s**3) + after * (
        -24.0 * s + 84.0 * s**2 - 60.0 * s**3
    )
    result = np.full(s.shape, np.inf)
    for sign in (1.0, -1.0):
        a, b = sign * square, sign * linear  # a x^2 + b x = limit, first positive root
        discriminant = b**2 + 4.0 * a * limit
        radical = np.sqrt(np.maximum(discriminant, 0.0))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            root = np.where(
                (b < 0.0) & (a > 0.0), (radical - b) / (2.0 * a), 2.0 * limit / (b + radical)
            )
        reached = (discriminant >= 0.0) & (root > 0.0)
        result = np.where(reached, np.minimum(result, root), result)
    return result
