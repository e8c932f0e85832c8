"""What the stamps of joint states tell: rate, jitter, and how many samples are missing."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

_WINDOW = 1000
_ENOUGH = 8
_GAP = 1.5


class StampStatistics:
    """Period and jitter over the last thousand steps, and the samples that gaps have swallowed.

    Args:
        rate: rate at which samples are sent, Hz; 0 takes it from the stamps, as the median.
    """

    def __init__(self, rate: float = 0.0) -> None:
        self._stated = 1e9 / rate if rate > 0.0 else None
        self._steps: deque[int] = deque(maxlen=_WINDOW)
        self._uncounted: list[int] = []

    @property
    def period(self) -> float:
        """Period in ns; NaN as long as there are too few steps to tell."""
        if self._stated is not None:
            return self._stated
        return float(np.median(self._steps)) if len(self._steps) >= _ENOUGH else math.nan

    @property
    def rate(self) -> float:
        """Measured rate in Hz; NaN as long as there are too few steps to tell."""
        if len(self._steps) < _ENOUGH:
            return math.nan
        return 1e9 / float(np.median(self._steps))

    @property
    def jitter(self) -> float:
        """Standard deviation of the steps, gaps left out, as a fraction of the period."""
        if len(self._steps) < _ENOUGH:
            return math.nan
        steps = np.array(self._steps, dtype=np.float64)
        period = float(np.median(steps))
        return float(np.std(steps[steps < _GAP * period]) / period)

    def add(self, steps: list[int]) -> int:
        """Take in the steps, in ns, between samples in order; return how many samples they lack.

        The first steps are counted once there are enough of them to know the period.
        """
        self._steps.extend(steps)
        self._uncounted.extend(steps)
        period = self.period
        if math.isnan(period):
            return 0
        lost = sum(_missing(step, period) for step in self._uncounted)
        self._uncounted.clear()
        return lost

    def filled(self, before: int, after: int) -> int:
        """Return by how much the loss shrinks when a late sample splits a counted step in two."""
        period = self.period
        if math.isnan(period):
            return 0
        whole = _missing(before + after, period)
        return whole - _missing(before, period) - _missing(after, period)


def _missing(step: float, period: float) -> int:
    """Return how many samples a step lacks."""
    return round(step / period) - 1 if step > _GAP * period else 0
