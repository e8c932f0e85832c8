"""Means of external efforts over time, each sample as much as it is known."""

from __future__ import annotations

import math

import numpy as np

from robot_identification.dynamics.external_efforts.levels import JudgedEfforts
from robot_identification.dynamics.tree import Floats

_LEAST = 1e-9  # N m or N, deviation of what has no noise


class SettledMean:
    """Mean of an effort, weighted with the inverse variance of its samples.

    Friction hides what acts on a joint that turns round or stands: those samples count little.
    Noise behind the filters of the observer is independent after two time constants, while the
    lasting share of the variance is not smaller for any duration.

    Args:
        time_constant: of the observer, in s.
    """

    def __init__(self, time_constant: float) -> None:
        self._independent = 2.0 * time_constant
        self._time, self._weight, self._sum, self._lasting = 0.0, 0.0, 0.0, 0.0

    def add(self, interval: Floats, effort: Floats, deviation: Floats, lasting: Floats) -> None:
        """Take in samples of a joint, (samples,) each, as :class:`.JudgedEfforts` has them."""
        weight = interval / np.maximum(deviation, _LEAST) ** 2
        self._time += float(interval.sum())
        self._weight += float(weight.sum())
        self._sum += float(weight @ effort)
        self._lasting += float(weight @ lasting)

    @property
    def value(self) -> tuple[float, float]:
        """The mean and its standard deviation; NaN and infinite without samples."""
        if not self._weight > 0.0:
            return math.nan, math.inf
        lasting = self._lasting / self._weight
        short = min(1.0, self._independent / self._time)
        variance = self._time / self._weight * (lasting + (1.0 - lasting) * short)
        return self._sum / self._weight, math.sqrt(variance)


def mean_efforts(
    judged: JudgedEfforts, begin: int, end: int, time_constant: float
) -> tuple[Floats, Floats]:
    """Return means of all joints from one stamp to another, and their standard deviations.

    Args:
        judged: efforts.
        begin: first stamp in ns.
        end: last stamp in ns.
        time_constant: of the observer, in s.

    Returns:
        (joints,) means, NaN where there are no samples; (joints,) deviations, infinite there.
    """
    inside = (judged.stamps >= begin) & (judged.stamps <= end) & (judged.interval > 0.0)
    found = []
    for column in zip(
        judged.effort[inside].T, judged.deviation[inside].T, judged.lasting[inside].T, strict=True
    ):
        mean = SettledMean(time_constant)
        mean.add(judged.interval[inside], *column)
        found.append(mean.value)
    means, deviations = np.array(found).reshape(-1, 2).T
    return means, deviations
