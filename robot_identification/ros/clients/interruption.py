"""Signals of the operating system (SIGINT, SIGTERM) while a robot moves.

A signal raises KeyboardInterrupt wherever the program is.  In the middle of an executor that would
leave it unable to call anything any more, and with it the program unable to brake the robot: there
a signal waits until the executor has come back.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that interrupt a run; the last one comes when a terminal is closed."""


class _Held:
    """Whether signals wait, and whether one does."""

    now = False
    came = False


@contextmanager
def signals_held() -> Iterator[None]:
    """Let signals of :func:`signals_interrupting` wait until the block has ended.

    They come to the main thread; in others nothing is held.

    Raises:
        KeyboardInterrupt: one has come meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _Held.now = True
    try:
        yield
    finally:
        _Held.now = False
        if _Held.came:
            _Held.came = False
            raise KeyboardInterrupt


@contextmanager
def signals_ignored() -> Iterator[None]:
    """Let nothing interrupt what makes an interruption safe.

    Signals come to the main thread; in others there is nothing to ignore.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in INTERRUPTS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def signals_interrupting() -> Iterator[None]:
    """Let every signal that would end the process interrupt it as Ctrl-C does.

    One that is ignored, as under nohup, stays so.
    """
    heard = [number for number in INTERRUPTS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, _interrupt) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    if _Held.now:
        _Held.came = True
        return
    raise KeyboardInterrupt
