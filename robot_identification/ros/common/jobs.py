"""Jobs: services and actions of long work, one at a time, answered with an error code.

Programs act on the code, people read the message.  A refused or failed request changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from rclpy.impl.rcutils_logger import RcutilsLogger
from std_srvs.srv import Trigger

from robot_identification import errors
from robot_identification.ros.messages.error_codes import CODES, error_code

Response = TypeVar("Response")
Cancelled = Callable[[], bool]
Work = Callable[[Response, "Job"], str]


def refuse(response: Response, code: int, message: str) -> Response:
    """Return an empty response of the same type that says what went wrong."""
    refused: Any = type(response)()
    refused.success = False
    refused.error_code = code
    refused.message = message
    return refused


class Job:
    """A piece of work that holds the slot, from :meth:`JobSlot.take` to :meth:`end`.

    Args:
        name: what the work is called.
        leave: called once when the work is over.

    Attributes:
        name: as given.
        asked: tells whether who gave the work wants it to stop; for work that has such a way.
        tell: takes what the work has to say about its progress.
    """

    def __init__(self, name: str, leave: Callable[[], None]) -> None:
        self.name = name
        self.asked: Cancelled = lambda: False
        self.tell: Callable[[Any], None] = lambda _: None
        self._leave = leave
        self._cancel = threading.Event()
        self._over = threading.Lock()

    def cancel(self) -> None:
        """Ask the work to stop."""
        self._cancel.set()

    def cancelled(self) -> bool:
        """Return whether the work is to stop."""
        return self._cancel.is_set() or self.asked()

    def end(self) -> None:
        """Let others work; for the first time only."""
        if self._over.acquire(blocking=False):
            self._leave()


class JobSlot:
    """One job at a time, whether a service or an action asks for it.

    Nothing waits in a queue: who comes while work is under way is sent away at once.

    Args:
        logger: where failures are reported.
    """

    def __init__(self, logger: RcutilsLogger) -> None:
        self._log = logger
        self._lock = threading.Condition()
        self._job: Job | None = None

    @property
    def busy(self) -> str:
        """Description of the job under way; an empty text if nothing is."""
        job = self._job
        return "" if job is None else f"{job.name} is under way"

    def works_on(self, name: str) -> bool:
        """Tell whether a piece of work of that name is under way."""
        job = self._job
        return job is not None and job.name == name

    def take(self, name: str) -> Job | None:
        """Begin a piece of work; return None where another is under way.

        Args:
            name: what the work is called.
        """
        with self._lock:
            if self._job is not None:
                return None
            self._job = Job(name, self._clear)
            return self._job

    def _clear(self) -> None:
        with self._lock:
            self._job = None
            self._lock.notify_all()

    def cancel(self, name: str = "") -> str:
        """Ask the work under way to stop; return its name, or an empty text if there is none.

        Args:
            name: of the work that is meant; empty: whatever is under way.
        """
        job = self._job
        if job is None or name not in ("", job.name):
            return ""
        job.cancel()
        return job.name

    def close(self, patience: float) -> None:
        """Ask the work under way to stop, and wait until it has.

        Args:
            patience: how long to wait at most, s.
        """
        self.cancel()
        with self._lock:
            self._lock.wait_for(lambda: self._job is None, patience)

    def on_cancel(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Answer a service that ends the work under way."""
        work = self.cancel()
        response.success = bool(work)
        response.message = f"{work} is being cancelled" if work else "nothing is under way"
        return response

    def refuse(self, response: Response) -> Response:
        """Return an empty response of the same type that says BUSY, and with what."""
        busy = self.busy or "another request was under way"
        return refuse(response, CODES.BUSY, f"{busy}; nothing was changed")

    def run(self, name: str, response: Response, work: Work[Response]) -> Response:
        """Do a piece of work and return the response, or at once BUSY if another is under way.

        Args:
            name: what the work is called.
            response: response to fill.
            work: fills the response; takes the job, which tells whether to stop, and returns a
                summary for people.
        """
        return self.serve(
            name,
            response,
            lambda given, job: self.answer(name, given, lambda filled: work(filled, job)),
        )

    def serve(
        self, name: str, response: Response, perform: Callable[[Response, Job], Response]
    ) -> Response:
        """Have a piece of work done that makes its response itself, or return BUSY at once.

        Args:
            name: what the work is called.
            response: an empty response.
            perform: takes the response and its job; returns the response, whatever happens.
        """
        job = self.take(name)
        if job is None:
            return self.refuse(response)
        try:
            return perform(response, job)
        finally:
            job.end()

    def answer(self, name: str, response: Response, work: Callable[[Response], str]) -> Response:
        """Do short work and return the response; whatever goes wrong becomes an error code."""
        filled: Any = response
        try:
            filled.message = work(response)
        except Exception as error:  # noqa: BLE001
            # The border of the process: a fault of ours must reach the caller, not end the node.
            return self.failed(name, response, error)
        filled.success = True
        filled.error_code = CODES.OK
        return response

    def failed(self, name: str, response: Response, error: Exception) -> Response:
        """Log why work has failed and return an empty response that says so."""
        if isinstance(error, errors.RobotIdentificationError):
            self._log.warning(f"{name}: {error}")
            told = "; ".join([str(error), *error.findings])
            return refuse(response, error_code(error), told)
        import traceback

        self._log.error(f"{name} failed:\n{''.join(traceback.format_exception(error))}")
        return refuse(response, CODES.INTERNAL, f"{type(error).__name__}: {error}")
