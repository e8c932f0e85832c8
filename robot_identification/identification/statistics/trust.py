"""Trust in identified parameters: one verdict, good, weak or not identified, on each of them.

Console, reports, services, files and ``--json`` take a verdict from here; it goes by the larger of
both standard deviations.
"""

from __future__ import annotations

from enum import Enum

import numpy as np
import numpy.typing as npt

from robot_identification.identification.estimators.least_squares import Estimate

GOOD_BELOW = 0.05
WEAK_BELOW = 0.30
"""Relative standard deviations; a parameter beyond the second cannot be trusted alone."""


class Reliability(Enum):
    """The verdict on a base parameter."""

    GOOD = "good"
    WEAK = "weak"
    NOT_IDENTIFIED = "not identified by this motion"
    REMOVED = "removed as not essential"

    @property
    def short(self) -> str:
        """The verdict in a word or two, for tables."""
        return self.value.removesuffix(" by this motion").removesuffix(" as not essential")


def verdicts_of(
    estimate: Estimate, kept: npt.NDArray[np.bool_] | None = None
) -> tuple[Reliability, ...]:
    """Return the verdict on every parameter of an estimate.

    ``GOOD``: known to better than 5 % (one standard deviation, the larger where there are two).
    ``WEAK``: to better than 30 %.  ``NOT_IDENTIFIED``: worse, or there are no more rows than
    parameters, which leaves no residual to take deviations from.  ``REMOVED``: the effort can do
    without it (Gautier and Venture 2013, section III), and it was set to zero.

    Args:
        estimate: values and standard deviations.
        kept: (parameters,) which of them are essential; None: all.
    """
    sizes, deviations = np.abs(estimate.values), estimate.larger_std
    known = sizes > 0.0 if estimate.freedom > 0 else np.zeros(len(sizes), dtype=bool)
    found = []
    for i, (size, deviation) in enumerate(zip(sizes, deviations, strict=True)):
        if kept is not None and not kept[i]:
            found.append(Reliability.REMOVED)
        elif known[i] and deviation <= GOOD_BELOW * size:
            found.append(Reliability.GOOD)
        elif known[i] and deviation <= WEAK_BELOW * size:
            found.append(Reliability.WEAK)
        else:
            found.append(Reliability.NOT_IDENTIFIED)
    return tuple(found)
