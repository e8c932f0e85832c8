"""An executor with several threads that sleeps while it has nothing to do.

rclpy's MultiThreadedExecutor hands a callback to its threads again and again until one of them has
begun it, and looks through everything handed over each time.  Among threads that share one
interpreter the loop keeps from the callback what it needs to begin: ten messages a second took up
to half a core so, and other threads of the process waited.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from rclpy.context import Context
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    ShutdownException,
    TimeoutException,
)
from rclpy.task import Task


class PooledExecutor(Executor):
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
