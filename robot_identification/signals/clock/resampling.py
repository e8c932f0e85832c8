"""Signals at instants where nothing was measured: on the grid of a constant period, and in gaps.

Positions are smooth: a cubic spline through the samples gives them between these and across short
gaps.  Efforts are not.  Where samples are missing no effort is made up for an equation: a straight
line stands there for figures, and ``measured`` tells which samples do not count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.robot.arrays import Array
from robot_identification.signals.clock.stamps import Places

Flags = npt.NDArray[np.bool_]

# Below this part of a period between two stamps, a cubic spline would turn noise into overshoot.
_CLOSEST_FOR_SPLINE = 0.3
# An instant on the grid that is nearer to a sample than this, in periods, has been measured.
_NEAR = 0.5

MARGIN = 16
"""Samples beside an instant that a spline is laid through: each of them leaves a quarter or so of
what the next one could change, so that 16 leave less than 1e-9."""

LONGEST_PLAIN = 6.0
"""Step in periods across which a spline through the samples has no more noise than one of them."""

_FEWEST = 4  # samples of a smoothing spline
# Samples beside a long gap that count, in radians of the corner frequency of the smoothing: what
# is farther away has less than 1e-9 of its influence.
_SMOOTHING_MARGIN = 30.0

_CHUNK = 1 << 16  # samples that a spline is laid through at a time, so that memory is bounded


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
    """Return values at other instants, by a cubic spline.

    Where stamps nearly coincide, one of the samples counts: it is about as much as both.

    Args:
        time: (samples,) strictly increasing instants, in sampling periods.
        values: (samples, signals).
        instants: (new samples,) likewise, inside those of the samples.
    """
    apart = _apart(time)
    if not apart.all():
        time, values = time[apart], values[apart]
    result: Array = scipy.interpolate.CubicSpline(time, values, axis=0)(instants)
    return result


def _apart(time: Array) -> Flags:
    """Return (samples,) which samples are not too near to the one before for a spline.

    The first and the last one are there in any case, so that it reaches from one to the other.
    """
    apart: Flags = np.diff(time, prepend=-np.inf) >= _CLOSEST_FOR_SPLINE
    before = int(np.flatnonzero(apart[:-1])[-1])
    if not apart[-1]:
        apart[-1] = True
        apart[before] = before == 0 or time[-1] - time[before] >= _CLOSEST_FOR_SPLINE
    return apart


def in_gaps(time: Array, values: Array, instants: Array, corner: float) -> Array:
    """Return smooth values at instants in gaps between samples.

    Cubic splines without curvature at their ends, so that a gap behind the first sample of a run
    does not carry noise far.  Across a gap of g periods a spline through samples with white noise
    has up to 0.15 g of their noise; where that is more than of a sample, the spline passes the
    samples as near as a low-pass filter would (smoothing spline, Reinsch 1967).

    Args:
        time: (samples,) increasing instants, in sampling periods.
        values: (samples, signals).
        instants: (instants,) likewise, between two samples.
        corner: angular frequency in radians per period up to which the smoothing passes signals.
    """
    apart = _apart(time)
    if not apart.all():
        time, values = time[apart], values[apart]
    before = np.clip(np.searchsorted(time, instants, side="right") - 1, 0, len(time) - 2)
    long = time[before + 1] - time[before] > LONGEST_PLAIN
    spline = scipy.interpolate.CubicSpline
    result = np.empty((len(instants), values.shape[1]))
    if not long.all():
        result[~long] = spline(time, values, bc_type="natural")(instants[~long])
    if long.any():
        smooth = _smoothed(time, values, corner**-4.0) if len(time) > _FEWEST else values
        result[long] = spline(time, smooth, bc_type="natural")(instants[long])
    return result


def _smoothed(time: Array, values: Array, stiffness: float) -> Array:
    """Return (samples, signals) values of the cubic smoothing spline at the samples.

    It minimises the sum of squared distances plus the stiffness times the integral of the squared
    second derivative (Green and Silverman 1994, section 2.3); samples a period apart pass it as
    a filter of gain 1 / (1 + stiffness w^4), w in radians per period.
    """
    steps = np.diff(time)
    left, right = 1.0 / steps[:-1], 1.0 / steps[1:]
    middle = -(left + right)
    bands = np.zeros((3, len(left)))  # of the upper triangle, the diagonal last
    bands[2] = (steps[:-1] + steps[1:]) / 3.0 + stiffness * (left**2 + middle**2 + right**2)
    bands[1, 1:] = steps[1:-1] / 6.0
    bands[1, 1:] += stiffness * (middle[:-1] * left[1:] + right[:-1] * middle[1:])
    bands[0, 2:] = stiffness * right[:-2] * left[2:]
    columns = (left[:, None], middle[:, None], right[:, None])
    bends = sum(column * values[k : k + len(left)] for k, column in enumerate(columns))
    curvature = scipy.linalg.solveh_banded(bands, bends)
    smooth = np.array(values)
    for k, column in enumerate(columns):
        smooth[k : k + len(left)] -= stiffness * column * curvature
    return smooth


def straight(time: Array, values: Array, instants: Array) -> Array:
    """Return values at other instants on the straight lines between samples.

    Args:
        time: (samples,) increasing instants.
        values: (samples, signals).
        instants: (new samples,) inside those of the samples.
    """
    columns = [np.interp(instants, time, column) for column in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((len(instants), 0))


def measured_at(time: Array, instants: Array, longest: float) -> Flags | None:
    """Return (instants,) which instants of a grid were measured; None where all were.

    Args:
        time: (samples,) increasing instants of the samples, in sampling periods.
        instants: (instants,) likewise, inside those of the samples.
        longest: step between samples in periods beyond which some are missing.
    """
    if not (np.diff(time) > longest).any():
        return None
    before = np.clip(np.searchsorted(time, instants, side="right") - 1, 0, len(time) - 2)
    since, until = instants - time[before], time[before + 1] - instants
    return np.asarray((since + until <= longest) | (np.minimum(since, until) <= _NEAR))


def margin(corner: float) -> int:
    """Return how many samples beside a long gap count in what bridges it.

    Args:
        corner: see :func:`in_gaps`.
    """
    return max(MARGIN, int(np.ceil(_SMOOTHING_MARGIN / corner)))


def bridged(numbers: Places, values: Array, corner: float | None) -> Array:
    """Return values at all numbers of a grid, from the first to the last one that there are.

    Those that there are pass unchanged, bit by bit.

    Args:
        numbers: (samples,) increasing numbers of the samples on the grid.
        values: (samples, signals).
        corner: bridged by splines, see :func:`in_gaps`; None: by straight lines.

    Returns:
        (numbers, signals).
    """
    places = numbers - numbers[0]
    filled = np.empty((int(places[-1]) + 1, values.shape[1]))
    filled[places] = values
    gaps = np.flatnonzero(np.diff(places) > 1)
    reach = MARGIN if corner is None else margin(corner)
    for first in range(0, len(places), _CHUNK):
        own = gaps[(gaps >= first) & (gaps < first + _CHUNK)]
        if not len(own):
            continue
        missing = _between(places[own], places[own + 1])
        knots = slice(max(int(own[0]) + 1 - reach, 0), int(own[-1]) + 1 + reach)
        time, instants = places[knots].astype(np.float64), missing.astype(np.float64)
        filled[missing] = (
            straight(time, values[knots], instants)
            if corner is None
            else in_gaps(time, values[knots], instants, corner)
        )
    return filled


def present(numbers: Places) -> Flags:
    """Return which numbers of a grid there are, from the first to the last one."""
    there = np.zeros(int(numbers[-1] - numbers[0]) + 1, dtype=np.bool_)
    there[numbers - numbers[0]] = True
    return there


def _between(begins: Places, ends: Places) -> Places:
    """Return the whole numbers between pairs of others."""
    return np.concatenate(
        [np.arange(b + 1, e) for b, e in zip(begins.tolist(), ends.tolist(), strict=True)]
    )
