"""Compilation of numerical code by Numba, and its cache for the next process.

Numba keeps the code of a function in files that bear the function's name, and trusts them as long
as the source file of the function stays the same.  Functions of other files become part of that
code, though; where only one of those has changed, or an option, the code would be that of
yesterday.  The names under which code is kept here therefore end with a digest of every file of
compiled functions, ``*kernels.py`` and all below folders ``kernels``, and of the one that says how
they are compiled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

IN_ANY_ORDER = {"contract", "nsz", "reassoc"}
"""Value of ``fastmath`` for sums that may be taken in any order; NaN and inf stay what they are."""
BARE: dict[str, Any] = {"fastmath": IN_ANY_ORDER, "_nrt": False}
"""Options of functions that make no arrays: to count references to what they are given, views above
all, can take half of their time."""
INLINED: dict[str, Any] = {**BARE, "forceinline": True}
"""The same as parts of their caller: they need not be handed what describes every array either."""

_SOURCES = ("*kernels.py", "kernels/**/*.py", "compiled.py")


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that has a function compiled at its first call.

    The code is kept, runs without Python's lock, and divides by zero as NumPy does.  It may only be
    used in files whose names end with ``kernels.py`` and below folders ``kernels``.

    Args:
        options: more options of ``numba.njit``.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        function.__qualname__ = f"{function.__qualname__}_{_digest()}"
        return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)

    return decorate


def as_compiled(*signals: npt.ArrayLike) -> list[npt.NDArray[np.float64]]:
    """Return arrays of the kind that compiled functions are compiled for: contiguous and writable.

    For arrays of another kind, such as the read-only ones of a recording, Numba would compile a
    function once more, which takes seconds.  Arrays of that kind are not copied.

    Args:
        signals: arrays of any shapes.
    """
    return [np.require(signal, np.float64, ["C", "W"]) for signal in signals]


@cache
def _digest() -> str:
    """Return twelve hexadecimal digits that stand for all that is compiled."""
    package = Path(__file__).parent
    sources = hashlib.sha256()
    for pattern in _SOURCES:
        for path in sorted(package.rglob(pattern)):
            sources.update(path.read_bytes())
    return sources.hexdigest()[:12]
