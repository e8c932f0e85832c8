"""Spectrum of recorded positions: bandwidth of the motion, and noise.

The spectrum of a motion's velocity falls with the frequency, as its acceleration is finite.  Noise
of the positions, differentiated, rises: with the square of the frequency where it is white, and
still where a drive or a resampling has smoothed it a little.  Between the two lies a valley.  What
stands out of the lowest value that follows at higher frequencies is motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.errors import RecordingError
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.signals.recording import Recording, Segment

_FEWEST_SAMPLES = 2  # that have a frequency
# Longest stretch of a periodogram, in s; its inverse is the resolution.
_STRETCH = 8.0
# The motion is where the spectrum, smoothed over a quarter of an octave to each side and over some
# bins, is so many times what follows at its lowest: three times in amplitude.
_ABOVE_VALLEY = 10.0
_SMOOTHING_RATIO = 2.0**0.25
_FEWEST_BINS = 2
# Interpolation between jittering stamps, and what samples hold for several periods, lower or raise
# the spectrum beyond this part of half the sampling rate: nothing there is taken for motion.
_TRUSTED_SHARE = 0.5
# Part of the power of the velocity that the band of the motion holds.
POWER_SHARE = 0.9995
# Positions on a grid: how near to a multiple of the step their small changes are, and how many.
_NEAR_WHOLE = 0.02
_LARGEST_MULTIPLE = 10.0
_MOSTLY = 0.95
_FEWEST_STEPS = 100
_TINY = float(np.finfo(float).tiny)
# Frequencies at which noise is kept, so that recordings of different length and rate compare.
_FREQUENCIES = np.geomspace(2.0**-6, 2.0**16, 22 * 24 + 1)


@by_value
@dataclass(frozen=True)
class MotionSpectrum:
    """Motion and noise of the joints of one or more recordings.

    Attributes:
        band_hz: (joints,) frequency below which 99.95 % of the power of the velocity lies; 0 for a
            joint that does not move.
        noise_density: (joints,) power density of the position above the motion, in rad^2/Hz or
            m^2/Hz: median of the upper half of the frequencies.
        speed: (joints,) root mean square of the velocity within the band.
        acceleration: (joints,) root mean square of the acceleration within the band.
        velocity_noise_power: (frequencies, joints) power of the velocity's noise below frequencies.
        acceleration_noise_power: (frequencies, joints) likewise of the acceleration.
        step: (joints,) step that all positions are multiples of, the resolution of an encoder, in
            rad or m; 0 where there is none.
        held: number of samples for which positions stay as they are while the robot moves; 1 where
            every sample is new.
    """

    band_hz: Array
    noise_density: Array
    speed: Array
    acceleration: Array
    velocity_noise_power: Array
    acceleration_noise_power: Array
    step: Array
    held: int = 1

    def of_joints(self, joints: npt.NDArray[np.bool_]) -> MotionSpectrum:
        """Return motion and noise of some of the (joints,) joints."""
        columns = {name: read_only(getattr(self, name)[..., joints]) for name in _PER_JOINT}
        return MotionSpectrum(**columns, held=self.held)

    def position_noise(self, nyquist_hz: float) -> Array:
        """Return (joints,) the standard deviation of the position's noise below a frequency."""
        return read_only(np.sqrt(self.noise_density * nyquist_hz))

    def acceleration_noise(self, cutoff_hz: float) -> Array:
        """Return (joints,) noise of the acceleration below a cut-off, as a part of the motion's.

        It is 0 for joints that do not move.
        """
        noise = np.sqrt(_at(cutoff_hz, self.acceleration_noise_power))
        moving = self.acceleration > 0.0
        return read_only(
            np.divide(noise, self.acceleration, out=np.zeros_like(noise), where=moving)
        )

    def velocity_noise(self, cutoff_hz: float) -> Array:
        """Return (joints,) the standard deviation of the velocity's noise below a cut-off."""
        return read_only(np.sqrt(_at(cutoff_hz, self.velocity_noise_power)))

    def largest_cutoff(self, share: float) -> float:
        """Return the cut-off at which noise makes up a share of the acceleration, in Hz.

        The joint that bears least counts; joints at rest do not.  Without a limit it is infinite.
        """
        moving = self.acceleration > 0.0
        power = self.acceleration_noise_power[:, moving]
        beyond = (power > (share * self.acceleration[moving]) ** 2).any(axis=1)
        return float(_FREQUENCIES[max(int(beyond.argmax()) - 1, 0)]) if beyond.any() else np.inf


_PER_JOINT = (
    "band_hz",
    "noise_density",
    "speed",
    "acceleration",
    "velocity_noise_power",
    "acceleration_noise_power",
    "step",
)


def _at(frequency_hz: float, power: Array) -> Array:
    """Return (joints,) what :class:`MotionSpectrum` keeps below its frequencies, below another."""
    return np.array([np.interp(frequency_hz, _FREQUENCIES, column) for column in power.T])


def motion_spectrum(recordings: Sequence[Recording]) -> MotionSpectrum:
    """Return motion and noise of recordings of the same robot; the widest band counts.

    Args:
        recordings: at least one; of each, the longest segment is looked at.

    Raises:
        RecordingError: in one of them no two samples follow each other.
    """
    found = [_of_segment(_longest(recording), recording.period) for recording in recordings]
    largest = {
        name: read_only(np.max([getattr(spectrum, name) for spectrum in found], axis=0))
        for name in _PER_JOINT
    }
    return MotionSpectrum(**largest, held=max(spectrum.held for spectrum in found))


