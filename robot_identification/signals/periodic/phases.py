"""Signals of a periodic recording at the same phases of all periods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.robot.arrays import Array
from robot_identification.signals.periodic.periods import PHASE_TOLERANCE, WholePeriods
from robot_identification.signals.recording import Segment
from robot_identification.signals.rows import LEAST_SHARE, Flags

# Interpolation between samples: Kaiser window of a sinc function.
_HALF_WIDTH, _SHAPE = 16, 8.0


@dataclass(frozen=True)
class PhaseGrid:
    """The same phases in every period.

    Attributes:
        begin: sample where the first period begins.
        length: of a period in samples, as sampled.
        count: phases per period.
        periods_found: number of periods.
    """

    begin: int
    length: float
    count: int
    periods_found: int

    @classmethod
    def of(cls, segment: Segment, step: float, whole: WholePeriods) -> PhaseGrid:
        """Return the grid of the samples themselves where periods are whole numbers of them."""
        length, count = whole.period / step, whole.count
        nearest = round(length)
        if abs(length - nearest) * count < PHASE_TOLERANCE:
            begin = min(whole.begin, len(segment.time) - count * nearest)
            if begin >= 0:
                return cls(begin, float(nearest), nearest, count)
            count -= 1
            return cls(whole.begin, float(nearest), nearest, count)
        # Between samples one interpolates, which needs some of them to both sides.
        last = len(segment.time) - 1 - _HALF_WIDTH
        begin = max(min(whole.begin, int(last - count * length)), _HALF_WIDTH)
        count = min(count, int((last - begin) / length))
        return cls(begin, length, int(length), count)

    @property
    def is_sampled(self) -> bool:
        """Whether the phases are those of samples."""
        return self.length == self.count

    def periods(self, signal: Array) -> Array:
        """Return (periods, joints, phases) a signal (samples, joints) at the phases."""
        joints = signal.shape[1]
        if self.is_sampled:
            own = signal[self.begin : self.begin + self.periods_found * self.count]
        else:
            phases = np.arange(self.periods_found * self.count, dtype=np.float64) * (
                self.length / self.count
            )
            own = between_samples(signal, self.begin + phases)
        return np.ascontiguousarray(
            own.reshape(self.periods_found, self.count, joints).transpose(0, 2, 1)
        )

    def samples(self, segment: Segment, dropped: int) -> slice:
        """Return the samples of whole periods after those that are dropped."""
        first = self.begin + int(np.ceil(dropped * self.length))
        last = self.begin + round(self.periods_found * self.length)
        return slice(first, min(last, len(segment.time)))


def efforts_at(grid: PhaseGrid, segment: Segment) -> tuple[Array, Flags]:
    """Return (periods, joints, phases) the efforts, and (periods, phases) where they were measured.

    Elsewhere, where too few samples around the phase were measured, they are what they were bridged
    with.
    """
    efforts = grid.periods(segment.effort)
    if segment.measured is None:
        return efforts, np.ones((len(efforts), grid.count), dtype=np.bool_)
    measured = segment.measured[:, None].astype(np.float64)
    shares = grid.periods(measured)
    found = grid.periods(segment.effort * measured) / np.maximum(shares, LEAST_SHARE)
    there = shares >= LEAST_SHARE
    return np.where(there, found, efforts), there[:, 0]


def between_samples(signal: Array, places: Array) -> Array:
    """Interpolate a band-limited signal by a windowed sinc function.

    White noise keeps its density over nine tenths of the band, which polynomials would reduce.

    Args:
        signal: (samples, joints).
        places: (instants,) in samples, 16 or more from both ends.

    Returns:
        (instants, joints).
    """
    whole = np.floor(places).astype(np.intp)
    offsets = np.arange(1 - _HALF_WIDTH, _HALF_WIDTH + 1)
    distance = (places - whole)[:, None] - offsets
    window = np.i0(_SHAPE * np.sqrt(np.maximum(1.0 - (distance / _HALF_WIDTH) ** 2, 0.0)))
    weights = np.sinc(distance) * window
    weights /= weights.sum(axis=1, keepdims=True)
    result = np.zeros((len(places), signal.shape[1]))
    for place, offset in enumerate(offsets):
        result += weights[:, place, None] * signal[whole + offset]
    return result
