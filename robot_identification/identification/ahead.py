"""Work on a series of items in threads, its results taken in order.

Compiled code and NumPy's copies run without Python's lock, so that threads share the work.  Each
item is worked on by itself and results are taken one after the other: what is made of them does
not depend on the number of threads, to the last bit.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_MOST = 2

Item = TypeVar("Item")
Made = TypeVar("Made")


def sensible_threads() -> int:
    """Return how many threads pay on the cores that this process may use: one or two.

    One thread makes rows, the other folds them, which takes about as long; more would wait.
    """
    return min(_MOST, len(os.sched_getaffinity(0)))


def in_order(work: Callable[[Item], Made], items: Iterable[Item], threads: int) -> Iterator[Made]:
    """Yield what some work makes of every item, in the order of the items.

    Args:
        work: called for one item, in any thread.
        items: taken one at a time.
        threads: threads that are busy, the caller's among them: while it uses a result, the others
            work on the next items, one each.  With one thread everything happens in the caller's.
    """
    if threads < 2:
        yield from map(work, items)
        return
    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(threads - 1, thread_name_prefix="ahead") as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > threads - 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
