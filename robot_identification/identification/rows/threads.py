"""Work on a series of items in threads, whose results are used in order.

Compiled code and NumPy's copies run without Python's lock, so that threads share the work.  Each
item is worked on by itself, and each use of the results takes them one after the other: what is
made of them does not depend on the number of threads, to the last bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Condition
from typing import Generic, TypeVar

_MOST = 2
_PAYS_FROM = 20_000
"""Samples below which waking a second thread costs more than it saves."""

Item = TypeVar("Item")
Made = TypeVar("Made")


def sensible_threads(samples: int) -> int:
    """Return how many threads pay for so many samples, before decimation: one or two.

    Two need two cores that this process may use.
    """
    return min(_MOST, len(os.sched_getaffinity(0))) if samples >= _PAYS_FROM else 1


def in_order(
    work: Callable[[Item], Made],
    items: Sequence[Item],
    uses: Sequence[Callable[[Made], None]],
    threads: int,
) -> None:
    """Do some work on every item and hand what it makes to every use.

    Args:
        work: called for one item, in any thread.
        items: what is worked on; :func:`alive` items after one, everything has been done with it.
        uses: each takes the results one at a time in the order of the items, in any thread;
            different ones work at the same time.
        threads: threads that are busy, the caller's among them.  With one thread everything
            happens in the caller's, item by item.

    Raises:
        Exception: what work or uses raise; nothing new is begun then.
    """
    if threads < 2:
        for item in items:
            made = work(item)
            for use in uses:
                use(made)
        return
    line = _Line(work, items, uses, alive(threads))
    with ThreadPoolExecutor(threads - 1, thread_name_prefix="ahead") as pool:
        others = [pool.submit(line.run) for _ in range(threads - 1)]
        line.run()
    for other in others:
        other.result()


def alive(threads: int) -> int:
    """Return how many items at most are worked on or in use at a time."""
    return 1 if threads < 2 else threads + 1


class _Line(Generic[Item, Made]):
    """Next piece of work, for any number of threads that ask."""

    def __init__(
        self,
        work: Callable[[Item], Made],
        items: Sequence[Item],
        uses: Sequence[Callable[[Made], None]],
        most: int,
    ) -> None:
        self._work, self._items, self._uses, self._most = work, items, uses, most
        self._changed = Condition()
        self._begun = 0  # items that are or were worked on
        self._made: dict[int, Made] = {}
        self._used = [0] * len(uses)  # results that each use is done with
        self._busy = [False] * len(uses)
        self._stopped = False

    def run(self) -> None:
        """Do what there is to do until everything is done, here or in other threads."""
        try:
            while (task := self._next()) is not None:
                task()
        finally:
            with self._changed:
                self._stopped = True  # everything is done, or something has failed
                self._changed.notify_all()

    def _next(self) -> Callable[[], None] | None:
        """Wait for something to do and return it; None when there is nothing any more."""
        with self._changed:
            while not self._stopped and min(self._used) < len(self._items):
                for use in sorted(range(len(self._uses)), key=self._used.__getitem__):
                    if not self._busy[use] and self._used[use] in self._made:
                        self._busy[use] = True
                        return partial(self._use, use)
                if self._begun < min(len(self._items), min(self._used) + self._most):
                    self._begun += 1
                    return partial(self._make, self._begun - 1)
                self._changed.wait()
        return None

    def _make(self, number: int) -> None:
        made = self._work(self._items[number])
        with self._changed:
            self._made[number] = made
            self._changed.notify_all()

    def _use(self, use: int) -> None:
        number = self._used[use]
        self._uses[use](self._made[number])
        with self._changed:
            self._busy[use] = False
            self._used[use] += 1
            if min(self._used) > number:
                del self._made[number]
            self._changed.notify_all()
