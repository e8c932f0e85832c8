"""Periodic recordings: one period averaged over all, and the noise that differs between them.

Positions become a Fourier series, fitted on their stamps, whose derivatives are exact; efforts are
averaged on a grid of phases (Swevers, Ganseman, Tukel, De Schutter and Van Brussel 1997).  What
repeats is signal, what differs between periods is noise: its covariance needs no model of the
robot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.errors import NotPeriodicError, SettingError
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.periodic.fourier import FourierSeries, fit_series
from robot_identification.signals.periodic.periods import (
    PeriodicMotion,
    WholePeriods,
    whole_periods,
)
from robot_identification.signals.periodic.phases import PhaseGrid, efforts_at
from robot_identification.signals.recording import Recording
from robot_identification.signals.rows import Flags

# Highest harmonic that is looked at, that can be asked for, and the part of half the sampling rate
# that it may reach.
_HIGHEST, _MOST_STATED = 100, 300
_RATE_SHARE = 0.5
# Power of a harmonic, over that of its noise, from which it is taken for motion.
_ABOVE_NOISE = 10.0
# Harmonics in which the first periods are compared with those that follow.
_COMPARED = 10
# A first period has not settled if it differs so many times more, in power, than later ones.
_UNSETTLED = 4.0
# Differences that do not matter, as parts of the spread of positions and efforts.
_SMALL_POSITION, _SMALL_EFFORT, _LEAST_STEP = 1e-5, 1e-3, 0.1


@by_value
@dataclass(frozen=True)
class AveragedPeriods:
    """A recording averaged over its periods.

    Attributes:
        motion: what was known of it.
        whole: the periods found in it; ``count`` of them are used.
        dropped: first periods left out because the motion had not settled.
        segment: one period: the series of the positions, and the mean of the efforts.
        series: the positions, with the time since ``segment.time[0]``.
        efforts: (periods, joints, samples) of every period, in N m or N; the mean of the others
            where they were lost.
        counts: (samples,) in how many periods the efforts were measured.
        covariance: (joints, joints) of the noise of a sample of the efforts.
        position_noise: (joints,) standard deviation of the noise of a sample of the positions.
    """

    motion: PeriodicMotion
    whole: WholePeriods
    dropped: int
    segment: FilteredSegment
    series: FourierSeries
    efforts: Array
    counts: npt.NDArray[np.intp]
    covariance: Array
    position_noise: Array

    @property
    def periods(self) -> int:
        """Number of periods that were averaged."""
        return len(self.efforts)

    @property
    def effective_periods(self) -> float:
        """Number of periods without losses that leave as much noise in what is filtered."""
        return _effective_periods(self.counts)

    @property
    def noise(self) -> Array:
        """(joints,) standard deviation of the noise of the mean efforts, were all phases measured.

        Those that were lost in every period have no part in what is filtered, which leaves more
        of the noise of the others.
        """
        return read_only(np.sqrt(np.diag(self.covariance) / self.effective_periods))

    def wrapped(self, samples: int) -> FilteredSegment:
        """Return the period continued to both sides, for filters that need room there.

        Args:
            samples: to each side.
        """
        one = self.segment
        numbers = np.arange(-samples, one.samples + samples)
        places = numbers % one.samples
        return FilteredSegment(
            time=one.time[0] + one.period * numbers,
            position=one.position[:, places],
            velocity=one.velocity[:, places],
            acceleration=one.acceleration[:, places],
            effort=one.effort[:, places],
            period=one.period,
            measured=None if one.measured is None else one.measured[places],
        )


def average_periods(recording: Recording, motion: PeriodicMotion) -> AveragedPeriods:
    """Average a recording over its periods.

    Args:
        recording: on the joint side, with a constant sampling period.
        motion: what is known of it.

    Raises:
        NotPeriodicError: there are not two whole periods that are alike.
        SettingError: more harmonics are asked for than the samples can tell.
    """
    segment, whole = whole_periods(recording, motion)
    grid = PhaseGrid.of(segment, recording.period, whole)
    if grid.periods_found < 2:
        where = recording.source or "recording"
        problem = "less than two whole periods are left of its longest unbroken run"
        raise NotPeriodicError(where, motion.period, None, problem)
    positions, (efforts, there) = grid.periods(segment.position), efforts_at(grid, segment)
    dropped = _unsettled(positions, _filled(efforts, there))
    there = there[dropped:]
    positions, efforts = (_filled(signal[dropped:], there) for signal in (positions, efforts))
    counts = there.sum(axis=0)
    effective = _effective_periods(counts)
    position_noise = np.sqrt(np.diag(_covariance(positions, there)))
    harmonics = _harmonics(positions.mean(axis=0), position_noise, effective, motion)
    begin = segment.time[0] + recording.period * (grid.begin + dropped * grid.length)
    if grid.is_sampled:
        # The phases of all periods are the same: the fit to all samples is that to their mean.
        phases = recording.period * np.arange(grid.count, dtype=np.float64)
        mean = positions.mean(axis=0).T
        series = fit_series(phases, mean, whole.period, harmonics, repeated=effective)
    else:
        used = grid.samples(segment, dropped)
        times = segment.time[used] - begin
        # Positions between which lost ones were bridged count for these too.
        share = effective / len(positions)
        series = fit_series(times, segment.position[used], whole.period, harmonics, repeated=share)
    time = np.arange(grid.count, dtype=np.float64) * (whole.period / grid.count)
    position, velocity, acceleration = series.sample(time)
    return AveragedPeriods(
        motion=motion,
        whole=whole,
        dropped=dropped,
        segment=FilteredSegment(
            time=begin + time,
            position=position,
            velocity=velocity,
            acceleration=acceleration,
            effort=efforts.mean(axis=0),
            period=whole.period / grid.count,
            measured=None if counts.all() else counts > 0,
        ),
        series=series,
        efforts=read_only(efforts),
        counts=counts,
        covariance=read_only(_covariance(efforts, there)),
        position_noise=read_only(position_noise),
    )


def _filled(signal: Array, there: Flags) -> Array:
    """Return a signal (periods, joints, phases) with the mean of the other periods for lost values.

    That leaves the mean of all as it is.  Phases that were lost in every period stay as they are.
    """
    flags = there[:, None]
    count = flags.sum(axis=0)
    mean = np.where(flags, signal, 0.0).sum(axis=0) / np.maximum(count, 1)
    return np.where(flags | (count == 0), signal, mean)


def _effective_periods(counts: npt.NDArray[np.intp]) -> float:
    """Return as how many periods without losses a mean over the measured ones counts.

    What is filtered leans on the phases that were measured in any period, with a share of them
    all; its noise is the mean of theirs, over that share.

    Args:
        counts: (phases,) in how many periods each was measured.
    """
    measured = counts[counts > 0]
    return float(len(measured) / len(counts) / np.mean(1.0 / measured))


def _covariance(periods: Array, there: Flags) -> Array:
    """Return the covariance of what differs between (periods, joints, samples) that were measured.

    Args:
        periods: the mean of the others where they were not.
        there: (periods, samples) where they were.
    """
    rest = np.where(there[:, None], periods - periods.mean(axis=0), 0.0)
    freedom = np.maximum(there.sum(axis=0) - 1, 0).sum()
    return np.asarray(np.einsum("pjs,pks->jk", rest, rest) / max(int(freedom), 1))


def _harmonics(
    mean: Array, noise: Array, periods: float, motion: PeriodicMotion
) -> tuple[int, ...]:
    """Return (joints,) the highest harmonic of each joint that is motion, not noise.

    A harmonic of amplitude A that is left out is missing from the acceleration, with the power
    (h w)^4 A^2 / 2; one that is kept brings the noise of its amplitude, 4 s^2 / (samples in all)
    instead of A^2.  The highest harmonic is where the sum of gains, with a margin for chance, is
    largest.

    Args:
        mean: (joints, samples) mean of the positions over the periods.
        noise: (joints,) standard deviation of one sample of one period.
        periods: number of periods, as they count where samples were lost.
        motion: says how many there are at least, or exactly.

    Raises:
        SettingError: it says of more than the samples can tell.
    """
    samples = mean.shape[1]
    limit = max(int(_RATE_SHARE * samples / 2), 1)
    if motion.harmonics is not None:
        most = min(_MOST_STATED, limit)
        if motion.harmonics > most:
            raise SettingError(
                "harmonics", motion.harmonics, f"at most {most} with {samples} samples per period"
            )
        return (motion.harmonics,) * len(mean)
    limit = min(_HIGHEST, limit)
    least = min(motion.planned_harmonics or 1, limit)
    power = np.abs(2.0 * np.fft.rfft(mean, axis=1)[:, 1 : limit + 1] / samples) ** 2
    floor = (4.0 * noise**2 / (samples * periods))[:, None]
    # Rounding of the stored numbers is noise too.
    floor = np.maximum(floor, (1e-14 * np.abs(mean).max(axis=1)[:, None]) ** 2)
    gains = np.arange(1, limit + 1) ** 4.0 * (power - _ABOVE_NOISE * floor)
    best: npt.NDArray[np.intp] = np.argmax(np.cumsum(gains, axis=1), axis=1)
    return tuple(max(1 + int(one), least) for one in best)


def _unsettled(positions: Array, efforts: Array) -> int:
    """Return how many periods at the beginning differ more from the next than later ones do.

    Periods are compared in their lowest harmonics, in which settling is slow enough to matter.
    Steady drift makes all differences alike, and is not taken for settling.
    """
    later = [
        _steps(signal, small)
        for signal, small in ((positions, _SMALL_POSITION), (efforts, _SMALL_EFFORT))
    ]
    steps = np.sum(later, axis=0)  # (periods - 1,)
    dropped = 0
    for first in range(len(steps) - 1):
        if steps[first] <= _UNSETTLED * np.median(steps[first + 1 :]):
            break
        dropped += 1
    return dropped


def _steps(periods: Array, small: float) -> Array:
    """Return (periods - 1,) the mean power of the differences to the next period."""
    low = np.fft.rfft(periods, axis=2)[:, :, : _COMPARED + 1] / periods.shape[2]
    power = (np.abs(np.diff(low, axis=0)) ** 2).mean(axis=2)
    scale = np.median(power, axis=0) + (small * periods.std(axis=(0, 2))) ** 2
    scale = np.maximum(scale, np.finfo(float).tiny)
    return np.asarray((power / scale).mean(axis=1) + _LEAST_STEP)
