"""Clocks that were set back, told from messages that overtook each other, in arrays of stamps.

Samples that come one by one are watched by :class:`.arrivals.SetbackWatch`, which has to decide at
once.
"""

from __future__ import annotations

import numpy as np

from robot_identification.errors import RecordingError
from robot_identification.signals.clock.arrivals import SETBACK_NS
from robot_identification.signals.clock.stamps import Stamps

# No message is so late that it is not from before the clock was set back.
_LARGEST_NS = 1_000_000_000
# Samples that are looked at again with those that follow: a second of them, several times.
_REMEMBERED = 32_768
# Samples whose steps tell the period, and how many there have to be in a period after a set-back:
# two, but for those that are lost.
_STEPS, _TWICE = 256, 1.5


class SetbackSearch:
    """Refuses samples whose clock was set back, some at a time, in their order of arrival.

    A clock that was set back goes on from there: its stamps rise from at least 20 ms behind the
    newest one, beside about as many that are there already, until they pass it, or end.  Samples
    that are merely late are single, or fill a gap.

    Args:
        where: where the samples came from; error messages name it.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._passed = 0
        self._known = np.zeros(0, dtype=np.int64)

    def push(self, stamps: Stamps) -> None:
        """Take in the (samples,) stamps that follow, in ns, in their order of arrival.

        Raises:
            RecordingError: the clock was set back.
        """
        self._search(np.concatenate([self._known, stamps]), last=False)

    def end(self) -> None:
        """Take note that no more stamps follow.

        Raises:
            RecordingError: the clock was set back.
        """
        self._search(self._known, last=True)

    def _search(self, stamps: Stamps, *, last: bool) -> None:
        if not len(stamps):
            return
        newest = np.maximum.accumulate(stamps)
        place = _setback(stamps, newest, last=last)
        if place is not None:
            by = float((newest - stamps)[place:].max()) / 1e9
            raise RecordingError(
                f"{self._where}: the clock was set back by {by:.3f} s before sample "
                f"{self._passed + place}; split the recording there"
            )
        first = max(len(stamps) - _REMEMBERED, 0)
        self._passed += first
        self._known = np.concatenate([newest[first : first + 1], stamps[first + 1 :]])


def _setback(stamps: Stamps, newest: Stamps, *, last: bool) -> int | None:
    """Return the place of the first sample after the clock was set back."""
    behind = newest - stamps
    found = [int(place) for place in np.flatnonzero(behind > _LARGEST_NS)[:1]]
    late = np.concatenate([[False], stamps[1:] <= newest[:-1]])
    falling = np.concatenate([[False], np.diff(stamps) < 0])
    ends = np.flatnonzero(np.concatenate([~late | falling, [True]]))
    for begin in np.flatnonzero(falling & (behind >= SETBACK_NS)).tolist():
        end = int(ends[np.searchsorted(ends, begin, side="right")])
        passes = last if end == len(stamps) else not late[end]
        if passes and _goes_on(stamps, begin, end, int(newest[begin])):
            found.append(begin)
            break
    return min(found, default=None)


def _goes_on(stamps: Stamps, begin: int, end: int, newest: int) -> bool:
    """Tell whether late samples are those of a clock that was set back.

    Args:
        stamps: in order of arrival.
        begin: place of the first late sample.
        end: place behind the last of those that rise from it.
        newest: stamp that they have to pass, where others follow.
    """
    first, highest, count = int(stamps[begin]), int(stamps[end - 1]), end - begin
    ended = end == len(stamps)
    until = highest if ended else newest
    before = stamps[0 if ended else max(begin - 4 * count, 0) : begin]
    beside = int(np.count_nonzero((before >= first) & (before < until)))
    steps = np.diff(np.unique(stamps[max(begin - _STEPS, 0) : begin]))
    if highest <= first or not len(steps):
        return False
    climbs = 2 * (highest - first) >= until - first
    twice = beside + count >= _TWICE * (until - first) / float(np.median(steps))
    return bool(climbs and twice and count <= 2 * beside <= 4 * count)
