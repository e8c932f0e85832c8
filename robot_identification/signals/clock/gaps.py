"""Gaps between samples: recordings are split at them, and pauses are told from lost samples.

Short gaps are bridged and split nothing (:class:`.Clock`).  A long one, or one in which the robot
stood, is a pause, and nothing was lost in it.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.signals.clock.stamps import (
    BEGINNING,
    LONGEST_BRIDGED_NS,
    Clock,
    Places,
    Stamps,
)

# No middleware loses states for a second: the recorder, or the driver, was stopped.  A shorter gap
# is a pause where each joint stands behind it where it stood, to this part of its range.
_PAUSE_NS, _STANDING = 1e9, 0.01


def standing(position: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return (joints,) how far joints move that stand, from (samples, joints) positions."""
    return np.asarray(_STANDING * np.ptp(position, axis=0))


def is_pause(
    steps: Stamps, moved: npt.NDArray[np.float64], still: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """Return (steps,) in which steps between stamps nothing was lost: the recording paused.

    Args:
        steps: (steps,) in ns.
        moved: (steps, joints) by how much the joints moved in them.
        still: (joints,) from :func:`standing`.
    """
    stands = (np.abs(moved) <= still).all(axis=1)
    return np.asarray((steps >= _PAUSE_NS) | (stands & (steps > LONGEST_BRIDGED_NS)))


class Split(NamedTuple):
    """A recording split at its gaps.

    Attributes:
        clock: its clock.
        gaps: places of the stamps that follow a gap that is not bridged.
        runs: first place of every run that is long enough, and that behind the last one.
    """

    clock: Clock
    gaps: Places
    runs: list[tuple[int, int]]


def split(stamps: Stamps, fewest: int = BEGINNING, *, band_hz: float | None = None) -> Split:
    """Split a recording at its gaps.

    Where no run is long enough, there are none, and the clock knows no mean period.

    Args:
        stamps: (samples,) increasing, in ns; at least two.
        fewest: samples of a run that is long enough; with 2 there is always one.
        band_hz: frequency below which the motion lies, which says what gaps are bridged, in Hz;
            None: none is.
    """
    clock = replace(Clock.of(stamps), band_hz=band_hz)
    gaps = clock.gaps(stamps)
    edges = [0, *gaps.tolist(), len(stamps)]
    runs = [(first, last) for first, last in itertools.pairwise(edges) if last - first >= fewest]
    return Split(clock.measured(stamps, runs) if runs else clock, gaps, runs)
