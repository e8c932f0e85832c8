"""Processes that end with the one that has started them, however that ends."""

from __future__ import annotations

import os
import threading
import time

_LOOKED_EVERY = 1.0


def end_with(parent: int) -> None:
    """Have this process end when its parent is gone: one that was killed ends nothing itself.

    Args:
        parent: number of the process that has started this one.
    """
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOKED_EVERY)
    os._exit(1)
