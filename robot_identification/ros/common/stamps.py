"""Statistics of the stamps of joint states: rate, jitter, missing samples."""

from __future__ import annotations

import itertools
import math
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence

import numpy as np

from robot_identification.signals.clock.arrivals import SETBACK_NS
from robot_identification.signals.clock.stamps import Clock

_PATIENCE = 10.0
"""Time in s.  Fast DDS sends the end of what a stalled reader missed with a heartbeat, every 3 s,
and what does not fit into its buffers with the next one."""

_MOST_AT_ONCE = 1.0
"""Time in s that counts at most between two questions; in more this process stood still."""


class GracePeriod:
    """Tells whether more of a stream is due: as long as it comes, and some seconds longer.

    While this process stands still nothing can come, so that time does not count; what has come
    meanwhile is handled after it.
    """

    def __init__(self) -> None:
        self._left = 0.0
        self._asked = time.monotonic()

    def renew(self) -> None:
        """Note that something has come, or is about to."""
        self._left = _PATIENCE
        self._asked = time.monotonic()

    def active(self) -> bool:
        """Tell whether more is due; to be asked often."""
        now = time.monotonic()
        self._left -= min(now - self._asked, _MOST_AT_ONCE)
        self._asked = now
        return self._left > 0.0


_WINDOW = 1000
_ENOUGH = 8


class StampStatistics:
    """Period and jitter over the last thousand steps, and the samples that gaps have swallowed.

    Args:
        rate: rate at which samples are sent, Hz; 0 takes it from the stamps, as the median.
    """

    def __init__(self, rate: float = 0.0) -> None:
        self._stated = Clock(1e9 / rate) if rate > 0.0 else None
        self._steps: deque[int] = deque(maxlen=_WINDOW)
        self._uncounted: list[int] = []
        self._newest: int | None = None  # of the stamps that were taken in

    @property
    def period(self) -> float:
        """Period in ns; NaN as long as there are too few steps to tell."""
        clock = self._stated or self._measured()
        return math.nan if clock is None else clock.nominal_ns

    @property
    def rate(self) -> float:
        """Measured rate in Hz; NaN as long as there are too few steps to tell."""
        clock = self._measured()
        return math.nan if clock is None else 1e9 / clock.nominal_ns

    @property
    def jitter(self) -> float:
        """Standard deviation of the steps, gaps left out, as a fraction of the period."""
        clock = self._measured()
        if clock is None:
            return math.nan
        steps = np.array(self._steps, dtype=np.float64)
        return float(np.std(steps[~clock.is_gap(steps)]) / clock.nominal_ns)

    def _measured(self) -> Clock | None:
        return Clock.of_steps(np.array(self._steps)) if len(self._steps) >= _ENOUGH else None

    def add(self, steps: list[int]) -> int:
        """Take in the steps, in ns, between samples in order; return how many samples they lack.

        The first steps are counted once there are enough of them to know the period.
        """
        self._steps.extend(steps)
        self._uncounted.extend(steps)
        clock = self._stated or self._measured()
        if clock is None:
            return 0
        lost = clock.missing(self._uncounted)
        self._uncounted.clear()
        return lost

    def between(self, stamps: Sequence[int]) -> int:
        """Take in stamps in order of arrival; return how many samples lie between them.

        Those that overtook each other are put in order; a clock that was set back makes no step.
        What was handed over already makes none either.
        """
        steps: list[int] = []
        run = [] if self._newest is None else [self._newest]
        for stamp in stamps:
            if run and stamp <= run[-1] - SETBACK_NS:
                steps += _steps_of(run)
                run = []
            place = bisect_left(run, stamp)
            if place == len(run):
                run.append(stamp)
            elif place and run[place] != stamp:  # before the first one nothing is known
                run.insert(place, stamp)
        self._newest = run[-1] if run else None
        return self.add([*steps, *_steps_of(run)])

    def filled(self, before: int, after: int) -> int:
        """Return by how much the loss shrinks when a late sample splits a counted step in two."""
        clock = self._stated or self._measured()
        if clock is None:
            return 0
        return clock.missing([before + after]) - clock.missing([before, after])


def _steps_of(rising: Sequence[int]) -> list[int]:
    return [after - before for before, after in itertools.pairwise(rising)]
