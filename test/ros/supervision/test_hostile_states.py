"""The excitation node and a driver that lies, through DDS: limits are kept, lies are told.

Other lies, and other steps of clocks, are told by hand in test_states.py and test_supervisor.py; a
million of hostile sequences are tried by benchmarks/hostile_states.py.
"""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray

from fake_driver import honest
from lock_step import LockStepCell
from oracles.quintic_curve import shares
from robot_identification.ros.clients.client import RequestInvalidError
from robot_identification.ros.common import qos
from simulated_cell import Status

pytestmark = pytest.mark.ros

QUICK = {"rows": 8, "starts": 1, "duration": 6.0}
STALE_AFTER = 3.0
ROUNDING = 1.0 + 1e-6


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    """Return a SCARA that is where it is told to be, with a plan."""
    settings = {"state_timeout": STALE_AFTER, "start_lead": 0.1}
    folder = tmp_path_factory.mktemp("cell")
    with LockStepCell(folder, "scara", "", tick=0.01, excitation=settings) as cell:
        cell.drive()
        cell.reports = []
        cell.client.collect(DiagnosticArray, "/diagnostics", cell.reports.append, qos.STATUS)
        cell.start_excitation()
        cell.planned = cell.first_plan(**QUICK)
        yield cell


def at_start(cell):
    """Put the robot where its motion begins, and wait until the node knows."""
    start = cell.planned.trajectory.points[0].positions
    cell.stand(start, lambda answer: "approach 0.0 s" in answer.message)


@pytest.fixture
def running(cell):
    """Return a robot in the middle of its motion."""
    at_start(cell)
    assert cell.answers.start().success
    cell.statuses.clear()
    cell.wait(lambda: cell.statuses and cell.status.elapsed > 0.8, "motion")
    return cell


def once(lie):
    """Return what tells one lie and nothing but the truth after it."""
    said = []

    def tell(time, position):
        if said:
            return honest(time, position)
        said.append(True)
        return lie(time, np.array(position))

    return tell


def test_one_wrong_state_neither_stops_the_robot_nor_moves_it_and_is_told(running):
    running.reports.clear()
    running.driver.tell = once(lambda time, q: (time, (q + 0.2).tolist(), []))
    elapsed = running.status.elapsed
    running.wait(lambda: running.status.elapsed > elapsed + 0.3, "motion that goes on")
    assert running.status.state == Status.RUNNING
    assert len(running.sent) == 1

    def told():
        states = [s for report in running.reports for s in report.status if "refused" in s.message]
        return [s for s in states if "cannot have moved by 0.2" in s.message]

    running.wait(told, "report of the lie")
    assert {v.key: v.value for v in told()[0].values}["messages_refused"] != "0"
    assert running.answers.stop().message.startswith("braking: at rest")
    running.wait(lambda: len(running.sent) > 1, "braking trajectory")
    assert max(shares(running.sent[1].trajectory, running.limits)) <= ROUNDING
    assert running.wait_for(Status.STOPPED, Status.FAULT).state == Status.STOPPED


def test_when_the_driver_s_clock_is_set_back_what_is_published_keeps_the_limits(running):
    running.driver.tell = lambda time, q: (time - 0.9, q.tolist(), [])
    status = running.wait_for(Status.STOPPED, Status.FAULT, Status.FINISHED)
    for sent in running.sent:
        assert max(shares(sent.trajectory, running.limits)) <= ROUNDING
    assert status.stop_reason in (Status.STATE_STALE, Status.TRACKING_ERROR)


def test_what_start_refuses_preview_refuses(cell):
    at_start(cell)
    start, began = np.array(cell.planned.trajectory.points[0].positions), cell.now()

    def creep(time, _):
        way = 0.1 * (cell.now() - began) * 1e-9
        return time, (start + way).tolist(), []

    cell.driver.tell = creep
    cell.ask_until(lambda: not cell.answers.preview().success)
    for service in ("preview", "start"):
        message = getattr(cell.answers, service)().message
        assert message.startswith("STATE_STALE"), message
        assert "moves at" in message
    assert not cell.sent


def test_how_a_motion_is_watched_changes_at_rest_only(running):
    for name, value in (("tracking_error_limit", [0.05]), ("state_timeout", 0.5)):
        with pytest.raises(RequestInvalidError, match="the robot moves"):
            running.set_parameter("excitation", name, value)
    running.answers.stop()
    running.wait_for(Status.STOPPED, Status.FAULT)
    running.set_parameter("excitation", "tracking_error_limit", [0.05])
    running.wait(lambda: set(running.status.tracking_error_limit) == {0.05}, "limit in the status")
    with pytest.raises(RequestInvalidError, match="one for each of 2 joints"):
        running.set_parameter("excitation", "tracking_error_limit", [0.05] * 3)
    # A plan made with 0.1 leaves room enough for 0.05, but not for 2.0.
    assert running.answers.preview().success
    running.set_parameter("excitation", "tracking_error_limit", [2.0])
    assert running.answers.preview().message.startswith("NOT_CERTIFIED")
    running.set_parameter("excitation", "tracking_error_limit", [0.1])
