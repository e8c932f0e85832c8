"""Processes that work on jobs: this one, those of a local Dask cluster, or of one that runs."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from robot_identification.errors import MissingPackageError, SettingError
from robot_identification.parallel.jobs import Job
from robot_identification.parallel.worker import work_on

Done = Callable[[Job, bool], None]
_SCHEMES = ("tcp://", "tls://", "ucx://", "ws://", "wss://")


def usable_workers() -> int:
    """Return how many processes to use by default: the cores, or one without Dask."""
    return len(os.sched_getaffinity(0)) if find_spec("distributed") else 1


def work(
    jobs: Sequence[Job], done: Done, *, workers: int, scheduler: str | None = None
) -> tuple[Job, ...]:
    """Have jobs done.

    Args:
        jobs: the jobs.
        done: told of every job that is done, and whether it had been done before.
        workers: number of processes; 1 is this one, without Dask.
        scheduler: address of a Dask scheduler that runs, instead of processes here.

    Returns:
        The jobs at which processes died again and again.

    Raises:
        SettingError: the number or the address is not possible, or nobody answers there.
        MissingPackageError: Dask is needed and not installed.
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
        return _spread(client, jobs, done)


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


def _spread(client: Any, jobs: Sequence[Job], done: Done) -> tuple[Job, ...]:
    distributed: Any = import_module("distributed")
    futures = {
        client.submit(work_on, job.to_data(), key=f"fold-{job.key}", pure=False): job
        for job in jobs
    }
    failed = []
    for future in distributed.as_completed(list(futures)):
        job = futures.pop(future)
        try:
            before = future.result()
        except distributed.KilledWorker:
            failed.append(job)
        else:
            done(job, before)
        future.release()
    return tuple(failed)
