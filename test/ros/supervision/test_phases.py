"""Commands as they are sent: their start, their end, and the rest after it."""

import numpy as np
import pytest

from robot_identification.errors import SettingError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.ros.supervision.phases import (
    MOVING,
    Command,
    MotionSettings,
    Phase,
    Reason,
)
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

    for kind in (Phase, Reason):
        for name, number in kind.__members__.items():
            assert getattr(ExcitationStatus, name) == number
    assert [len(kind) for kind in (Phase, Reason)] == [6, 7], "no two have one number"


def settings(**changes):
    return MotionSettings(tracking_error=np.full(2, 0.1), **changes)


def test_a_motion_is_watched_as_the_parameters_of_the_node_are_documented():
    found = settings()
    assert (found.lead, found.confirm_within, found.confirm_distance) == (0.3, 0.5, 0.002)
    assert (found.rest_speed, found.settle_timeout) == (0.02, 2.0)


@pytest.mark.parametrize(
    ("name", "taken", "refused"),
    [
        ("lead", (0.05, 10.0), (0.049, 10.1)),
        ("confirm_within", (1e-3, 100.0), (0.0, -1.0)),
        ("confirm_distance", (1e-6, 100.0), (0.0, -1.0)),
        ("rest_speed", (1e-6, 1.0), (0.9e-6, 1.1)),
        ("settle_timeout", (1e-3, 100.0), (0.0, -1.0)),
    ],
)
def test_settings_of_the_watch_have_bounds(name, taken, refused):
    for value in taken:
        assert getattr(settings(**{name: value}), name) == value
    for value in refused:
        with pytest.raises(SettingError, match=name):
            settings(**{name: value})


def test_the_way_to_the_end_is_counted_in_whole_nanoseconds():
    third = Trajectory(RUN.joint_names, RUN.times / 3.0, RUN.positions)
    assert Command(third, BEGIN).end == BEGIN + 1_333_333_333
    assert Command(third, BEGIN).rest == 0.0
    assert not Command(third, BEGIN).at_once
