"""Joint states of a watched robot: which count, how old they are, and what is no state."""

import numpy as np
import pytest

from robot_identification.errors import StaleStateError
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.states import MotionStates, Refusal
from watched_motion import BEGIN, NAMES, instant, state, watched

MILLISECOND = 1_000_000


def moving(count=50, velocity=(1.0, -2.0), period=2 * MILLISECOND):
    """Return states of a robot that has moved steadily, and the stamp of the last one."""
    states = watched()
    for i in range(count):
        stamp = BEGIN + i * period
        position = np.array(velocity) * i * period * 1e-9
        states.add(state(stamp, position), instant(stamp + MILLISECOND))
    assert not states.refused
    return states, stamp


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        (state(BEGIN, [0.0, np.nan]), "nan"),
        (state(BEGIN, [0.0, np.inf]), "inf"),
        (state(BEGIN, []), "no position"),
        (state(BEGIN, [0.0]), "one per name"),
        (state(BEGIN, [0.0, 0.0], names=("a", "c")), "joint b"),
        (state(BEGIN, [0.0, 0.0, 0.0], names=("a", "b", "b")), "joint b"),
    ],
)
def test_messages_of_no_use_are_no_states(message, fault):
    states = MotionStates(NAMES)
    states.add(message, instant(BEGIN))
    assert states.latest is None
    assert fault in states.fault
    assert (states.refusal, states.refused) == (Refusal.CONTENT, 1)
    with pytest.raises(StaleStateError, match=fault):
        states.fresh(instant(BEGIN))


def test_joints_are_found_by_name():
    states = MotionStates(NAMES)
    for i in range(100):
        stamp = BEGIN + i * MILLISECOND
        message = state(stamp, [7.0, 0.002 * i, -0.001 * i], names=("x", "b", "a"))
        states.add(message, instant(stamp))
    np.testing.assert_allclose(states.latest.position, [-0.099, 0.198])
    np.testing.assert_allclose(states.mean_velocity(), [-1.0, 2.0], rtol=1e-6)


def test_a_driver_with_another_clock_is_refused_and_told_so():
    states = MotionStates(NAMES)
    states.add(state(BEGIN + 10**9, [0.0, 0.0]), instant(BEGIN))
    with pytest.raises(StaleStateError, match=r"1\.000 s in the future.*clock"):
        states.fresh(instant(BEGIN))
    states.add(state(BEGIN, [0.5, 0.0]), instant(BEGIN))
    assert states.fresh(instant(BEGIN)).position[0] == 0.5, "what follows is sound"


def test_a_robot_at_rest_is_believed_again_once_its_last_state_is_stale():
    """Its driver was started again, with the clock set back by an hour."""
    states, stamp = moving()
    later = stamp + 200 * MILLISECOND
    states.add(state(BEGIN, [2.0, 2.0]), Instant(BEGIN, later - BEGIN), anew=True)
    np.testing.assert_array_equal(states.latest.position, [2.0, 2.0])
    moved, stamp = moving()
    moved.add(state(BEGIN, [2.0, 2.0]), Instant(BEGIN, later - BEGIN))
    assert moved.refusal is Refusal.STAMP, "a robot in motion is not"


def test_a_state_is_stale_when_nothing_has_come_for_long_whatever_the_clocks_say():
    states, stamp = moving()
    steady = stamp + MILLISECOND - BEGIN
    assert not states.stale(Instant(stamp + MILLISECOND, steady))
    assert states.stale(Instant(stamp + MILLISECOND, steady + 101 * MILLISECOND)), "ROS time stands"
    assert states.stale(Instant(stamp - 900 * MILLISECOND, steady + 101 * MILLISECOND)), "set back"
    assert states.stale(Instant(stamp + 101 * MILLISECOND, steady)), "an old stamp"
    assert states.stale(Instant(stamp - 101 * MILLISECOND, steady)), "a stamp from the future"


def test_one_state_from_the_future_hides_none_that_follow():
    states, stamp = moving()
    lie = stamp + 952 * MILLISECOND
    states.add(state(lie, states.latest.position), instant(stamp + 2 * MILLISECOND))
    assert states.refusal is Refusal.STAMP
    assert "ahead" in states.fault
    true = stamp + 4 * MILLISECOND
    states.add(state(true, states.latest.position), instant(true + MILLISECOND))
    assert states.latest.stamp == true
    assert not states.fault


def test_a_clock_that_steps_ahead_by_less_than_the_timeout_is_noticed_too():
    states, stamp = moving()
    for i in range(1, 30):
        now = stamp + 2 * i * MILLISECOND
        states.add(state(now + 40 * MILLISECOND, states.latest.position), instant(now))
    assert states.refused == 29
    assert states.latest.stamp == stamp


def test_late_and_jittering_stamps_are_no_lies():
    rng = np.random.default_rng(0)
    states = watched()
    for i in range(2000):
        made = BEGIN + i * 8 * MILLISECOND
        stamp = made + round(rng.uniform(-1.0, 1.0) * 3.9 * MILLISECOND)
        arrival = made + round(rng.exponential(5.0) * MILLISECOND) + 4 * MILLISECOND
        states.add(state(stamp, [0.004 * np.sin(0.002 * i), 0.0]), instant(arrival))
    assert not states.refused


@pytest.mark.parametrize("jump", [0.06, -0.2, 3.0, 1e9])
def test_a_position_that_no_motion_explains_is_counted_and_passed_over(jump):
    states, stamp = moving()
    lie, true = stamp + 2 * MILLISECOND, stamp + 4 * MILLISECOND
    before = states.latest.position
    states.add(state(lie, np.add(before, [jump, 0.0])), instant(lie))
    assert (states.refusal, states.refused) == (Refusal.POSITION, 1)
    assert "a cannot have moved" in states.fault
    np.testing.assert_array_equal(states.latest.position, before)
    states.add(state(true, np.add(before, [0.004, -0.008])), instant(true))
    assert states.latest.stamp == true


def test_a_lie_does_not_become_possible_by_being_repeated():
    states, stamp = moving()
    before = states.latest.position
    for i in range(1, 40):
        now = stamp + 2 * i * MILLISECOND
        going_on = before + np.array([1.0, -2.0]) * (now - stamp) * 1e-9
        states.add(state(now, np.add(going_on, [0.15, 0.0])), instant(now))
    assert states.refused == 39
    assert states.latest.stamp == stamp
    assert states.stale(instant(stamp + 103 * MILLISECOND))


def test_a_robot_whose_states_paused_may_have_moved_on():
    states, stamp = moving()
    later = stamp + 90 * MILLISECOND
    states.add(state(later, np.add(states.latest.position, [0.09, -0.18])), instant(later))
    assert states.latest.stamp == later


def test_the_last_readings_reach_back_as_far_as_is_needed():
    states, stamp = moving(count=5, period=40 * MILLISECOND)
    assert [r.stamp for r in states.recent(0.05, 1)] == [stamp - 40 * MILLISECOND, stamp]
    assert len(states.recent(0.05, 4)) == 4
    assert not watched().recent(1.0, 3)
