"""From samples at irregular instants to samples at a constant period."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from robot_identification.robot.model import Array

# Below this part of a period between two stamps, a cubic spline would turn noise into overshoot.
_CLOSEST_FOR_SPLINE = 0.3


def to_constant_period(
    time: Array, signals: Sequence[Array | None], period: float
) -> tuple[Array, list[Array | None]]:
    """Interpolate signals at a constant period.

    Args:
        time: (samples,) strictly increasing instants in s.
        signals: (samples, joints) signals; None stays None.
        period: sampling period in s.

    Returns:
        (new samples,) instants from the first one on, and the signals there.
    """
    count = int(np.floor((time[-1] - time[0]) / period * (1.0 + 1e-9))) + 1
    grid = np.minimum(time[0] + period * np.arange(count), time[-1])
    resampled: list[Array | None] = [
        None if values is None else interpolate(time / period, values, grid / period)
        for values in signals
    ]
    return grid, resampled


def interpolate(time: Array, values: Array, instants: Array) -> Array:
    """Return values at other instants.

    The interpolation is a cubic spline; where two stamps nearly coincide, it is a monotone cubic
    one, which cannot overshoot.

    Args:
        time: (samples,) strictly increasing instants, in sampling periods.
        values: (samples, signals).
        instants: (new samples,) likewise, inside those of the samples.
    """
    close = float(np.diff(time).min()) < _CLOSEST_FOR_SPLINE
    module = scipy.interpolate
    interpolation = module.PchipInterpolator if close else module.CubicSpline
    result: Array = interpolation(time, values, axis=0)(instants)
    return result
