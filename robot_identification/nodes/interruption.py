"""Signals during something that must not be left half done: a robot that moves."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that interrupt a run; the last one comes when a terminal is closed."""


@contextmanager
def signals_ignored() -> Iterator[None]:
    """Let nothing interrupt what makes an interruption safe."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in INTERRUPTS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def signals_interrupting() -> Iterator[None]:
    """Let every signal that would end the process interrupt it as Ctrl-C does."""
    before = {number: signal.signal(number, _interrupt) for number in INTERRUPTS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
