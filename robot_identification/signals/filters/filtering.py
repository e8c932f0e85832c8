"""Zero-phase low-pass filtering and differentiation of signals with a constant period.

Positions pass a Butterworth filter forward and backward, so that nothing is delayed, and are
differentiated by central differences (Gautier et al. 2013, section II).
Filters are kept as second-order sections: as one transfer function they lose all digits where the
cut-off is low against the sampling rate.
"""

from __future__ import annotations

from math import factorial

import numpy as np
import scipy

from robot_identification.errors import RecordingError, SettingError
from robot_identification.robot.arrays import Array
from robot_identification.robot.processing import END_LEVEL, LOWEST_HZ, ProcessingSettings

_TABLE = ProcessingSettings.table()
DEFAULT_ORDER: int = _TABLE["filter_order"].usual
DEFAULT_DIFFERENCE_ORDER: int = _TABLE["difference_order"].usual


def butterworth(cutoff_hz: float, order: int, period: float) -> Array:
    """Return the second-order sections of a Butterworth low-pass filter.

    Args:
        cutoff_hz: cut-off (-3 dB in one pass, -6 dB forward and backward), in Hz.
        order: order of one pass.
        period: sampling period in s.

    Returns:
        (sections, 6) coefficients.

    Raises:
        SettingError: the order is not one from 1 to 20, or the cut-off not between 0.001 Hz and
            half the sampling rate.
    """
    nyquist = 0.5 / period
    if not LOWEST_HZ <= cutoff_hz < nyquist:
        raise SettingError(
            "cutoff_hz",
            cutoff_hz,
            f"must lie between {LOWEST_HZ:g} Hz and half the sampling rate of the recording, "
            f"{nyquist:g} Hz",
        )
    _TABLE["filter_order"].check(order)
    sections: Array = scipy.signal.butter(order, cutoff_hz / nyquist, output="sos")
    return sections


def padding(order: int) -> int:
    """Return how many samples a signal is continued beyond its ends, as MATLAB's filtfilt does.

    The signal is continued by its reflection through the end point (odd extension).
    """
    return 3 * order


def memory(sections: Array) -> int:
    """Return in how many samples a zero-phase filter forgets: 1 % of its peak is left there."""
    return settling_samples(sections, END_LEVEL)


def continued(values: Array, left: int, right: int) -> Array:
    """Return (..., left + samples + right) signals continued by their reflection at both ends."""
    before = 2.0 * values[..., :1] - values[..., left:0:-1]
    behind = 2.0 * values[..., -1:] - values[..., -2 : -2 - right : -1]
    return np.concatenate([before, values, behind], axis=-1)


def zero_phase(sections: Array, pad: int, values: Array) -> Array:
    """Filter forward and backward along the last axis.

    Args:
        sections: (sections, 6) second-order sections.
        pad: number of samples that the signal is continued at both ends (odd extension).
        values: (..., samples) signals.

    Returns:
        Filtered signals in the shape of ``values``.

    Raises:
        RecordingError: if there are no more samples than ``pad``.
    """
    samples = values.shape[-1]
    if samples <= pad:
        raise RecordingError(
            f"{samples} samples are too few for the filter, which needs more than {pad}; "
            "record longer, or look for what interrupts the recording"
        )
    result: Array = scipy.signal.sosfiltfilt(sections, values, axis=-1, padlen=pad)
    return result


def low_pass(
    values: Array,
    period: float,
    cutoff_hz: float,
    order: int = DEFAULT_ORDER,
    torn: tuple[bool, bool] = (False, False),
) -> Array:
    """Filter signals by a zero-phase Butterworth low pass.

    A recording begins and ends at rest, as a rule, and is continued by a few samples.  Where it was
    torn in the midst of a motion, it is continued by as many as the filter remembers: the steady
    state that stands before a shorter continuation would be a sudden stop.

    Args:
        values: (..., samples) signals.
        period: sampling period in s.
        cutoff_hz: cut-off of one pass in Hz.
        order: order of one pass.
        torn: whether samples were lost before the first and behind the last one.

    Returns:
        Filtered signals in the shape of ``values``.

    Raises:
        SettingError: a setting is out of its range.
        RecordingError: there are too few samples.
    """
    sections, pad = butterworth(cutoff_hz, order, period), padding(order)
    samples = values.shape[-1]
    if not any(torn) or samples <= pad:
        return zero_phase(sections, pad, values)
    left, right = (min(memory(sections), samples - 1) if end else pad for end in torn)
    filtered = zero_phase(sections, 0, continued(values, left, right))
    return filtered[..., left : left + samples]


def difference_weights(order: int) -> Array:
    """Return the weights of central differences.

    With m = order / 2 the derivative is the sum over k of w_k (x(t + kT) - x(t - kT)) / T,
    w_k = (-1)^(k+1) (m!)^2 / (k (m - k)! (m + k)!), exact for polynomials up to degree ``order``.

    Args:
        order: order of accuracy, even.

    Returns:
        (order / 2,) weights w_1, w_2, ...

    Raises:
        SettingError: the order is not 2, 4, 6, ... or 20.
    """
    _TABLE["difference_order"].check(order)
    m = order // 2
    return np.array(
        [
            (-1) ** (k + 1) * factorial(m) ** 2 / (k * factorial(m - k) * factorial(m + k))
            for k in range(1, m + 1)
        ]
    )


def differentiate(values: Array, period: float, order: int = 2) -> Array:
    """Return the derivative along the last axis by central differences.

    Near the ends, where they do not reach, differences of order 2 take their place, and the first
    and the last value are one-sided differences.

    Args:
        values: (..., samples) signals; at least two samples.
        period: sampling period in s.
        order: order of accuracy, even.

    Raises:
        SettingError: see :func:`difference_weights`.
    """
    result: Array = np.gradient(values, period, axis=-1)
    weights = difference_weights(order)
    m, samples = len(weights), values.shape[-1]
    if m > 1 and samples > 2 * m:
        inner = np.zeros_like(values[..., m:-m])
        for k, weight in enumerate(weights, 1):
            inner += weight * (values[..., m + k : samples - m + k] - values[..., m - k : -m - k])
        result[..., m:-m] = inner / period
    return result


def impulse_response(sections: Array, length: int) -> Array:
    """Return the zero-phase impulse response at lags 0 to ``length`` (it is symmetric)."""
    impulse = np.zeros(2 * length + 1)
    impulse[length] = 1.0
    forward = scipy.signal.sosfilt(sections, impulse)
    response: Array = scipy.signal.sosfilt(sections, forward[::-1])[::-1][length:]
    return response


def settling_samples(sections: Array, level: float) -> int:
    """Return the lag from which on a zero-phase impulse response stays below a level.

    Args:
        sections: (sections, 6) second-order sections of a stable low-pass filter.
        level: fraction of the largest value of the response.
    """
    response = np.abs(impulse_response(sections, decay_samples(sections, 1e-3 * level)))
    return int(np.flatnonzero(response > level * response.max())[-1]) + 1


def decay_samples(sections: Array, level: float) -> int:
    """Return in how many samples the slowest mode of a stable filter decays to a level."""
    radius = max(float(np.abs(np.roots(section[3:])).max(initial=0.0)) for section in sections)
    return int(np.ceil(np.log(level) / np.log(max(radius, 1e-3))))
