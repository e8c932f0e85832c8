"""Points of messages: their times and efforts."""

import numpy as np
import pytest

from robot_identification.errors import TrajectoryError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.ros.messages.trajectories import message_of, trajectory_of

STILL = np.zeros((2, 1))
FED = Trajectory(("hinge",), [0.0, 1.0], [[0.0], [1.0]], STILL, STILL, [[2.0], [-3.0]])


def test_times_between_whole_seconds_go_into_the_points_and_come_back():
    given = Trajectory(
        ("hinge",), [0.0, 0.25, 1.75], [[0.0], [0.1], [0.2]], *2 * (np.zeros((3, 1)),)
    )
    message = message_of(given, 7_000_000_003)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (7, 3)
    times = [(point.time_from_start.sec, point.time_from_start.nanosec) for point in message.points]
    assert times == [(0, 0), (0, 250_000_000), (1, 750_000_000)]
    assert trajectory_of(message) == given


def test_efforts_go_into_the_points_and_come_back():
    message = message_of(FED, 0)
    assert [list(point.effort) for point in message.points] == [[2.0], [-3.0]]
    assert trajectory_of(message) == FED


def test_the_rest_at_the_end_is_held_by_the_last_effort():
    message = message_of(FED.followed_by_rest(0.5), 0)
    assert [list(point.effort) for point in message.points] == [[2.0], [-3.0], [-3.0]]


@pytest.mark.parametrize(
    ("effort", "told"), [([], "point 1 has 0 effort for 1 joints"), ([np.nan], "efforts of joint")]
)
def test_efforts_that_some_points_lack_or_that_are_no_numbers_are_refused(effort, told):
    message = message_of(FED, 0)
    message.points[1].effort = effort
    with pytest.raises(TrajectoryError, match=told):
        trajectory_of(message)
