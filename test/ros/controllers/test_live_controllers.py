"""Controllers with the action, with the topic and with both, through DDS."""

import numpy as np
import pytest

from control_messages import control_msgs  # noqa: F401
from fake_controller import FakeController
from live_nodes import complete_values
from lock_step import LockStepCell
from robot_identification.ros.supervision.phases import Reason
from simulated_cell import Status

pytestmark = [pytest.mark.ros, pytest.mark.slow, pytest.mark.usefixtures("control_msgs")]

QUICK = {"method": "one-joint"}
PATIENT = {"start_lead": 1.0}  # answers come in time, however late a process is served
SAMPLE = 0.0101  # s, at which the robot takes a trajectory over
MOMENT = 1.1  # s


def test_a_simulated_robot_that_offers_both_is_moved_and_stopped_by_its_action(tmp_path):
    """benchmarks/braking.py stops one at 50 random moments, by what it is told to offer."""
    simulation, values = {"interface": "auto"}, str(complete_values(tmp_path))
    with LockStepCell(tmp_path, "scara", values, simulation=simulation, excitation=PATIENT) as cell:
        cell.start_nodes()
        planned = cell.first_plan(**QUICK)
        cell.ask_until(lambda: "by the action " in cell.answers.preview().message)
        stop = cell.stop_after(MOMENT, planned.braking_time)
        assert stop.state == Status.STOPPED
        assert stop.rest < np.inf
        assert stop.late <= SAMPLE
        assert max(stop.commanded.values()) <= 1.0
        assert max(stop.measured.values()) <= 1.0


@pytest.fixture(scope="module")
def cell(tmp_path_factory, control_msgs):  # noqa: F811
    folder = tmp_path_factory.mktemp("cell")
    with LockStepCell(folder, "scara", "scara", excitation=PATIENT) as cell:
        cell.drive()
        cell.controller = FakeController(cell)
        cell.start_excitation()
        cell.first_plan(**QUICK)
        yield cell
        cell.controller.go()


def test_a_controller_that_rejects_moves_nothing_and_start_says_so(cell):
    cell.controller.rejects = True
    answer = cell.answers.start()
    assert not answer.success
    assert "has rejected the trajectory" in answer.message
    status = cell.wait_for(Status.STOPPED)
    assert status.stop_reason == Reason.CONTROLLER
    assert len(cell.controller.goals) == 1
    assert not cell.sent
    cell.controller.rejects = False


def test_an_abort_and_a_server_that_goes_in_motion_stop_it_with_the_reason(cell):
    cell.controller.goals.clear()
    cell.start()
    cell.wait_for(Status.RUNNING)
    cell.pass_time(2.0)
    cell.controller.abort(-4, "joint_1 is 0.2 off")
    status = cell.wait_for(Status.STOPPED)
    assert status.stop_reason == Reason.CONTROLLER
    assert "PATH_TOLERANCE_VIOLATED: joint_1 is 0.2 off" in status.text
    assert len(cell.controller.goals) == 1
    cell.start()
    cell.wait_for(Status.RUNNING)
    cell.pass_time(2.0)
    cell.controller.go()
    status = cell.wait_for(Status.STOPPED)
    assert status.stop_reason == Reason.CONTROLLER
    assert "has gone" in status.text
