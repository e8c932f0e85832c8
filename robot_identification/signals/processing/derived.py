"""Settings of the signal processing that follow from the data, with the reasons in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robot_identification.robot.model import Array
from robot_identification.robot.processing import END_LEVEL
from robot_identification.signals import filtering
from robot_identification.signals.recording import Recording
from robot_identification.signals.spectrum import POWER_SHARE, MotionSpectrum, motion_spectrum

# Cut-off as a multiple of the band of the motion, and what it may be reduced to by noise.
BAND_FACTOR = 10.0
SMALLEST_BAND_FACTOR = 5.0
# Noise of the acceleration that is allowed, as a part of the acceleration of the motion.
ACCELERATION_NOISE = 0.1
# Largest cut-off, as a part of half the sampling rate.
NYQUIST_SHARE = 0.8
# Rows per joint that decimation should leave.
FEWEST_ROWS = 500
# Threshold of the speed, as a part of the largest speed and as a multiple of its noise.
SPEED_SHARE = 0.01
NOISE_FACTOR = 5.0


class Derived(NamedTuple):
    """A value that follows from the data, and the reason in numbers."""

    value: float | int | tuple[float, ...]
    reason: str


class DataProperties:
    """Properties of the recordings of one robot that decide their processing.

    Args:
        recordings: at least one.
    """

    def __init__(self, recordings: Sequence[Recording]) -> None:
        self.recordings = tuple(recordings)

    @cached_property
    def spectrum(self) -> MotionSpectrum:
        """Motion and noise."""
        return motion_spectrum(self.recordings)

    @property
    def longest_period(self) -> float:
        """Sampling period of the slowest recording, in s."""
        return max(recording.period for recording in self.recordings)

    def cutoff(self) -> Derived:
        """Return the cut-off of the position filter.

        Ten times the band of the motion, which a Butterworth filter of order 4 leaves undamped
        to 1e-8; less where the noise of the acceleration asks for it, down to five times.
        """
        nyquist = 0.5 / self.longest_period
        limit = NYQUIST_SHARE * nyquist
        band = float(self.spectrum.band_hz.max())
        if band == 0.0:
            return Derived(
                limit, f"derived: {NYQUIST_SHARE:g} of {nyquist:.4g} Hz, as no motion was found"
            )
        allowed = self.spectrum.largest_cutoff(ACCELERATION_NOISE)
        factor = float(np.clip(allowed / band, SMALLEST_BAND_FACTOR, BAND_FACTOR))
        why = "" if factor == BAND_FACTOR else ", reduced for noise of the acceleration"
        value, reason = factor * band, f"derived: {factor:.3g} x {band:.3g} Hz of motion{why}"
        if value > limit:
            value, reason = limit, f"{reason}, at most {NYQUIST_SHARE:g} of {nyquist:.4g} Hz"
        return Derived(value, f"{reason}; {self._about_motion()}; {self._about_noise(value)}")

    def _about_motion(self) -> str:
        joint = int(self.spectrum.band_hz.argmax())
        band, name = self.spectrum.band_hz[joint], self.recordings[0].joint_names[joint]
        share = f"{100.0 * POWER_SHARE:.4g} %"
        return f"{share} of the power of {name}'s velocity lies below {band:.3g} Hz"

    def _about_noise(self, cutoff_hz: float) -> str:
        """Return what noise and resolution the worst joint has, and what is left of them."""
        shares = self.spectrum.acceleration_noise(cutoff_hz)
        joint = int(shares.argmax())
        name = self.recordings[0].joint_names[joint]
        nyquist = 0.5 / self.longest_period
        noise = self.spectrum.position_noise(nyquist)[joint]
        step = self.spectrum.step[joint]
        resolution = f", in steps of {step:.2g}" if step > 0.0 else ""
        return (
            f"noise of {name} {noise:.2g} rms{resolution}, which below {cutoff_hz:.3g} Hz is "
            f"{100.0 * shares[joint]:.2g} % of its acceleration"
        )

    def rate(self, cutoff_hz: float) -> Derived:
        """Return the rate after decimation, for a cut-off of the position filter in Hz.

        Decimation passes 0.8 of half its rate (Gautier et al. 2013, section II).  With the rate
        equal to the cut-off that is 0.4 of the cut-off, four times the band of the motion.
        """
        duration = sum(recording.duration for recording in self.recordings)
        fewest = FEWEST_ROWS / max(duration, self.longest_period)
        if fewest > cutoff_hz:
            value = min(fewest, 1.0 / self.longest_period)
            return Derived(value, f"derived: {FEWEST_ROWS} rows per joint of {duration:.4g} s")
        sampling = 1.0 / self.longest_period
        factor = max(1, round(sampling / cutoff_hz))
        return Derived(
            cutoff_hz,
            f"derived: decimation passes {0.4 * cutoff_hz:.4g} Hz, 0.4 of the cut-off; one in "
            f"{factor} of {sampling:.4g} samples a second, "
            f"{duration * sampling / factor:.0f} rows per joint",
        )

    def thresholds(self, cutoff_hz: float, order: int) -> Derived:
        """Return (joints,) speeds below which the Coulomb friction of a row is not reliable.

        One percent of the largest speed, since near reversal friction is not constant; at least
        five standard deviations of the velocity's noise, so that its sign is known.
        """
        noise = NOISE_FACTOR * self.spectrum.velocity_noise(cutoff_hz)
        share = SPEED_SHARE * self._largest_speed(cutoff_hz, order)
        names = self.recordings[0].joint_names
        noisy = [name for name, more in zip(names, noise > share, strict=True) if more]
        reason = f"derived: {SPEED_SHARE:.0%} of the largest speed"
        if noisy:
            reason += f"; {NOISE_FACTOR:g} x noise for {', '.join(noisy)}"
        return Derived(tuple(np.maximum(noise, share).tolist()), reason)

    def drop(self, cutoff_hz: float, order: int, differences: int) -> Derived:
        """Return how many samples the end effects of filter and differences reach."""
        shortest = min(recording.period for recording in self.recordings)
        sections = filtering.butterworth(cutoff_hz, order, shortest)
        return Derived(
            filtering.settling_samples(sections, END_LEVEL) + differences,
            f"derived: end effect of the {cutoff_hz:.4g} Hz filter and of the differences",
        )

    def _largest_speed(self, cutoff_hz: float, order: int) -> Array:
        """Return (joints,) the largest speeds, apart from the ends of segments."""
        largest = np.zeros(len(self.recordings[0].joint_names))
        for recording in self.recordings:
            sections = filtering.butterworth(cutoff_hz, order, recording.period)
            end = filtering.settling_samples(sections, END_LEVEL)
            for segment in recording.segments:
                if len(segment.time) > max(2 * end, filtering.padding(order)):
                    position = filtering.zero_phase(
                        sections, filtering.padding(order), segment.position.T
                    )
                    velocity = filtering.differentiate(position, recording.period)[:, end:-end]
                    largest = np.maximum(largest, np.abs(velocity).max(axis=1))
        return largest