def _longest(recording: Recording) -> Segment:
    longest = max(recording.segments, key=lambda segment: len(segment.time))
    if len(longest.time) < _FEWEST_SAMPLES:
        raise RecordingError(
            f"{recording.source or 'recording'}: a single sample is left of it, which tells no "
            "motion; take a longer part"
        )
    return longest


def _of_segment(segment: Segment, period: float) -> MotionSpectrum:
    length = min(len(segment.time), max(256, round(_STRETCH / period)))
    frequency, density = scipy.signal.welch(
        segment.position, 1.0 / period, nperseg=length, detrend="linear", axis=0
    )
    held = _held(segment.position)
    # Rounding of the stored numbers is a floor where nothing else is.
    rounding = (1e-15 * np.abs(segment.position).max(axis=0)) ** 2 * period
    trusted = frequency <= _TRUSTED_SHARE * 0.5 / (held * period)
    joints = [
        _motion(frequency, np.maximum(one, least), trusted)
        for one, least in zip(density.T, rounding, strict=True)
    ]
    floor = np.median(density[len(density) // 2 :], axis=0)
    return MotionSpectrum(
        band_hz=read_only([joint.band for joint in joints]),
        noise_density=read_only(np.maximum(floor, rounding)),
        speed=read_only([joint.speed for joint in joints]),
        acceleration=read_only([joint.acceleration for joint in joints]),
        velocity_noise_power=read_only(np.transpose([joint.velocity_noise for joint in joints])),
        acceleration_noise_power=read_only(
            np.transpose([joint.acceleration_noise for joint in joints])
        ),
        step=read_only([_step(position) for position in segment.position.T]),
        held=held,
    )


def _held(position: Array) -> int:
    """Return for how many samples positions stay as they are, in the median, while some change."""
    changes = np.flatnonzero((np.diff(position, axis=0) != 0.0).any(axis=1))
    return int(np.median(np.diff(changes))) if len(changes) > _FEWEST_STEPS else 1


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


class _JointMotion(NamedTuple):
    """Motion and noise of a joint: see :class:`MotionSpectrum`."""

    band: float
    speed: float
    acceleration: float
    velocity_noise: Array
    acceleration_noise: Array


def _motion(frequency: Array, density: Array, trusted: npt.NDArray[np.bool_]) -> _JointMotion:
    """Return the motion and the noise of a joint.

    Args:
        frequency: (bins,) in Hz.
        density: (bins,) power density of the position.
        trusted: (bins,) where the spectrum may be that of a motion.
    """
    rate = 2 * np.pi * frequency
    smooth = _smoothed(density * rate**2)
    last = int(np.count_nonzero(trusted))
    valley = _valleys(smooth[:last])
    moving = np.zeros(len(frequency), dtype=np.bool_)
    moving[1:last] = smooth[1:last] > _ABOVE_VALLEY * smooth[valley[1:]]
    # Towards lower frequencies the noise of the position goes on as it is in the valley.
    noise = smooth.copy()
    noise[1:last] = smooth[valley[1:]] * (frequency[1:last] / frequency[valley[1:]]) ** 2
    noise[0] = 0.0
    power = np.cumsum(density * moving * rate**2) * frequency[1]
    band, speed, acceleration = 0, 0.0, 0.0
    if power[-1] > 0.0:
        band = int(np.searchsorted(power, POWER_SHARE * power[-1]))
        speed = float(np.sqrt(power[band]))
        own = (density * moving * rate**4)[: band + 1]
        acceleration = float(np.sqrt(np.sum(own) * frequency[1]))
    return _JointMotion(
        float(frequency[band]),
        speed,
        acceleration,
        _below(frequency, noise),
        _below(frequency, noise * rate**2),
    )


def _valleys(smooth: Array) -> npt.NDArray[np.intp]:
    """Return from every bin on the bin of the lowest value; of equal ones the first."""
    lowest = np.minimum.accumulate(smooth[::-1])[::-1]
    here = np.where(smooth <= lowest, np.arange(len(smooth)), len(smooth))
    valleys: npt.NDArray[np.intp] = np.minimum.accumulate(here[::-1])[::-1]
    return valleys


def _below(frequency: Array, density: Array) -> Array:
    """Return the power below the frequencies that are kept, from a density."""
    power: Array = np.interp(_FREQUENCIES, frequency, np.cumsum(density) * frequency[1])
    return power


def _smoothed(density: Array) -> Array:
    """Return a density averaged over half an octave, and over five bins at least."""
    count = len(density)
    places = np.arange(count)
    first = np.minimum(places - _FEWEST_BINS, (places / _SMOOTHING_RATIO).astype(np.intp))
    last = np.maximum(places + _FEWEST_BINS, (places * _SMOOTHING_RATIO).astype(np.intp))
    first, last = np.maximum(first, 0), np.minimum(last, count - 1)
    sums = np.concatenate([[0.0], np.cumsum(density)])
    smooth: Array = (sums[last + 1] - sums[first]) / (last + 1 - first)
    return smooth
