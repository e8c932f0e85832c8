"""Fewer points for long lines, without losing a peak."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from robot_identification.robot.model import Array
from robot_identification.signals.clock import Clock


def thinned(time: npt.ArrayLike, values: npt.ArrayLike, buckets: int) -> tuple[Array, Array]:
    """Return the smallest and the largest value of each bucket, in their order.

    Args:
        time: (points,) rising.
        values: (points,) may hold NaN, where the line is broken.
        buckets: number of buckets; a line of up to twice as many points stays as it is.

    Returns:
        (shorter,) times and values.
    """
    t, v = np.asarray(time, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(t) <= 2 * buckets:
        return t, v
    chosen = []
    edges = np.linspace(0, len(t), buckets + 1).astype(np.intp)
    for begin, end in itertools.pairwise(edges):
        part = v[begin:end]
        sound = np.flatnonzero(np.isfinite(part))
        if not len(sound):
            chosen.append(begin)
            continue
        low, high = sound[np.argmin(part[sound])], sound[np.argmax(part[sound])]
        chosen.extend(sorted({begin + int(low), begin + int(high)}))
    return t[chosen], v[chosen]


def broken_at_gaps(
    time: npt.ArrayLike, values: npt.ArrayLike, period: float
) -> tuple[Array, Array]:
    """Return a line with NaN wherever more than one row and a half is missing.

    Args:
        time: (points,) rising, in s.
        values: (points,) at these times.
        period: of rows without a gap, in s.
    """
    t, v = np.asarray(time, dtype=np.float64), np.asarray(values, dtype=np.float64)
    gaps = np.flatnonzero(Clock(period).is_gap(np.abs(np.diff(t)))) + 1
    return np.insert(t, gaps, t[gaps - 1]), np.insert(v, gaps, np.nan)
