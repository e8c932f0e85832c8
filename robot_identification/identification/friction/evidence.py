"""Statistical evidence for a friction term, from estimates and errors without each block.

Estimates without each block agree where a parameter is told by the data; their deviation is that of
the jackknife (B. Efron, *The Jackknife, the Bootstrap and Other Resampling Plans*, 1982, ch. 3),
which knows coloured residuals.  Ratios to it follow Student's t, with one degree of freedom less
than there are blocks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtr, stdtrit

from robot_identification.robot.arrays import Array

LEVEL = 0.05
"""Chance with which something is chosen that is not there; divided among what is tried."""

_SURE = 1e-4
"""Probability below which smaller ones say no more, so that no joint speaks for all others."""


def critical_value(freedoms: int, level: float) -> float:
    """Return the value that Student's t exceeds in size with a probability.

    Args:
        freedoms: degrees of freedom.
        level: the probability.
    """
    return float(stdtrit(freedoms, 1.0 - level / 2.0))


def jackknife_ratio(values: Array) -> Array:
    """Return estimates over their deviations.

    Args:
        values: (blocks, ...) estimates without each block.
    """
    count, mean = len(values), values.mean(axis=0)
    spread = np.sqrt((count - 1) / count * np.sum((values - mean) ** 2, axis=0))
    found: Array = mean / np.maximum(spread, np.finfo(float).tiny)
    return found


def joint_evidence(ratios: Array, freedoms: int, *, one_sided: npt.ArrayLike) -> float:
    """Return the standard normal score of several estimates, all zero by hypothesis.

    The scores of each are summed (S. A. Stouffer et al., *The American Soldier* I, 1949, p. 45).

    Args:
        ratios: (estimates,) values over their deviations.
        freedoms: of each deviation.
        one_sided: whether only values above zero speak against the hypothesis.
    """
    beyond = stdtr(freedoms, np.where(one_sided, -ratios, -np.abs(ratios)))
    chance = np.where(one_sided, beyond, 2.0 * beyond)
    scores = -ndtri(np.clip(chance, _SURE, 1.0 - _SURE))
    return float(scores.sum() / np.sqrt(len(scores)))


def critical_score(level: float) -> float:
    """Return the value that a standard normal score exceeds with a probability.

    Args:
        level: the probability.
    """
    return float(-ndtri(level))


def fall_and_error(before: Array, after: Array) -> tuple[Array, Array]:
    """Return the fall of sums over blocks, and its standard error.

    Args:
        before: (blocks, ...) what is summed.
        after: (blocks, ...) the same, lower where the sum falls.
    """
    fall = before - after
    return np.asarray(fall.sum(axis=0)), np.sqrt(len(fall)) * fall.std(axis=0, ddof=1)
