"""Which efforts are due when, without any node."""

import numpy as np
import pytest

from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.errors import SampleError, TrajectoryError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.feed_forward.stream import TorqueStream

ROBOT = load_robot("three_dof")
VALUES = load_values("three_dof", ROBOT)
MODEL = FeedForward(ROBOT, VALUES)
MS = 1_000_000
BEGIN = 1_700_000_000_000 * MS
STILL = np.zeros((2, 3))
MOVE = Trajectory(ROBOT.joint_names, [0.0, 1.0], [[0.1, 0.2, 0.3], [0.4, 0.1, -0.3]], STILL, STILL)


def stream(rate=100.0, lead=0.05):
    return TorqueStream(ROBOT.joint_names, rate, lead)


def moving(**settings):
    made = stream(**settings)
    made.use(MODEL)
    made.due(BEGIN)
    made.follow(MOVE, BEGIN, MOVE.positions[0])
    return made


def test_nothing_is_due_without_model_trajectory_and_state():
    made = stream()
    assert made.due(BEGIN) == []
    made.follow(MOVE, BEGIN, MOVE.positions[0])
    assert made.due(BEGIN + 20 * MS) == []
    made = stream()
    made.use(MODEL)
    assert made.due(BEGIN) == []


def test_every_effort_is_sent_once_and_ahead_of_the_states():
    made = moving()
    stamps = [stamp for now in range(1, 200, 3) for stamp, _ in made.due(BEGIN + now * MS)]
    expected = BEGIN + np.arange(10, 250, 10) * MS
    np.testing.assert_array_equal(stamps, expected)


def test_an_effort_is_that_of_the_middle_of_its_time():
    made = moving()
    for stamp, effort in made.due(BEGIN + 300 * MS):
        middle = (stamp - BEGIN) / 1e9 + 0.005
        np.testing.assert_allclose(effort, MODEL.efforts(*MOVE.sample([middle]))[0], atol=1e-12)


def test_a_new_model_takes_over_at_the_next_state():
    made = moving()
    made.due(BEGIN + 100 * MS)
    made.use(FeedForward(ROBOT, 2.0 * VALUES))
    again = made.due(BEGIN + 101 * MS)
    assert [stamp for stamp, _ in again] == [BEGIN + ms * MS for ms in (110, 120, 130, 140, 150)]


def test_the_way_to_a_trajectory_leads_from_where_the_reference_is():
    made = moving()
    made.due(BEGIN + 500 * MS)
    place, speed, _ = MOVE.sample([0.5])
    after = Trajectory(ROBOT.joint_names, [1.0], np.zeros((1, 3)))
    made.follow(after, BEGIN + 500 * MS, np.full(3, 9.0))
    (_, effort), *_ = made.due(BEGIN + 501 * MS)
    still = MODEL.efforts(place - 0.015 * place, -place, np.zeros((1, 3)))[0]
    np.testing.assert_allclose(effort, still, atol=1e-9)
    assert np.abs(speed).max() > 0.1


