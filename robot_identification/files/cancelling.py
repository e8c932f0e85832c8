"""Cancellation of the reading of long files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from robot_identification.errors import CancelledError

Cancelled = Callable[[], bool]
Item = TypeVar("Item")

_EVERY = 1024


def give_up_if(cancelled: Cancelled | None) -> None:
    """Give up reading where ``cancelled`` says so.

    Raises:
        CancelledError: it does.
    """
    if cancelled is not None and cancelled():
        raise CancelledError("cancelled while reading a bag")


def until_cancelled(items: Iterable[Item], cancelled: Cancelled | None) -> Iterator[Item]:
    """Yield many small items, and ask now and then whether to give up.

    Raises:
        CancelledError: ``cancelled`` says so.
    """
    for number, item in enumerate(items):
        if number % _EVERY == 0:
            give_up_if(cancelled)
        yield item
