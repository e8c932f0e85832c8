"""Compiled motion to rest of one joint, over parts y of its time, as affine forms.

The speed falls as 1 - 3 y^2 + 2 y^3, its deceleration is 6 (y - y^2) and the way y - y^3 + y^4 / 2,
in units of the first speed, of that over the time, and of that times the time
(:mod:`robot_identification.excitation.motions.braking`).
"""

from __future__ import annotations

import math

from robot_identification.compiled import compiled
from robot_identification.dynamics.kernels.ranges.affine import PART, along, between, radius, scaled


@compiled(**PART)
def within(x, low, high):
    """Return a form that is somewhere in an interval, or the interval where that says more."""
    return between(low, high) if 0.5 * (high - low) < radius(x) else x


@compiled(**PART)
def reciprocal(x, low):
    """Return one over a positive form that is never below ``low``."""
    c, reach = x[0], radius(x)
    left = 0.5 * reach * reach / (low * c * c)
    y = along(x, 1.0 / c, -1.0 / (c * c), 0.0)
    return y[0] + left, y[1], y[2], y[3], y[4], y[5] + left


@compiled(**PART)
def _bent(y, slope, low, high):
    """Return slope y + anything in an interval."""
    z = scaled(slope, y)
    return z[0] + 0.5 * (low + high), z[1], z[2], z[3], z[4], z[5] + 0.5 * (high - low)


@compiled(**PART)
def deceleration_of(y):
    """Return 4 (y - y^2), no less than 0."""
    y = min(y, 1.0)
    return 4.0 * y * (1.0 - y)


@compiled(**PART)
def speed_of(y):
    """Return 1 - 3 y^2 + 2 y^3; 0 behind 1."""
    y = min(y, 1.0)
    return 1.0 - y * y * (3.0 - 2.0 * y)


@compiled(**PART)
def way_of(y):
    """Return y - y^3 + y^4 / 2; 1 / 2 behind 1."""
    y = min(y, 1.0)
    return y * (1.0 - y * y * (1.0 - 0.5 * y))


@compiled(**PART)
def _decelerations(y, low, high):
    """Return the form of :func:`deceleration_of` of y between two places."""
    slope = (deceleration_of(high) - deceleration_of(low)) / (high - low) if high > low else 0.0
    ends = deceleration_of(low) - slope * low
    least = most = ends
    top = min(max(0.125 * (4.0 - slope), low), high, 1.0)
    if top > low:
        most = max(most, deceleration_of(top) - slope * top)
    if low < 1.0 < high:
        least = min(least, -slope)
    return _bent(y, slope, least, most)


@compiled(**PART)
def _speeds(y, low, high):
    """Return the form of :func:`speed_of` of y between two places."""
    slope = (speed_of(high) - speed_of(low)) / (high - low) if high > low else 0.0
    least = most = speed_of(low) - slope * low
    root = math.sqrt(max(1.0 + slope / 1.5, 0.0))
    for place in (0.5 - 0.5 * root, 0.5 + 0.5 * root, 1.0, high):
        if low < place <= high:
            value = speed_of(place) - slope * place
            least, most = min(least, value), max(most, value)
    return _bent(y, slope, least, most)


@compiled(**PART)
def _ways(y, low, high):
    """Return the form of :func:`way_of` of y between two places; it is concave."""
    at = min(0.5 * (low + high), 1.0)
    slope = speed_of(at)
    least = min(way_of(low) - slope * low, way_of(high) - slope * high)
    return _bent(y, slope, least, way_of(at) - slope * at)


@compiled(**PART)
def shape_of(y, low, high):
    """Return the forms of deceleration, speed and way at a part y of the time to rest."""
    one, other = deceleration_of(low), deceleration_of(high)
    least, most = min(one, other), 1.0 if low <= 0.5 <= high else max(one, other)
    deceleration = within(_decelerations(y, low, high), least, most)
    speed = within(_speeds(y, low, high), speed_of(high), speed_of(low))
    return deceleration, speed, within(_ways(y, low, high), way_of(low), way_of(high))
