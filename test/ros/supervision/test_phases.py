"""Commands as they are sent: their start, their end, and the rest after it."""

import numpy as np
import pytest

from robot_identification.ros.supervision.phases import MOVING, Command, Phase, Reason
from watched_motion import BEGIN, RUN


def test_a_command_ends_where_its_trajectory_does():
    command = Command(RUN, BEGIN)
    assert command.end == BEGIN + 4 * 10**9
    assert command.stamp == BEGIN
    assert command.sent is RUN


def test_a_command_that_starts_at_once_has_no_stamp():
    assert Command(RUN, BEGIN, at_once=True).stamp == 0


def test_the_rest_follows_the_trajectory():
    command = Command(RUN, BEGIN, rest=0.5)
    assert command.sent.duration == pytest.approx(4.5)
    np.testing.assert_array_equal(command.sent.positions[-1], RUN.positions[-1])
    np.testing.assert_array_equal(command.sent.velocities[-1], 0.0)
    assert command.end == BEGIN + 4 * 10**9, "the rest is no part of the motion"


def test_the_robot_may_move_in_three_phases():
    assert MOVING == (Phase.APPROACHING, Phase.RUNNING, Phase.BRAKING)


def test_phases_and_reasons_are_those_of_the_message():
    from robot_identification.msg import ExcitationStatus

    for phase in Phase:
        assert getattr(ExcitationStatus, phase.name) == phase
    for reason in Reason:
        assert getattr(ExcitationStatus, reason.name) == reason
