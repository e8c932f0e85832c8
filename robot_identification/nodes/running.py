"""How a node starts and ends as a process: signals, errors, exit code."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from robot_identification.errors import InputError, ResultRefusedError
from robot_identification.nodes.middleware import use_own_profiles

BAD_INPUT = 2
REFUSED = 3


def run(
    make: Callable[[], Node],
    arguments: Sequence[str] | None = None,
    *,
    name: str,
    finish: Callable[[Node], None] | None = None,
    make_executor: Callable[[], Executor] = SingleThreadedExecutor,
) -> int:
    """Make a node, run it until SIGINT or SIGTERM, and return the exit code.

    By default callbacks run one after another in one thread: at sample rates that loses nothing.

    Args:
        make: makes the node; an InputError that it raises is logged and ends the process with
            exit code 2, as a refused result ends it with 3, whenever it comes.
        arguments: command line, by default that of the process.
        name: name by which errors are logged before the node exists.
        finish: called with the node before it is destroyed; it can still publish.
        make_executor: makes the executor.
    """
    stop = _stop_on_signals()
    use_own_profiles()
    rclpy.init(
        args=list(sys.argv if arguments is None else arguments),
        signal_handler_options=SignalHandlerOptions.NO,
    )
    node: Node | None = None
    try:
        node = make()
        _spare_the_collector()
        executor = make_executor()
        executor.add_node(node)
        while rclpy.ok() and not stop.is_set():
            executor.spin_once(timeout_sec=0.2)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except InputError as error:
        get_logger(name).fatal(str(error))
        return BAD_INPUT
    except ResultRefusedError as error:
        get_logger(name).fatal(str(error))
        return REFUSED
    finally:
        if node is not None:
            if finish is not None:
                finish(node)
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


def _spare_the_collector() -> None:
    """Let the garbage collector pass over everything that exists: it stays until the end.

    Compiled code leaves some 200 000 objects behind.  To look through them takes 80 ms, in which
    no thread gets on.
    """
    gc.collect()
    gc.freeze()


def _stop_on_signals() -> threading.Event:
    """Return what the first SIGINT or SIGTERM sets; the second one interrupts at once.

    The handlers of rclpy would end the context under the feet of a callback that publishes.
    """
    stop = threading.Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, handle)
    return stop
