"""Processes that share the work: whether there are any, and what came of one that has died."""

from types import SimpleNamespace

import pytest

from robot_identification.parallel import pool
from robot_identification.parallel.pool import WorkerWatch


def test_it_is_told_once_that_no_worker_has_been_there_for_ten_seconds():
    now, told = [0.0], []
    watch = WorkerWatch(told.append, lambda: now[0])
    for seconds, workers, sentences in (
        (0.0, 0, 0), (9.9, 0, 0), (10.0, 0, 1), (60.0, 0, 1), (61.0, 2, 2), (62.0, 0, 2),
        (71.0, 1, 2), (72.0, 0, 2), (81.0, 0, 2), (82.0, 0, 3),
    ):  # fmt: skip
        now[0] = seconds
        watch.see(workers)
        assert len(told) == sentences, seconds


class LostFuture:
    """A job that was done, by a worker that has died since."""

    status = "error"

    def release(self):
        pass


class Completed:
    """Futures as distributed hands them out, with their results."""

    def __init__(self, futures, **_options):
        self.left = [(future, True) for future in futures]

    def is_empty(self):
        return not self.left

    def has_ready(self):
        return True

    def __next__(self):
        return self.left.pop()


@pytest.fixture
def completed(monkeypatch):
    """Have futures of a fake client be completed by hand."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "as_completed", Completed)
    return Completed


def client_without_workers():
    return SimpleNamespace(
        submit=lambda *_args, **_options: LostFuture(),
        scheduler_info=lambda: {"workers": {}},
        status="running",
        scheduler=SimpleNamespace(address="tcp://somewhere:1"),
    )


def spread(jobs, done, watch):
    return pool._spread(client_without_workers(), jobs, done, watch)


@pytest.mark.usefixtures("completed")
def test_a_part_that_came_counts_where_its_worker_has_died_since():
    job, done = SimpleNamespace(key="a", to_data=dict), []
    failed = spread([job], lambda *one: done.append(one), WorkerWatch(lambda _text: None))
    assert (failed, done) == ((), [(job, True)])


def test_a_worker_that_did_a_part_and_died_between_two_looks_is_missed_again(
    completed, monkeypatch
):
    now, told, done = [0.0], [], []
    monkeypatch.setattr(pool.time, "sleep", lambda _seconds: now.__setitem__(0, now[0] + 1.0))
    # A part comes after the first sentence, the other one after two more.
    monkeypatch.setattr(
        completed, "has_ready", lambda self: now[0] > 100.0 or len(told) >= 2 * len(done) + 1
    )
    jobs = [SimpleNamespace(key=key, to_data=dict) for key in "ab"]
    spread(jobs, lambda job, _new: done.append(job), WorkerWatch(told.append, lambda: now[0]))
    missed, again = "the scheduler has had no worker", "a worker is there again"
    assert [text[: len(again)] for text in told] == [missed[: len(again)], again] * 2
    assert sorted(job.key for job in done) == ["a", "b"]
    assert now[0] < 30.0


def test_a_client_that_has_closed_says_which_scheduler_is_gone(completed, monkeypatch):
    """As distributed's: closed, it has no scheduler any more."""
    client = client_without_workers()

    def closed(_seconds):
        client.status, client.scheduler = "closed", None

    monkeypatch.setattr(pool.time, "sleep", closed)
    monkeypatch.setattr(completed, "has_ready", lambda self: False)
    jobs = [SimpleNamespace(key="a", to_data=dict)]
    with pytest.raises(pool.SchedulerGoneError, match="tcp://somewhere:1 does not answer"):
        pool._spread(client, jobs, lambda *_: None, WorkerWatch(lambda _text: None))
