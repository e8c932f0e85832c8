"""Executors of nodes: rclpy's, without two of their costs.

Events of the middleware, such as a publisher whose settings do not fit, are looked at twice a
second.  rclpy has a handler of two such events for every publisher and subscription, and puts each
of them into the wait set at every wake-up: in a node that looks at the robot 40 times a second
that is more than a third of what waiting costs.

rclpy's MultiThreadedExecutor hands a callback to its threads again and again until one of them has
begun it, and looks through everything handed over each time.  Among threads that share one
interpreter the loop keeps from the callback what it needs to begin: ten messages a second took up
to half a core so, and other threads of the process waited.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from rclpy.context import Context
from rclpy.event_handler import EventHandler
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    ShutdownException,
    SingleThreadedExecutor,
    TimeoutException,
)
from rclpy.task import Task

_EVENTS_EVERY = 0.5  # s


class _EventsSeldom(Executor):
    """Looks at events of the middleware at intervals.

    Args:
        context: context of the nodes, by default that of the process.
        clock: time in s that never jumps.
    """

    def __init__(
        self, *, context: Context | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(context=context)
        self._time = clock  # _clock is rclpy's
        self._events_from = -float("inf")
        self._events_due, self._events_in = True, False

    def wait_for_ready_callbacks(self, *args: Any, **kwargs: Any) -> Any:
        """Return the next callback; wait for it where none is ready."""
        now = self._time()
        if self._events_in:
            self._events_from, self._events_in = now + _EVENTS_EVERY, False
        self._events_due = now >= self._events_from
        return super().wait_for_ready_callbacks(*args, **kwargs)

    def can_execute(self, entity: Any) -> bool:
        """Tell whether a callback of an entity may begin: only then does it enter the wait set."""
        if isinstance(entity, EventHandler):
            if not self._events_due:
                return False
            self._events_in = True
        may: bool = super().can_execute(entity)
        return may


class NodeExecutor(_EventsSeldom, SingleThreadedExecutor):
    """Runs callbacks one after another in one thread: at sample rates that loses nothing."""


class PooledExecutor(_EventsSeldom):
    """Runs callbacks in a pool of threads, and waits until one has begun before it looks again.

    While all threads are at work no further callback begins.

    Args:
        threads: number of threads.
        context: context of the nodes, by default that of the process.
    """

    def __init__(self, threads: int, *, context: Context | None = None) -> None:
        super().__init__(context=context)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="callback")
        self._begun: list[Task] = []

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Begin one callback, waiting for it no longer than a time in s.

        Raises:
            Exception: what a callback begun earlier has raised.
        """
        try:
            task, _, _ = self.wait_for_ready_callbacks(timeout_sec, None)
        except (ExternalShutdownException, ShutdownException, TimeoutException):
            return
        begun = threading.Event()
        self._pool.submit(_run, task, begun)
        begun.wait()
        self._begun.append(task)
        done = [one for one in self._begun if one.done()]
        self._begun = [one for one in self._begun if not one.done()]
        for one in done:
            one.result()  # raises what the callback has raised


def _run(task: Task, begun: threading.Event) -> None:
    begun.set()
    task()
