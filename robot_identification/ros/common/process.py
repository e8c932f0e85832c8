"""Start and end of a node as a process: signals, errors, exit code."""

from __future__ import annotations

import atexit
import faulthandler
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import rclpy
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from robot_identification.errors import InputError, ResultRefusedError
from robot_identification.ros.clients.interruption import INTERRUPTS
from robot_identification.ros.common import qos
from robot_identification.ros.common.answers import KeptAnswers
from robot_identification.ros.common.executors import NodeExecutor
from robot_identification.ros.common.middleware import use_own_profiles

BAD_INPUT = 2
REFUSED = 3
_REPEATED_WITHIN = 3.0
_STDERR = 2  # of the process, whatever took the place of sys.stderr
_END_WITHIN = 30.0
"""Time in s in which what ROS holds of a process that ends is destroyed."""

_WRONG_ARGUMENTS = (
    rclpy_implementation.RCLError,  # a parameter file that cannot be read, for example
    rclpy_implementation.RCLInvalidROSArgsError,
    rclpy_implementation.UnknownROSArgsError,
)


def run(
    make: Callable[[], Node],
    arguments: Sequence[str] | None = None,
    *,
    name: str,
    finish: Callable[[Node], None] | None = None,
    made: Callable[[Node], None] = qos.refuse_unused_overrides,
    make_executor: Callable[[], Executor] = NodeExecutor,
) -> int:
    """Make a node, run it until SIGINT, SIGTERM or SIGHUP, and return the exit code.

    By default callbacks run one after another in one thread: at sample rates that loses nothing.
    While the node is being made a signal ends the process at once: nothing moves yet.  After that
    it ends in order, as :class:`EndRequest` says.

    Args:
        make: makes the node; an InputError that it raises is logged and ends the process with
            exit code 2, as a refused result ends it with 3, whenever it comes.
        arguments: command line, by default that of the process.
        name: name by which errors are logged before the node exists.
        finish: called with the node before it is destroyed; it can still publish.
        made: called with the node when it is made, and may raise as ``make``; by default it looks
            whether all has been taken up that was given.
        make_executor: makes the executor.
    """
    _handle_signals(signal.SIG_DFL)
    use_own_profiles()
    try:
        rclpy.init(
            args=list(sys.argv if arguments is None else arguments),
            signal_handler_options=SignalHandlerOptions.NO,
        )
    except _WRONG_ARGUMENTS as error:
        get_logger(name).fatal(" ".join(str(error).split()))
        return BAD_INPUT
    try:
        _run_until_asked_to_end(make, finish, made, make_executor)
    except ExternalShutdownException:
        pass
    except (InputError, ResultRefusedError) as error:
        get_logger(name).fatal(str(error))
        return BAD_INPUT if isinstance(error, InputError) else REFUSED
    finally:
        faulthandler.cancel_dump_traceback_later()
        atexit.register(_end_for_certain)  # the interpreter destroys what is left
    return 0


def _run_until_asked_to_end(
    make: Callable[[], Node],
    finish: Callable[[Node], None] | None,
    made: Callable[[Node], None],
    make_executor: Callable[[], Executor],
) -> None:
    """Make a node, run it until a signal comes, and destroy it.

    Executors hold publishers and the like of their node: the node is gone for good when this has
    returned, and the timer of :func:`_end_for_certain` runs until then.
    """
    node: Node | None = None
    try:
        node = make()
        made(node)
        end = EndRequest()
        _handle_signals(end.on_signal)
        atexit.register(_handle_signals, signal.SIG_IGN)  # all is done; the interpreter goes
        spare_the_collector()
        KeptAnswers(node)
        executor = make_executor()
        executor.add_node(node)
        while rclpy.ok() and not end.asked:
            executor.spin_once(timeout_sec=0.2)
    finally:
        if node is not None and finish is not None:
            finish(node)
        _end_for_certain()
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()


def _end_for_certain() -> None:
    """End the process where its end is not reached.

    Fast DDS 2.14 as its wheels are built waits for ever, with Python's lock held, where another
    participant, or what it publishes, comes or goes while the last node of a context is destroyed
    (issue 6513 of Fast-DDS).  This timer needs no lock.
    """
    faulthandler.dump_traceback_later(_END_WITHIN, file=_STDERR, exit=True)


@contextmanager
def destroying() -> Iterator[None]:
    """End the process where nodes of it are never destroyed, as :func:`_end_for_certain` says."""
    _end_for_certain()
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


class EndRequest:
    """Reaction of a node to signals: first to end in order, later to end at once.

    Signals that follow the first one within three seconds say nothing new: a terminal sends Ctrl-C
    to all nodes and ``ros2 launch`` sends it on, and a hand in a hurry presses twice.  Braking goes
    out in that time, and nothing may interrupt it.

    Args:
        clock: time in s that never jumps.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: float | None = None

    @property
    def asked(self) -> bool:
        """Whether a signal has come."""
        return self._first is not None

    def hear(self) -> bool:
        """Take note of a signal; return whether it is to end the process at once."""
        if self._first is None:
            self._first = self._clock()
        return self._clock() - self._first > _REPEATED_WITHIN

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.hear():
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)


def spare_the_collector() -> None:
    """Let the garbage collector pass over everything that exists: it stays until the end.

    Compiled code leaves some 200 000 objects behind.  To look through them takes 80 ms, in which
    no thread gets on.
    """
    gc.collect()
    gc.freeze()


def _handle_signals(handler: signal.Handlers | Callable[[int, FrameType | None], None]) -> None:
    """Have signals that end a process handled, in place of rclpy.

    Its handlers would end the context under the feet of a callback that publishes.  SIGHUP, which
    comes when a terminal is closed, stays ignored where it is, as under nohup.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in INTERRUPTS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)
