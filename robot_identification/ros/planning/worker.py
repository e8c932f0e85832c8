"""Planning in a process of its own, so that nothing which watches a motion ever waits for it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from robot_identification import errors
from robot_identification.excitation.one_joint.plan import plan_one_joint
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.excitation.plan import plan
from robot_identification.excitation.search.optimizers import Cancelled
from robot_identification.parallel.orphans import end_with
from robot_identification.ros.planning.planning import AnyPlan, PlanningJob, load_machine

_REPORT_EVERY = 0.1
_GRACE = 1.0


@dataclass(frozen=True)
class Progress:
    """A stage and the share of the work that is done."""

    stage: str
    fraction: float


@dataclass(frozen=True)
class Planned:
    """A plan."""

    plan: AnyPlan


@dataclass(frozen=True)
class Failed:
    """Why there is no plan: an error of the package, with its data; any other by its name."""

    exception: errors.RobotIdentificationError


Event = Progress | Planned | Failed


class PlanningWorker:
    """The process, seen from the node; it ends with the node, however that ends.

    Args:
        niceness: how far it steps back where processors are short.
    """

    def __init__(self, niceness: int) -> None:
        self._niceness = niceness
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self._connection, other = self._context.Pipe()
        self._cancel = self._context.Event()
        self._process = self._context.Process(
            target=serve, args=(other, self._cancel, self._niceness), name="planning", daemon=True
        )
        with _interrupts_blocked():
            self._process.start()
        other.close()

    def submit(self, job: PlanningJob) -> None:
        """Begin a plan; a worker that has died is replaced."""
        if not self._process.is_alive():
            self._start()
        self._cancel.clear()
        self._connection.send(job)

    def cancel(self) -> None:
        """Ask the plan under way to end; it ends as failed with CancelledError."""
        self._cancel.set()

    def poll(self) -> list[Event]:
        """Return what has happened since the last call, without waiting."""
        events: list[Event] = []
        try:
            while self._connection.poll():
                events.append(self._connection.recv())
        except (EOFError, OSError):
            died = "the planning process has died; see its output"
            events.append(Failed(errors.RobotIdentificationError(died)))
        return events

    def close(self) -> None:
        """End the process."""
        self._cancel.set()
        self._connection.close()
        self._process.join(_GRACE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Keep SIGINT from a process that starts meanwhile until it has said that it ignores it.

    A terminal sends it to all processes of the node; this one would end in the middle of an import.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(connection: Connection, cancel: Any, niceness: int) -> None:
    """Make plans until the other end is closed.

    Args:
        connection: jobs come in, events go out.
        cancel: event that ends the plan under way.
        niceness: of this process, beyond that of the node.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the node, which closes the pipe
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.nice(niceness)
    end_with(os.getppid())
    with suppress(EOFError, OSError):
        while True:
            job = connection.recv()
            connection.send(_work(job, connection.send, cancel.is_set))


def _work(job: PlanningJob, send: Callable[[Event], None], cancelled: Cancelled) -> Event:
    try:
        return Planned(_planned(job, _Reporter(send), cancelled))
    except errors.RobotIdentificationError as error:
        return Failed(error)
    except Exception as error:  # noqa: BLE001
        # The border of the process: the caller must hear of a fault of ours.
        import traceback

        traceback.print_exc()
        return Failed(errors.RobotIdentificationError(f"{type(error).__name__}: {error}"))


def _planned(
    job: PlanningJob, report: Callable[[str, float], None], cancelled: Cancelled
) -> AnyPlan:
    machine = load_machine(job.sources)
    robot, room = machine.robot, machine.surroundings
    if isinstance(job.settings, OneJointSettings):
        return plan_one_joint(
            robot, job.settings, surroundings=room, progress=report, cancelled=cancelled
        )
    return plan(robot, job.settings, surroundings=room, progress=report, cancelled=cancelled)


class _Reporter:
    """Sends every new stage, else ten reports a second at most."""

    def __init__(self, send: Callable[[Event], None]) -> None:
        self._send = send
        self._stage, self._sent = "", 0.0

    def __call__(self, stage: str, fraction: float) -> None:
        now = time.monotonic()
        if stage != self._stage or now > self._sent + _REPORT_EVERY:
            self._stage, self._sent = stage, now
            self._send(Progress(stage, fraction))
