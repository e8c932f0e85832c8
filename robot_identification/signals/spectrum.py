"""Spectrum of recorded positions: bandwidth of the motion, and noise.

Above some frequency a spectrum of measured positions is flat: quantisation and noise.  What rises
out of this floor at low frequencies is the motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array, read_only
from robot_identification.signals.recording import Recording, Segment

# Longest stretch of a periodogram, in s; its inverse is the resolution.
_STRETCH = 8.0
# The motion is where the spectrum, smoothed over some bins, is so many times the floor.
_ABOVE_FLOOR = 30.0
_SMOOTHING = 9
# Part of the power of the velocity that the band of the motion holds.
POWER_SHARE = 0.9995
# Positions on a grid: how near to a multiple of the step their small changes are, and how many.
_NEAR_WHOLE = 0.02
_LARGEST_MULTIPLE = 10.0
_MOSTLY = 0.95
_FEWEST_STEPS = 100
_TINY = float(np.finfo(float).tiny)


@by_value
@dataclass(frozen=True)
class MotionSpectrum:
    """Motion and noise of the joints of one or more recordings.

    Attributes:
        band_hz: (joints,) frequency below which 99.95 % of the power of the velocity lies; 0 for a
            joint that does not move.
        noise_density: (joints,) power density of the noise of the position, in rad^2/Hz or m^2/Hz.
        acceleration: (joints,) root mean square of the acceleration within the band.
        step: (joints,) step that all positions are multiples of, the resolution of an encoder, in
            rad or m; 0 where there is none.
    """

    band_hz: Array
    noise_density: Array
    acceleration: Array
    step: Array

    def position_noise(self, nyquist_hz: float) -> Array:
        """Return (joints,) the standard deviation of the position's noise below a frequency."""
        return read_only(np.sqrt(self.noise_density * nyquist_hz))

    def acceleration_noise(self, cutoff_hz: float) -> Array:
        """Return (joints,) noise of the acceleration below a cut-off, as a part of the motion's.

        White noise of density s, differentiated twice and cut off at f, has the variance
        s (2 pi)^4 f^5 / 5.  It is 0 for joints that do not move.
        """
        noise = (2 * np.pi) ** 2 * np.sqrt(self.noise_density * cutoff_hz**5 / 5)
        moving = self.acceleration > 0.0
        return read_only(
            np.divide(noise, self.acceleration, out=np.zeros_like(noise), where=moving)
        )

    def velocity_noise(self, cutoff_hz: float) -> Array:
        """Return (joints,) the standard deviation of the velocity's noise below a cut-off.

        White noise of density s, differentiated and cut off at f, has the variance
        s (2 pi)^2 f^3 / 3.
        """
        return read_only(2 * np.pi * np.sqrt(self.noise_density * cutoff_hz**3 / 3))

    def largest_cutoff(self, share: float) -> float:
        """Return the cut-off at which noise makes up a share of the acceleration, in Hz.

        White noise of density s, differentiated twice and cut off at f, has the variance
        s (2 pi)^4 f^5 / 5.  The joint that bears least counts; joints at rest do not.
        """
        moving = self.acceleration > 0.0
        noise = np.maximum(self.noise_density[moving], _TINY) * (2 * np.pi) ** 4
        cutoffs = (5 * (share * self.acceleration[moving]) ** 2 / noise) ** 0.2
        return float(cutoffs.min(initial=np.inf))


def motion_spectrum(recordings: Sequence[Recording]) -> MotionSpectrum:
    """Return motion and noise of recordings of the same robot; the widest band counts.

    Args:
        recordings: at least one; of each, the longest segment is looked at.
    """
    found = [_of_segment(_longest(recording), recording.period) for recording in recordings]
    return MotionSpectrum(
        band_hz=read_only(np.max([spectrum.band_hz for spectrum in found], axis=0)),
        noise_density=read_only(np.max([spectrum.noise_density for spectrum in found], axis=0)),
        acceleration=read_only(np.max([spectrum.acceleration for spectrum in found], axis=0)),
        step=read_only(np.max([spectrum.step for spectrum in found], axis=0)),
    )


def _longest(recording: Recording) -> Segment:
    return max(recording.segments, key=lambda segment: len(segment.time))


def _of_segment(segment: Segment, period: float) -> MotionSpectrum:
    length = min(len(segment.time), max(256, round(_STRETCH / period)))
    frequency, density = scipy.signal.welch(
        segment.position, 1.0 / period, nperseg=length, detrend="linear", axis=0
    )
    floor = np.median(density[len(density) // 2 :], axis=0)
    # Rounding of the stored numbers is a floor, too, where nothing else is.
    floor = np.maximum(floor, (1e-15 * np.abs(segment.position).max(axis=0)) ** 2 * period)
    smooth = scipy.ndimage.uniform_filter1d(density, _SMOOTHING, axis=0, mode="nearest")
    joints = [
        _motion(frequency, density[:, j], smooth[:, j] > _ABOVE_FLOOR * floor[j])
        for j in range(density.shape[1])
    ]
    return MotionSpectrum(
        band_hz=read_only([band for band, _ in joints]),
        noise_density=read_only(floor),
        acceleration=read_only([acceleration for _, acceleration in joints]),
        step=read_only([_step(position) for position in segment.position.T]),
    )


def _step(position: Array) -> float:
    """Return the step that the changes of a position are multiples of, 0 where there is none."""
    changes = np.abs(np.diff(position))
    rounding = 1e-9 * max(float(np.abs(position).max(initial=0.0)), _TINY)
    changes = changes[changes > rounding]
    if len(changes) < _FEWEST_STEPS:
        return 0.0
    # Multiples of 1, 2, 3, ... steps: the smallest change is the step itself, or there is none.
    few = np.sort(changes)[: max(len(changes) // 100, 1)]
    step = float(np.median(few))
    parts = changes / step
    whole = np.abs(parts - np.rint(parts)) < _NEAR_WHOLE * np.maximum(parts, 1.0)
    small = parts < _LARGEST_MULTIPLE
    if np.count_nonzero(small) < _FEWEST_STEPS:
        return 0.0
    return step if np.count_nonzero(whole & small) > _MOSTLY * np.count_nonzero(small) else 0.0


def _motion(frequency: Array, density: Array, above: Array) -> tuple[float, float]:
    """Return band in Hz and root mean square of the acceleration of one joint's motion.

    Args:
        frequency: (bins,) in Hz.
        density: (bins,) power density of the position.
        above: (bins,) where the spectrum stands out of the noise.
    """
    rate = 2 * np.pi * frequency
    power = np.cumsum(density * above * rate**2)
    if power[-1] == 0.0:
        return 0.0, 0.0
    last = int(np.searchsorted(power, POWER_SHARE * power[-1]))
    acceleration = np.sum((density * above * rate**4)[: last + 1]) * frequency[1]
    return float(frequency[last]), float(np.sqrt(acceleration))
