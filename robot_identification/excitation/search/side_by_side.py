"""Independent searches side by side in threads, their results in order.

Compiled code and linear algebra run without Python's lock, so that threads share the work.  Each
search is made by itself: what it finds does not depend on the number of threads, to the last bit.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from robot_identification.excitation.search.optimizers import Cancelled

Item = TypeVar("Item")
Made = TypeVar("Made")


_LINEAR_ALGEBRA = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def sensible_threads() -> int:
    """Return how many searches pay at once.

    One for each core that this process may use, where the environment keeps linear algebra to one
    thread, as in commands and nodes; else one.  Threads of its own on small matrices, asked for by
    several searches at once, wait for each other for many times as long as they work.
    """
    alone = any(os.environ.get(name) == "1" for name in _LINEAR_ALGEBRA)
    return len(os.sched_getaffinity(0)) if alone else 1


def side_by_side(
    work: Callable[[Item, Cancelled], Made],
    items: Sequence[Item],
    *,
    cancelled: Cancelled | None = None,
    awaited: Callable[[Item], None] | None = None,
    threads: int | None = None,
) -> list[Made]:
    """Return what some work makes of every item, in the order of the items.

    Where the work fails for one item, it is cancelled for the others before the error is raised.

    Args:
        work: called with one item and with what it is to ask now and then whether to stop.
        items: begun in their order, each as soon as there is a thread.
        cancelled: asked now and then whether to stop, in any thread.
        awaited: told in the caller's thread which item is the first that is not done.
        threads: most threads; None: :func:`sensible_threads`.
    """
    most = min(len(items), sensible_threads() if threads is None else threads)
    asked, tell = cancelled or _never, awaited or _silent
    results = []
    if most < 2:
        for item in items:
            tell(item)
            results.append(work(item, asked))
        return results
    given_up = threading.Event()

    def over() -> bool:
        return given_up.is_set() or asked()

    with ThreadPoolExecutor(most, thread_name_prefix="search") as pool:
        waiting = [pool.submit(work, item, over) for item in items]
        try:
            for item, future in zip(items, waiting, strict=True):
                tell(item)
                results.append(future.result())
        finally:
            given_up.set()
            for future in waiting:
                future.cancel()
    return results


def _never() -> bool:
    return False


def _silent(_item: object) -> None:
    """Tell nobody."""
