"""Independent searches in threads: their order, their errors, their end."""

import threading

import numpy as np
import pytest

from robot_identification.errors import CancelledError
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search import dynamic
from robot_identification.excitation.search.dynamic import sensible_threads, side_by_side
from robot_identification.excitation.search.points import PointSettings
from robot_identification.robot.files.loading import load_robot


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_results_and_reports_come_in_the_order_of_the_items(threads):
    told = []
    found = side_by_side(lambda x, _: x * x, [3, 1, 2], awaited=told.append, threads=threads)
    assert (found, told) == ([9, 1, 4], [3, 1, 2])


def test_both_threads_are_at_work_at_once():
    meeting = threading.Barrier(2)
    assert side_by_side(lambda x, _: (meeting.wait(), x)[1], [1, 2], threads=2) == [1, 2]


def test_one_failure_ends_the_others():
    def work(item, over):
        if item == "fails":
            raise CancelledError("no more")
        while not over():
            pass
        raise CancelledError("given up")

    with pytest.raises(CancelledError, match="no more"):
        side_by_side(work, ["fails", "would go on for ever"], threads=2)


def test_a_search_that_is_cancelled_ends_in_every_thread():
    asked = threading.Event()

    def work(_, over):
        asked.set()
        while not over():
            pass
        raise CancelledError("the optimisation was cancelled")

    with pytest.raises(CancelledError):
        side_by_side(work, [1, 2], cancelled=asked.is_set, threads=2)


def test_threads_are_for_cores_where_linear_algebra_has_one(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 2, 3})
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert sensible_threads() == 1
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    assert sensible_threads() == 1
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    assert sensible_threads() == 3


def test_plans_do_not_depend_on_the_number_of_threads(monkeypatch):
    robot = load_robot("three_dof")
    settings = PlanSettings(model="dynamic", duration=6.0, points=PointSettings(starts=3))
    for name in ("EARLY_STAGES", "LATE_STAGES"):
        monkeypatch.setattr(dynamic, name, getattr(dynamic, name)[:2])
    plans = []
    for threads in (1, 3):
        monkeypatch.setattr(dynamic, "sensible_threads", lambda n=threads: n)
        plans.append(plan(robot, settings))
    for other in plans[1:]:
        np.testing.assert_array_equal(other.trajectory.positions, plans[0].trajectory.positions)
        np.testing.assert_array_equal(other.trajectory.times, plans[0].trajectory.times)
        assert other.certificate.digest == plans[0].certificate.digest
