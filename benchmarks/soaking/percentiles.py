"""Percentiles of times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def percentiles(seconds: npt.ArrayLike) -> dict[str, float]:
    """Return median, 99th and 99.9th percentile and the largest of times, in s.

    Args:
        seconds: (times,) in s, at least one.
    """
    values = np.sort(np.asarray(seconds, dtype=np.float64))
    if not len(values):
        return {}
    places = {"median": 0.5, "p99": 0.99, "p99_9": 0.999, "largest": 1.0}
    return {name: float(np.quantile(values, share)) for name, share in places.items()}
