"""Whether a memory grows: its slope, an upper bound of it, and what could have been seen.

Samples of a memory every few seconds are anything but independent, so that a regression over all
of them would promise far too much.  The slope is fitted to medians of a few long blocks; where the
residuals of these still resemble their neighbours, the standard error is raised as for a
first-order autoregression.  Medians, because a sample now and then catches what is in use for a few
milliseconds; what stays in use moves the median.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import linregress, t

BLOCKS = 10


@dataclass(frozen=True)
class Trend:
    """A slope per hour.

    Attributes:
        slope: least squares over the block medians.
        upper: its upper bound, one-sided, at 95 %.
        resolution: smallest slope that would have been told from none, two-sided, at 95 %.
        autocorrelation: of neighbouring residuals of the block medians.
        change: last block median less the first.
    """

    slope: float
    upper: float
    resolution: float
    autocorrelation: float
    change: float


def trend(hours: npt.ArrayLike, values: npt.ArrayLike, blocks: int = BLOCKS) -> Trend:
    """Return the trend of values.

    Args:
        hours: (samples,) times in h, rising.
        values: (samples,).
        blocks: number of blocks that are averaged over, at least 4.
    """
    times = np.array([part.mean() for part in np.array_split(np.asarray(hours), blocks)])
    medians = np.array([np.median(part) for part in np.array_split(np.asarray(values), blocks)])
    fit = linregress(times, medians)
    residuals = medians - fit.intercept - fit.slope * times
    power = float(residuals @ residuals)
    alike = float(residuals[1:] @ residuals[:-1]) / power if power > 0.0 else 0.0
    spread = np.sqrt((1.0 + max(alike, 0.0)) / (1.0 - max(alike, 0.0)))
    error = float(fit.stderr) * spread if power > 0.0 else 0.0  # a constant has no error
    return Trend(
        slope=float(fit.slope),
        upper=float(fit.slope + t.ppf(0.95, blocks - 2) * error),
        resolution=float(t.ppf(0.975, blocks - 2) * error),
        autocorrelation=alike,
        change=float(medians[-1] - medians[0]),
    )
