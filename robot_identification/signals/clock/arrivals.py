"""Order of samples that arrive one by one, by their stamps, and clocks that are set back.

Arrays are put in order by :mod:`robot_identification.signals.clock.stamps`; the rule is the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from enum import Enum
from typing import Generic, Protocol, TypeVar

from robot_identification.signals.clock.stamps import Stamps

SETBACK_NS = 20_000_000
"""Messages overtake each other by milliseconds; a clock that is set back goes further."""
_REMEMBERED = 4096
"""Stamps among which late ones are looked for: seconds of a quick driver."""
_LATEST_BLOCK_NS = 500_000_000  # by which no block of samples is late, whatever holds it up

T = TypeVar("T")


class Arrival(Enum):
    """Treatment of a value that arrives."""

    NEWEST = "newest"
    """It comes behind all others."""
    LATE = "late"
    """It is older than one before it, and finds its place."""
    DUPLICATE = "duplicate"
    """Another has the same stamp; it is dropped."""
    PASSED = "passed"
    """Its place has been handed on already; it is dropped."""


class Arrivals(Generic[T]):
    """Values that arrive one by one, in the order of their stamps.

    It is that of :func:`~robot_identification.signals.clock.stamps.in_order`.

    Attributes:
        stamps: those of the values that wait, in order, in ns.
        passed: the last stamps whose places were handed on, in order.

    Args:
        remembered: number of these stamps, at least one.
    """

    def __init__(self, remembered: int = 1) -> None:
        self.stamps: list[int] = []
        self.passed: list[int] = []
        self._values: list[T] = []
        self._remembered = remembered

    @property
    def values(self) -> Sequence[T]:
        """The values that wait, in order."""
        return self._values

    def add(self, stamp: int, value: T) -> Arrival:
        """Take in a value with its stamp in ns."""
        behind = bool(self.passed) and stamp <= self.passed[-1]
        known = self.passed if behind else self.stamps
        place = bisect_left(known, stamp)
        if place < len(known) and known[place] == stamp:
            return Arrival.DUPLICATE
        if behind:
            return Arrival.PASSED
        known.insert(place, stamp)
        self._values.insert(place, value)
        return Arrival.NEWEST if place == len(known) - 1 else Arrival.LATE

    def until(self, stamp: int) -> int:
        """Return how many values are stamped at or before a stamp in ns."""
        return bisect_right(self.stamps, stamp)

    def take(self, count: int) -> list[T]:
        """Hand on the oldest values."""
        taken = self._values[:count]
        self.passed = [*self.passed, *self.stamps[:count]][-self._remembered :]
        del self.stamps[:count], self._values[:count]
        return taken

    def fill(self, stamp: int) -> tuple[int, int]:
        """Remember the stamp of a value whose place was handed on without it.

        Returns:
            The steps to the stamps before and behind it, in ns; zeros where what stood before it is
            forgotten.
        """
        place = bisect_left(self.passed, stamp)
        if place == 0:
            return 0, 0
        steps = stamp - self.passed[place - 1], self.passed[place] - stamp
        self.passed.insert(place, stamp)
        return steps


class Stamped(Protocol):
    """Anything with a stamp."""

    @property
    def stamp(self) -> int:
        """Stamp in ns."""


S = TypeVar("S", bound=Stamped)


class SetbackWatch(Generic[S]):
    """Tells a clock that was set back from messages that overtook each other.

    What is far behind the newest one is held until the next one comes.  Where that one lies far
    behind too, and after the one that is held, the clock was set back: its stamps are those of
    times that have been told already.  Otherwise the held one is merely late, and so are several
    that come in their order and fill a gap.
    """

    def __init__(self) -> None:
        self._known: list[int] = []  # the latest stamps, in order
        self._held: S | None = None

    def take(self, arrived: S) -> tuple[list[S], bool]:
        """Take in what has come; return what to keep now, and whether the clock is set back."""
        stamp = arrived.stamp
        if not self._known or stamp > self._known[-1] - SETBACK_NS:
            kept = [*self.release(), arrived]
            self._remember(kept)
            return kept, False
        held = self.release()
        if held and held[0].stamp < stamp and not self._fill_a_gap(held[0].stamp, stamp):
            self._known = [held[0].stamp, stamp]
            return [*held, arrived], True
        self._remember(held)
        self._held = arrived
        return held, False

    def release(self) -> list[S]:
        """Return what is held, if there is something, and hold it no longer."""
        held = [] if self._held is None else [self._held]
        self._held = None
        return held

    def _fill_a_gap(self, first: int, last: int) -> bool:
        """Tell whether nothing that is remembered has a stamp from the first to the last."""
        place = bisect_left(self._known, first)
        return 0 < place and self._known[place] > last

    def _remember(self, kept: Sequence[S]) -> None:
        for one in kept:
            insort(self._known, one.stamp)
        if len(self._known) > 2 * _REMEMBERED:
            del self._known[:_REMEMBERED]


class BlockClock:
    """Tells of samples that come in blocks whether their clock was set back.

    So it was where a block begins far behind the newest stamp; one stamp far ahead, which makes
    all that follow it seem late, is forgotten in the same way.
    """

    def __init__(self) -> None:
        self._newest: int | None = None

    def set_back(self, stamps: Stamps) -> bool:
        """Take in the (samples,) stamps of a block in ns; tell whether the clock was set back."""
        if not len(stamps):
            return False
        newest = int(stamps.max())
        back = self._newest is not None and int(stamps[0]) < self._newest - _LATEST_BLOCK_NS
        self._newest = newest if back or self._newest is None else max(newest, self._newest)
        return back
