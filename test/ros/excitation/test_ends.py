"""What the result of a motion says of why it has ended; no ROS, no clock."""

import pytest
from robot_identification.action import ExecuteExcitation

from hand_moved_controller import Arm
from robot_identification.ros.excitation.experiments import conclude
from robot_identification.ros.messages.error_codes import CODES
from robot_identification.ros.supervision.phases import Phase, Reason


@pytest.fixture
def arm():
    """Return a robot that has been moving for a second."""
    moving = Arm()
    moving.start()
    moving.pass_time(1.0)
    assert moving.motion.moving
    return moving


def ended(arm):
    """Return the result of a motion that has been stopped, when the robot is at rest."""
    arm.wait_for(Phase.STOPPED)
    return conclude(ExecuteExcitation.Result(), arm.executor.course)


def test_a_stop_that_was_asked_for_is_cancelled(arm):
    arm.executor.stop()
    assert ended(arm).error_code == CODES.CANCELLED
    assert arm.motion.reason is Reason.REQUESTED


def test_nobody_is_said_to_have_asked_where_another_robot_has_moved(arm):
    arm.problem_of_others = "the other robot has moved"
    result = ended(arm)
    assert result.error_code == CODES.STATE_STALE
    assert "the other robot has moved" in result.message
    assert arm.motion.reason is Reason.STATE_STALE


def test_nobody_is_said_to_have_asked_where_watching_has_failed(arm, monkeypatch):
    def fails(_):
        monkeypatch.undo()
        raise ValueError("no such thing")

    monkeypatch.setattr(arm.executor._sender.transport, "look", fails)
    result = ended(arm)
    assert result.error_code == CODES.STATE_STALE
    assert "a fault of this node: no such thing" in result.message
    assert arm.motion.reason is Reason.STATE_STALE
