"""Settings of the signal processing that follow from the data, with the reasons in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import Array
from robot_identification.robot.processing import END_LEVEL
from robot_identification.signals.filters import filtering
from robot_identification.signals.recording import Recording
from robot_identification.signals.spectrum import POWER_SHARE, MotionSpectrum, motion_spectrum

# Cut-off as a multiple of the band of the motion, and what noise may reduce it to: two bands damp
# the motion at the end of its band by 0.4 %.
BAND_FACTOR = 10.0
SMALLEST_BAND_FACTOR = 2.0
# Noise of the acceleration that is allowed, as a part of the acceleration of the motion: below the
# cut-off, and below what decimation passes.  What is in the rows shrinks inertias by its square:
# 0.1 %, less than any motion determines them to.  At the usual rate, the cut-off, decimation
# leaves a tenth of white noise, and the first bound is the narrower one; where a short recording,
# or an option, asks for a higher rate it leaves all of it.
ACCELERATION_NOISE = 0.1
ROW_NOISE = 0.03
# Joints that move slower than this part of the fastest one tremble or drift; what they do says
# nothing of the motion.
MOVING_SHARE = 0.02
# Largest cut-off, as a part of half the sampling rate.
NYQUIST_SHARE = 0.8
# What decimation passes, as a part of its rate: 0.8 of half of it (Gautier et al. 2013, section
# II).
PASSED_SHARE = 0.4
# Rows per joint that decimation should leave: a dozen for every parameter of the joint, of which
# there are about seven for every joint of the robot; at most as many as an arm of six needs.
FEWEST_ROWS = 500
ROWS_PER_JOINT = 84
# Threshold of the speed, as a part of the largest speed and as a multiple of its noise, and the
# part of the largest speed beyond which noise does not raise it: the rows that are left must tell
# viscous friction from Coulomb friction.
SPEED_SHARE = 0.01
NOISE_FACTOR = 5.0
LARGEST_SPEED_SHARE = 0.2


class Derived(NamedTuple):
    """A value that follows from the data, the reason in numbers, and what is doubtful about it."""

    value: float | int | tuple[float, ...]
    reason: str
    warnings: tuple[str, ...] = ()


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

    @property
    def largest_cutoff(self) -> float:
        """Largest cut-off that the slowest recording allows, in Hz."""
        return NYQUIST_SHARE * self._nyquist

    def about_limit(self) -> str:
        """Say what the largest cut-off is."""
        held = self.spectrum.held
        share = "" if held == 1 else f", with positions that change every {held} samples"
        return f"at most {NYQUIST_SHARE:g} of {self._nyquist:.4g} Hz{share}"

    @property
    def _nyquist(self) -> float:
        """Half the rate at which the slowest recording has new positions, in Hz."""
        return 0.5 / (self.longest_period * self.spectrum.held)

    @cached_property
    def _motion(self) -> MotionSpectrum:
        """Motion and noise of the joints that move."""
        return self.spectrum.of_joints(self._moves)

    def cutoff(self, rate_hz: float | None = None) -> Derived:
        """Return the cut-off of the position filter.

        Ten times the band of the motion, which a Butterworth filter of order 4 leaves undamped
        to 1e-8; less where the noise of the acceleration asks for it, down to two times; never more
        than the sampling rate allows.

        Args:
            rate_hz: rate after decimation, where it is stated, in Hz; else it will be derived.
        """
        limit = self.largest_cutoff
        band = float(self._motion.band_hz.max(initial=0.0))
        if band == 0.0:
            return Derived(
                limit,
                f"derived: {self.about_limit()}, as no motion was found",
                ("no motion stands out of the noise of the positions; the cut-off is a guess",),
            )
        allowed, share = self._allowed_by_noise(rate_hz)
        factor = float(np.clip(allowed / band, SMALLEST_BAND_FACTOR, BAND_FACTOR))
        why = "" if factor == BAND_FACTOR else ", reduced for noise of the acceleration"
        value, reason = factor * band, f"derived: {factor:.3g} x {band:.3g} Hz of motion{why}"
        warnings = self._held_warnings()
        bounded = value > limit
        if bounded:
            value, reason = limit, f"{reason}, {self.about_limit()}"
            warnings.append(
                f"the cut-off is bounded by the sampling rate: {limit:.4g} Hz, {limit / band:.3g} "
                f"times the band of the motion, {band:.3g} Hz; record at a higher rate"
            )
        overruled = value > allowed * (1.0 + 1e-9)
        if overruled or (factor < BAND_FACTOR and not bounded):
            asked = f"{100.0 * share:g} % would ask for {allowed:.3g} Hz" if overruled else ""
            warnings.append(self._noise_warning(value, asked))
        told = f"{reason}; {self._about_motion()}; {self._about_noise(value)}"
        return Derived(value, told, tuple(warnings))

    def _allowed_by_noise(self, rate_hz: float | None) -> tuple[float, float]:
        """Return the largest cut-off that noise allows, in Hz, and which share of noise it is."""
        allowed = self._motion.largest_cutoff(ACCELERATION_NOISE)
        quiet = self._motion.largest_cutoff(ROW_NOISE)
        rate = self._fewest_rate() if rate_hz is None else rate_hz
        if PASSED_SHARE * rate > quiet:
            in_rows = quiet
        else:  # what decimation passes follows the cut-off, or is stated
            in_rows = quiet / PASSED_SHARE if rate_hz is None else np.inf
        return (in_rows, ROW_NOISE) if in_rows < allowed else (allowed, ACCELERATION_NOISE)

    def _held_warnings(self) -> list[str]:
        held = self.spectrum.held
        line = (
            f"positions change every {held} samples only, as if the driver repeated what it has "
            "measured; the cut-off is bounded by the rate at which they change"
        )
        return [line] if held > 1 else []

    def _noise_warning(self, cutoff_hz: float, asked: str) -> str:
        shares = np.where(self._moves, self.spectrum.acceleration_noise(cutoff_hz), 0.0)
        joint = int(shares.argmax())
        about = (
            f"below {cutoff_hz:.3g} Hz noise is {100.0 * shares[joint]:.2g} % of the acceleration "
        )
        about += f"of {self.recordings[0].joint_names[joint]}"
        if not asked:
            return f"the cut-off is bounded by noise of the positions: {about}"
        return (
            f"the cut-off keeps the motion in, and too much noise with it: {about}, and {asked}; "
            "compare other cut-offs (--sensitivity), move faster, or use the method didim"
        )

    @property
    def _moves(self) -> npt.NDArray[np.bool_]:
        speed = self.spectrum.speed
        moves: npt.NDArray[np.bool_] = speed > MOVING_SHARE * speed.max(initial=0.0)
        return moves

    def _about_motion(self) -> str:
        joint = int(np.where(self._moves, self.spectrum.band_hz, 0.0).argmax())
        band, name = self.spectrum.band_hz[joint], self.recordings[0].joint_names[joint]
        share = f"{100.0 * POWER_SHARE:.4g} %"
        return f"{share} of the power of {name}'s velocity lies below {band:.3g} Hz"

    def _about_noise(self, cutoff_hz: float) -> str:
        """Return what noise and resolution the worst joint has, and what is left of them."""
        shares = np.where(self._moves, self.spectrum.acceleration_noise(cutoff_hz), 0.0)
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

        With the rate equal to the cut-off decimation passes 0.4 of the cut-off, four times the band
        of the motion.
        """
        duration, fewest = self._duration, self._fewest_rate()
        if fewest > cutoff_hz:
            return Derived(
                fewest, f"derived: {self._fewest_rows} rows per joint of {duration:.4g} s"
            )
        sampling = 1.0 / self.longest_period
        factor, passed = max(1, round(sampling / cutoff_hz)), PASSED_SHARE * cutoff_hz
        return Derived(
            cutoff_hz,
            f"derived: decimation passes {passed:.4g} Hz, {PASSED_SHARE:g} of the cut-off; one in "
            f"{factor} of {sampling:.4g} samples a second, "
            f"{duration * sampling / factor:.0f} rows per joint",
        )

    @property
    def _duration(self) -> float:
        return sum(recording.duration for recording in self.recordings)

    @property
    def _fewest_rows(self) -> int:
        return min(FEWEST_ROWS, ROWS_PER_JOINT * len(self.recordings[0].joint_names))

    def _fewest_rate(self) -> float:
        """Return the rate that leaves just enough rows, in Hz, as far as there are samples."""
        fewest = self._fewest_rows / max(self._duration, self.longest_period)
        return min(fewest, 1.0 / self.longest_period)

    def rate_warnings(self, cutoff_hz: float, order: int, rate_hz: float) -> tuple[str, ...]:
        """Say where rows hold efforts of a motion that the position filter has taken away.

        Decimation passes efforts and regressor alike, but the regressor is that of filtered
        positions.  Up to half the cut-off these are whole (:data:`SMALLEST_BAND_FACTOR`); above,
        what the motion asks of the efforts is in no column, if rows reach so far.

        Args:
            cutoff_hz: of the position filter, in Hz, whoever states it.
            order: of the position filter.
            rate_hz: after decimation, in Hz, whoever states it.
        """
        whole = cutoff_hz / SMALLEST_BAND_FACTOR
        band = float(self._motion.band_hz.max(initial=0.0))
        held = min(PASSED_SHARE * rate_hz, band)
        if held <= whole * (1.0 + 1e-9):
            return ()
        left = 1.0 / (1.0 + (held / cutoff_hz) ** (2 * order))
        line = (
            f"the rate is too high for the cut-off: rows at {rate_hz:.4g} Hz hold efforts of a "
            f"motion up to {held:.3g} Hz, of which a cut-off of {cutoff_hz:.4g} Hz leaves "
            f"{100.0 * left:.2g} %; state a rate of at most {whole / PASSED_SHARE:.3g} Hz, or a "
            f"cut-off of at least {SMALLEST_BAND_FACTOR * held:.3g} Hz"
        )
        return (line,)

    def row_noise(self, cutoff_hz: float, rate_hz: float) -> Array:
        """Return (joints,) noise of the acceleration in rows, as a part of that of the motion.

        It is 0 for joints that do not move.

        Args:
            cutoff_hz: of the position filter, in Hz, whoever states it.
            rate_hz: after decimation, in Hz, whoever states it.
        """
        passed = min(cutoff_hz, PASSED_SHARE * rate_hz)
        return np.where(self._moves, self.spectrum.acceleration_noise(passed), 0.0)

    def row_noise_warnings(self, cutoff_hz: float, rate_hz: float) -> tuple[str, ...]:
        """Say where a stated cut-off leaves more noise in rows than a derived one would.

        Args:
            cutoff_hz: of the position filter, in Hz, as it is stated.
            rate_hz: after decimation, in Hz, whoever states it.
        """
        shares = self.row_noise(cutoff_hz, rate_hz)
        joint = int(shares.argmax())
        if shares[joint] <= ROW_NOISE:
            return ()
        passed = min(cutoff_hz, PASSED_SHARE * rate_hz)
        line = (
            f"the cut-off of {cutoff_hz:.4g} Hz leaves too much noise of the positions in the "
            f"rows: below {passed:.3g} Hz it is {100.0 * shares[joint]:.2g} % of the acceleration "
            f"of {self.recordings[0].joint_names[joint]}, which shrinks inertias; up to "
            f"{self._motion.largest_cutoff(ROW_NOISE):.3g} Hz it is {100.0 * ROW_NOISE:g} %: leave "
            "the cut-off to the data, move faster, or use the method didim"
        )
        return (line,)

    def thresholds(self, cutoff_hz: float, order: int) -> Derived:
        """Return (joints,) speeds below which the Coulomb friction of a row is not reliable.

        One percent of the largest speed, since near reversal friction is not constant; at least
        five standard deviations of the velocity's noise, so that its sign is known, up to a fifth
        of the largest speed.
        """
        noise = NOISE_FACTOR * self.spectrum.velocity_noise(cutoff_hz)
        largest = self._largest_speed(cutoff_hz, order)
        share, most = SPEED_SHARE * largest, LARGEST_SPEED_SHARE * largest
        names = self.recordings[0].joint_names
        noisy = [name for name, more in zip(names, noise > share, strict=True) if more]
        reason = f"derived: {SPEED_SHARE:.0%} of the largest speed"
        if noisy:
            reason += f"; {NOISE_FACTOR:g} x noise for {', '.join(noisy)}"
        doubtful = (noise > most) & self._moves
        bounded = [name for name, less in zip(names, doubtful, strict=True) if less]
        warnings: tuple[str, ...] = ()
        if bounded:
            line = (
                f"the velocity threshold of {', '.join(bounded)} is bounded by "
                f"{LARGEST_SPEED_SHARE:.0%} of the largest speed: noise leaves the sign of the "
                "velocity open in some of the rows"
            )
            warnings = (line,)
        values = np.maximum(np.minimum(noise, most), share)
        return Derived(tuple(values.tolist()), reason, warnings)

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
