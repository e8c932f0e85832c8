"""Whole periods of a recorded motion that repeats: where they are, and how long they take.

A motion repeats where the positions one period later are the same.  At rest they are the same too;
the difference is therefore measured by the spread of the positions within the period.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from robot_identification.errors import NotPeriodicError
from robot_identification.robot.arrays import Array
from robot_identification.settings import Settings, setting
from robot_identification.signals.periodic.fourier import derivative_basis
from robot_identification.signals.recording import Recording, Segment
from robot_identification.signals.spectrum import motion_spectrum

# Difference to the position one period later, as a part of the spread of the positions.  A period
# that is off by a thousandth makes 0.03 of it in the fifth harmonic.
_SAME = 0.1
# Part of a period over which these differences are averaged, against their noise.
_SMOOTHING = 0.02
# Part of the last period that may be missing, or may not repeat: the end of the run out.
_SLACK = 0.02
# Spread of the positions of a joint that moves, in standard deviations of their noise.
_MOVING = 10.0
# Deviation of the measured period from the stated one that is believed.
_BELIEVED_STD = 5.0
# Samples by which the last period may lie beside its place before a deviation matters.
PHASE_TOLERANCE = 0.02
_TRIAL_HARMONICS, _MOST_TRIAL_HARMONICS = 5, 10
_ITERATIONS = 6
# Periods that are looked for where the stated one is wrong, as multiples of it.
_SHORTEST, _LONGEST = 0.1, 2.5
# Peaks of the autocorrelation that are tried, and where around them: run-in and run-out move them.
_TRIED, _NEAR_PEAK = 10, 1.0 + 0.0025 * np.array([0, -1, 1, -2, 2, -3, 3, -4, 4])


@dataclass(frozen=True)
class PeriodicMotion(Settings):
    """Periods of a motion whose reference repeats."""

    period: float = setting("period of the motion", above=0.0, unit="s", metavar="SECONDS")
    harmonics: int | None = setting(
        "harmonics of the fitted positions; default: as many as repeat", minimum=1, metavar="N"
    )
    planned_harmonics: int | None = setting(
        "highest harmonic of the reference, where it is known", minimum=1, in_requests=False
    )
    planned_periods: int | None = setting(
        "periods of the reference, where they are known", minimum=1, in_requests=False
    )


@dataclass(frozen=True)
class WholePeriods:
    """Whole periods in a segment.

    Attributes:
        begin: where the first one begins, in samples from the start of the segment.
        count: number of periods.
        period: measured, or the stated one where that does not differ, in s.
        period_std: standard deviation of the measured one, in s.
    """

    begin: int
    count: int
    period: float
    period_std: float


def whole_periods(recording: Recording, motion: PeriodicMotion) -> tuple[Segment, WholePeriods]:
    """Return the longest unbroken run of a recording, and the whole periods in it.

    Args:
        recording: on the joint side, with a constant sampling period.
        motion: what is known of it.

    Raises:
        NotPeriodicError: the motion does not repeat, or not often enough, with that period.
    """
    where = recording.source or "recording"
    segment = max(recording.segments, key=lambda one: len(one.time))
    step, length = recording.period, len(segment.time) * recording.period
    if motion.period < 16 * step:
        raise NotPeriodicError(
            where, motion.period, None, f"a period is only {motion.period / step:.3g} samples long"
        )
    if length < 2.0 * motion.period:
        raise NotPeriodicError(
            where,
            motion.period,
            None,
            f"its longest unbroken run lasts {length:.4g} s, which is less than two periods",
        )
    moving = _MOVING * motion_spectrum([recording]).position_noise(0.5 / step)
    found = _repeating(segment.position, motion.period / step, moving)
    if found is None:
        better = _better_period(segment.position, step, motion.period, moving)
        raise NotPeriodicError(
            where,
            motion.period,
            better,
            "no two periods in a row are alike",
        )
    run, lag = found, motion.period / step
    begin = _placed(segment, lag, run)
    period, deviation = _measured_period(segment.position[begin:], step, motion, run.count)
    if abs(period - motion.period) * run.count > PHASE_TOLERANCE * step:
        lag = period / step
        run = _repeating(segment.position, lag, moving) or run
        begin = _placed(segment, lag, run)
    return segment, WholePeriods(begin, run.count, period, deviation)


@dataclass(frozen=True)
class _Run:
    """Samples whose positions are the same one period later, and how many periods these make."""

    first: int
    stop: int
    count: int


def _repeating(position: Array, lag: float, moving: Array) -> _Run | None:
    """Return where a motion repeats for longest; None where there are not two periods.

    Args:
        position: (samples, joints).
        lag: length of a period, in samples.
        moving: (joints,) spread from which a joint moves.
    """
    alike = np.concatenate([[False], _differences(position, lag, moving) < _SAME, [False]])
    runs = np.flatnonzero(np.diff(alike.astype(np.int8))).reshape(-1, 2)
    if not len(runs):
        return None
    first, stop = runs[np.argmax(runs[:, 1] - runs[:, 0])].tolist()
    count = int((stop - first) / lag + _SLACK) + 1
    return _Run(first, stop, count) if count > 1 else None


def _differences(position: Array, lag: float, moving: Array) -> Array:
    """Return (samples - lag,) how far positions one period later differ.

    It is the largest difference of a joint, as a part of its spread within the period, and infinite
    where no joint moves.
    """
    square = _one_period_later(position, lag) ** 2
    samples, whole = len(square), int(lag)
    if not samples:
        return np.full(1, np.inf)
    centred = position - position.mean(axis=0)
    sums, squares = (
        np.vstack([np.zeros(position.shape[1]), np.cumsum(values, axis=0)])
        for values in (centred, centred**2)
    )
    mean = (sums[whole : whole + samples] - sums[:samples]) / whole
    spread = (squares[whole : whole + samples] - squares[:samples]) / whole - mean**2
    moves = spread > moving**2
    smooth = scipy.ndimage.uniform_filter1d(square, max(round(_SMOOTHING * lag), 1), axis=0)
    part = np.divide(smooth, spread, out=np.zeros_like(smooth), where=moves)
    return np.where(moves.any(axis=1), np.sqrt(part.max(axis=1)), np.inf)


def _one_period_later(signal: Array, lag: float) -> Array:
    """Return (samples - lag, joints) the changes of a signal (samples, joints) within a period."""
    whole, rest = int(lag), lag - int(lag)
    samples = max(len(signal) - whole - 1, 0)
    near, far = signal[whole : whole + samples], signal[whole + 1 : whole + 1 + samples]
    return (1.0 - rest) * near + rest * far - signal[:samples]


def _placed(segment: Segment, lag: float, run: _Run) -> int:
    """Return the sample where the periods begin that differ least, in positions and efforts.

    Positions alone would let in what is left of the run-in: its accelerations, which are seen in
    the efforts, differ long before its positions do.
    """
    slack, window = round(_SLACK * lag), round((run.count - 1) * lag)
    cost = np.zeros(0)
    for signal in (segment.position, segment.effort):
        square = _one_period_later(signal, lag) ** 2
        noise = np.median(square[run.first : run.stop], axis=0)
        noise = np.maximum(noise, 1e-12 * signal.var(axis=0) + np.finfo(float).tiny)
        own = (square / noise).sum(axis=1)
        cost = own if not len(cost) else cost + own
    sums = np.concatenate([[0.0], np.cumsum(cost)])
    earliest = max(run.first - slack, 0)
    latest = max(min(run.stop - window + slack, len(cost) - window), earliest)
    starts = np.arange(earliest, latest + 1)
    ends = np.minimum(starts + window, len(cost))
    return int(starts[np.argmin(sums[ends] - sums[starts])])


def _better_period(position: Array, step: float, stated: float, moving: Array) -> float | None:
    """Return the shortest period, in s, with which the motion does repeat; None without."""
    lag = stated / step
    longest = min(_LONGEST * lag, 0.5 * len(position))
    centred = position - position.mean(axis=0)
    size = 2 * len(position)
    power = np.abs(np.fft.rfft(centred, size, axis=0)) ** 2
    correlation = np.fft.irfft(power, axis=0)[: int(longest) + 2]
    correlation /= (len(position) - np.arange(len(correlation)))[:, None]
    variance = np.maximum(correlation[0], np.finfo(float).tiny)
    level = (correlation / variance)[:, centred.std(axis=0) > moving].min(axis=1, initial=1.0)
    inner = np.arange(max(int(_SHORTEST * lag), 1), len(level) - 1)
    peaks = inner[(level[inner] >= level[inner - 1]) & (level[inner] > level[inner + 1])]
    for peak in sorted(peaks[np.argsort(level[peaks])[::-1][:_TRIED]]):
        for near in peak * _NEAR_PEAK:
            found = _repeating(position, near, moving)
            if found is not None:
                motion = PeriodicMotion(near * step)
                return _measured_period(position[found.first :], step, motion, found.count)[0]
    return None


def _measured_period(
    position: Array, step: float, motion: PeriodicMotion, count: int
) -> tuple[float, float]:
    """Return the period of the positions and its standard deviation, in s.

    With the series fitted, a change dT of the period changes the positions by -(t / T) qd dT:
    Gauss-Newton on the period, first with two periods, which forgive more, then with all.

    Args:
        position: (samples, joints) from the begin of the first period on.
        step: sampling period in s.
        motion: what is known of it.
        count: number of periods.
    """
    period, deviation = motion.period, float("inf")
    # The run-in may reach into the first period by that much, and the run-out into the last one.
    position = position[round(_SLACK * period / step) :]
    harmonics = motion.planned_harmonics or motion.harmonics or _TRIAL_HARMONICS
    harmonics = min(harmonics, _MOST_TRIAL_HARMONICS, int(motion.period / step) // 4)
    for periods in sorted({2, count}):
        for _ in range(_ITERATIONS):
            samples = min(round((periods - 2 * _SLACK) * period / step), len(position))
            change, deviation = _correction(position[:samples], step, period, harmonics)
            period += change
            if abs(change) < 0.01 * deviation or abs(period / motion.period - 1.0) > _SLACK:
                break
    believed = abs(period - motion.period) > _BELIEVED_STD * deviation
    matters = abs(period - motion.period) * count > PHASE_TOLERANCE * step
    near = abs(period / motion.period - 1.0) < _SLACK
    return (period if believed and matters and near else motion.period), deviation


def _correction(position: Array, step: float, period: float, harmonics: int) -> tuple[float, float]:
    """Return one step of Gauss-Newton on the period, and its standard deviation, in s."""
    time = step * np.arange(len(position), dtype=np.float64)
    basis, rate, _ = derivative_basis(time, period, harmonics)
    orthogonal, triangle = np.linalg.qr(basis)
    projected = orthogonal.T @ position
    rest = position - orthogonal @ projected
    velocity = rate @ np.linalg.solve(triangle, projected)
    slope = -((time - time.mean()) / period)[:, None] * velocity
    slope -= orthogonal @ (orthogonal.T @ slope)
    weight = 1.0 / np.maximum(
        np.mean(rest**2, axis=0), 1e-20 * np.mean(position**2, axis=0) + 1e-30
    )
    information = float((weight * slope**2).sum())
    if information <= 0.0:
        return 0.0, float("inf")
    return float((weight * slope * rest).sum()) / information, information**-0.5