def test_without_a_trajectory_before_it_leads_from_where_the_robot_is():
    made = stream(lead=0.0)
    made.use(MODEL)
    made.due(BEGIN)
    here = np.array([1.0, 0.5, -0.5])
    made.follow(MOVE, BEGIN + 1000 * MS, here)
    (_, effort), *_ = made.due(BEGIN + 10 * MS)
    way = MOVE.preceded_by(-1.0, here, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(effort, MODEL.efforts(*way.sample([-0.985]))[0], atol=1e-9)


def test_after_the_end_the_robot_is_held():
    made = moving()
    *_, (_, effort) = made.due(BEGIN + 5000 * MS)
    end = MODEL.efforts(MOVE.positions[-1:], np.zeros((1, 3)), np.zeros((1, 3)))[0]
    np.testing.assert_allclose(effort, end, atol=1e-12)


def test_a_clock_that_is_set_back_or_far_ahead_does_no_harm():
    made = moving()
    made.due(BEGIN + 100 * MS)
    ((stamp, effort),) = made.due(1000 * MS)
    assert stamp == 1000 * MS
    assert not effort.any()
    assert made.due(BEGIN + 100 * MS) == [], "the motion is not played again"
    made.follow(MOVE, 0, MOVE.positions[0])
    assert made.due(BEGIN + 200 * MS)
    made = moving()
    late = made.due(BEGIN + 3600 * 1000 * MS)
    assert len(late) == 1000
    assert late[-1][0] == BEGIN + 3600 * 1000 * MS + 50 * MS


def test_a_trajectory_of_other_joints_is_refused():
    with pytest.raises(TrajectoryError):
        stream().follow(Trajectory(("a",), [0.0], np.zeros((1, 1))), BEGIN, np.zeros(3))


def test_what_is_no_number_is_never_due():
    """The values are finite, and what they make of the motion is not."""
    made = moving()
    made.use(FeedForward(ROBOT, np.full(len(VALUES), 1.7e308)))
    with pytest.raises(SampleError, match="feed-forward effort"):
        made.due(BEGIN + 300 * MS)
    made.stop()
    assert made.due(BEGIN + 301 * MS) == []
    made.use(MODEL)
    assert made.due(BEGIN + 302 * MS)


def test_joints_that_the_model_overloads_are_named():
    made = moving()
    made.due(BEGIN + 300 * MS)
    assert made.limited == ()
    made.use(FeedForward(ROBOT, 1e3 * VALUES))
    for _, effort in made.due(BEGIN + 301 * MS):
        assert (np.abs(effort) <= 500.0).all()
    assert "joint_2" in made.limited


def test_a_way_that_cannot_be_interpolated_is_refused_before_anything_is_sampled():
    made = moving()
    made.due(BEGIN + 500 * MS)
    far = Trajectory(ROBOT.joint_names, [0.5 + 1e-9], np.full((1, 3), 1e308), STILL[:1], STILL[:1])
    with pytest.raises(TrajectoryError, match="cannot be interpolated"):
        made.follow(far, BEGIN, MOVE.positions[0])
    assert made.due(BEGIN + 520 * MS)


def test_a_trajectory_with_efforts_of_its_own_is_not_fed_twice():
    made = moving()
    made.due(BEGIN + 100 * MS)
    own = Trajectory(MOVE.joint_names, MOVE.times, MOVE.positions, STILL, STILL, STILL + 1.0)
    made.follow(own, BEGIN + 200 * MS, MOVE.positions[0])
    due = made.due(BEGIN + 300 * MS)
    assert due
    np.testing.assert_array_equal([effort for _, effort in due], np.zeros((len(due), 3)))


def test_a_stream_that_fades_falls_to_zero_and_ends_with_it():
    made = moving()
    made.due(BEGIN + 200 * MS)
    made.fade(0.1)
    assert not made.over
    got = [one for now in range(204, 400, 4) for one in made.due(BEGIN + now * MS)]
    stamps = [(stamp - BEGIN) / MS for stamp, _ in got]
    assert stamps == [210, 220, 230, 240, 250, 260, 270, 280, 290, 300], "once each, from now on"
    for stamp, effort in got:
        full = MODEL.efforts(*MOVE.sample([(stamp - BEGIN) / 1e9 + 0.005]))[0]
        share = (300 - (stamp - BEGIN) / MS) / 100
        np.testing.assert_allclose(effort, share * full, atol=1e-12)
    assert not got[-1][1].any()
    assert made.over
    assert made.ended


def test_it_is_over_when_the_robot_has_got_there_and_not_when_all_is_sent():
    made = moving(lead=0.2)
    made.due(BEGIN + 200 * MS)
    made.fade(0.1)
    assert made.due(BEGIN + 204 * MS)
    assert made.ended
    assert not made.over
    made.due(BEGIN + 300 * MS)
    assert made.over


def test_without_a_time_to_fade_the_next_effort_is_zero():
    made = moving()
    made.due(BEGIN + 200 * MS)
    made.fade(0.0)
    ((stamp, effort),) = made.due(BEGIN + 204 * MS)
    assert (stamp, effort.any()) == (BEGIN + 210 * MS, False)
    assert made.due(BEGIN + 300 * MS) == []


def test_what_fades_goes_on_fading_whatever_comes():
    made = moving()
    made.due(BEGIN + 200 * MS)
    made.fade(0.1)
    made.due(BEGIN + 240 * MS)
    made.fade(10.0)
    made.use(FeedForward(ROBOT, 2.0 * VALUES))
    got = [one for now in range(244, 400, 4) for one in made.due(BEGIN + now * MS)]
    assert got[-1][0] == BEGIN + 300 * MS
    assert not got[-1][1].any()


def test_a_stream_that_has_not_begun_follows_what_comes_and_sends_nothing():
    made = TorqueStream(ROBOT.joint_names, 100.0, 0.05, begun=False)
    made.use(MODEL)
    made.due(BEGIN)
    made.follow(MOVE, BEGIN, MOVE.positions[0])
    assert made.due(BEGIN + 300 * MS) == []
    made.begin()
    (stamp, effort), *_ = made.due(BEGIN + 301 * MS)
    assert stamp == BEGIN + 310 * MS, "nothing of the time before"
    np.testing.assert_allclose(effort, MODEL.efforts(*MOVE.sample([0.315]))[0], atol=1e-12)


def test_a_clock_that_is_set_back_while_efforts_fade_ends_them_at_once():
    made = moving()
    made.due(BEGIN + 200 * MS)
    made.fade(5.0)
    made.due(BEGIN + 240 * MS)
    ((_, effort),) = made.due(BEGIN - 3600_000 * MS)
    assert not effort.any()
    made.due(BEGIN - 3600_000 * MS + 20 * MS)
    assert made.over
