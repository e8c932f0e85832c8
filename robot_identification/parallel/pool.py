"""Processes that work on jobs: this one, those of a local Dask cluster, or of one that runs."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from robot_identification.errors import MissingPackageError, RobotIdentificationError, SettingError
from robot_identification.parallel.jobs import Job
from robot_identification.parallel.worker import work_on

Done = Callable[[Job, bool], None]
Tell = Callable[[str], None]
_LOOK_EVERY = 0.1
_TOLD_AFTER = 10.0
_SCHEMES = ("tcp://", "tls://", "ucx://", "ws://", "wss://")


class SchedulerGoneError(RobotIdentificationError):
    """The Dask scheduler does not answer any more; what has been folded is kept in part files."""


def usable_workers() -> int:
    """Return how many processes to use by default: the cores, or one without Dask."""
    return len(os.sched_getaffinity(0)) if find_spec("distributed") else 1


def work(
    jobs: Sequence[Job],
    done: Done,
    *,
    workers: int,
    scheduler: str | None = None,
    tell: Tell | None = None,
) -> tuple[Job, ...]:
    """Have jobs done.

    Args:
        jobs: the jobs.
        done: told of every job that is done, and whether it had been done before.
        workers: number of processes; 1 is this one, without Dask.
        scheduler: address of a Dask scheduler that runs, instead of processes here.
        tell: takes sentences for people: no worker is there, or one is there again.

    Returns:
        The jobs at which processes died again and again.

    Raises:
        SettingError: the number or the address is not possible, or nobody answers there.
        MissingPackageError: Dask is needed and not installed.
        SchedulerGoneError: the scheduler has ended.
    """
    if workers < 1:
        raise SettingError("workers", workers, "at least one is needed")
    if scheduler is None and workers == 1:
        for job in jobs:
            done(job, work_on(job.to_data()))
        return ()
    if not find_spec("distributed"):
        raise MissingPackageError("distributed", "parallel", "work in several processes")
    with _client(workers, scheduler) as client:
        return _spread(client, jobs, done, WorkerWatch(tell or _silent))


@contextmanager
def _client(workers: int, scheduler: str | None) -> Iterator[Any]:
    distributed: Any = import_module("distributed")  # optional, and slow to import

    if scheduler is not None:
        if not scheduler.startswith(_SCHEMES):
            raise SettingError("scheduler", scheduler, "an address such as tcp://host:8786")
        try:
            client = distributed.Client(scheduler, timeout=10)
        except OSError as error:
            raise SettingError("scheduler", scheduler, f"nobody answers: {error}") from error
        with client:
            yield client
        return
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # None would be port 8787 of every interface
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _silent(_text: str) -> None:
    """Tell nobody."""


class WorkerWatch:
    """Tells when no worker has been there for ten seconds, and when one is there again.

    Args:
        tell: takes a sentence.
        clock: time in s that never jumps.
    """

    def __init__(self, tell: Tell, clock: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._clock = tell, clock
        self._since: float | None = None
        self._told = False

    def see(self, workers: int) -> None:
        """Take note of how many workers there are."""
        if workers:
            if self._told:
                self._tell("a worker is there again; the work goes on")
            self._since, self._told = None, False
            return
        now = self._clock()
        self._since = now if self._since is None else self._since
        if not self._told and now - self._since >= _TOLD_AFTER:
            self._tell(
                f"the scheduler has had no worker for {_TOLD_AFTER:g} s; the work goes on as soon "
                "as one comes, and Ctrl-C ends it: finished parts are kept"
            )
            self._told = True


def _spread(client: Any, jobs: Sequence[Job], done: Done, watch: WorkerWatch) -> tuple[Job, ...]:
    distributed: Any = import_module("distributed")
    address = client.scheduler.address  # a client that has closed has no scheduler any more
    futures = {
        client.submit(work_on, job.to_data(), key=f"fold-{job.key}", pure=False): job
        for job in jobs
    }
    failed = []
    # With its results: to ask for one later would wait for a worker that has died with it.
    completed = distributed.as_completed(list(futures), with_results=True, raise_errors=False)
    while not completed.is_empty():
        if not completed.has_ready():
            if client.status == "closed":
                raise _gone(address)
            watch.see(len(client.scheduler_info().get("workers", ())))
            time.sleep(_LOOK_EVERY)
            continue
        future, result = next(completed)
        job = futures.pop(future)
        # A result that has come holds: the status may be that of a worker that has died since.
        if isinstance(result, bool):
            watch.see(1)  # who did it was there, also where it has come and died between two looks
            done(job, result)
        elif future.status == "cancelled":
            raise _gone(address)
        elif isinstance(result[1], distributed.KilledWorker):
            failed.append(job)
        else:
            raise result[1]
        future.release()
    return tuple(failed)


def _gone(address: str) -> SchedulerGoneError:
    return SchedulerGoneError(
        f"the scheduler {address} does not answer any more; run again when it "
        "does: finished parts are kept"
    )
