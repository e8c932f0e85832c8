"""Joint states of a watched robot: which count, how old they are, and what is no state."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.errors import StaleStateError
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.states import (
    MotionStates,
    PhysicalMotion,
    Reading,
    Refusal,
)
from robot_identification.signals.positions.turns import TURN
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


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_positions_that_a_driver_wraps_into_one_turn_go_on(way):
    """A joint that stands at half a turn, turns on, and back again."""
    states = watched()
    noise = np.random.default_rng(0).normal(scale=1e-5, size=50)
    motion = np.concatenate([noise, way * np.linspace(0.0, 0.2, 100), way * np.full(20, 0.2)])
    motion = np.concatenate([motion, motion[::-1]])
    for i, moved in enumerate(motion):
        stamp = BEGIN + i * 2 * MILLISECOND
        place = (TURN + moved) % TURN - np.pi  # at pi or -pi
        states.add(state(stamp, [place, 0.1]), instant(stamp))
        if i == 0:
            first = states.latest.position[0] - moved
        assert states.latest.position[0] == pytest.approx(first + moved, abs=1e-9)
    assert states.refused == 0


def test_a_driver_may_wrap_positions_at_zero_too():
    states = watched()
    for i, place in enumerate((0.02, 0.01, TURN - 0.01, TURN - 0.02, 0.01)):
        stamp = BEGIN + i * 2 * MILLISECOND
        states.add(state(stamp, [place, 0.1]), instant(stamp))
        expected = place - TURN if place > 6.0 else place
        assert states.latest.position[0] == pytest.approx(expected)
    assert states.refused == 0


@pytest.mark.parametrize(("late", "turned"), [(399, TURN), (401, 0.0)])
def test_positions_go_on_over_pauses_that_may_be_bridged(late, turned):
    states = MotionStates(NAMES)
    for stamp, place in ((BEGIN, 3.14), (BEGIN + late * MILLISECOND, -3.14)):
        states.add(state(stamp, [place, 0.0]), instant(stamp))
    assert states.latest.position[0] == pytest.approx(-3.14 + turned)


def test_a_driver_that_begins_anew_is_believed_as_it_is():
    states = watched()
    for i, place in enumerate([3.1, 3.14, -3.14]):
        stamp = BEGIN + i * 20 * MILLISECOND
        states.add(state(stamp, [place, 0.0]), instant(stamp))
    assert states.latest.position[0] == pytest.approx(-3.14 + TURN)
    late = BEGIN + 10_000 * MILLISECOND
    states.add(state(late, [-3.14, 0.0]), instant(late), anew=True)
    assert states.latest.position[0] == -3.14


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


def test_a_robot_that_moves_on_is_believed_after_a_lie():
    """It has stood, then moved for 60 ms; its last state is off by 4 mm, the lie by 0.11 rad."""
    states = watched()
    for i in range(-200, 31):
        last = BEGIN + 2 * i * MILLISECOND
        off = 0.004 if i == 30 else 0.0
        states.add(state(last, [0.0, -0.004 * max(i, 0) + off]), instant(last))
    for late, wrong in ((50, -0.11), (60, 0.0)):
        now = last + late * MILLISECOND
        states.add(state(now, [0.0, -0.12 - 0.002 * late + wrong]), instant(now))
        assert states.refused == 1
    assert states.latest.stamp == now


@pytest.mark.parametrize(
    ("lie", "then", "believed"),
    [
        ((0.9, 0.1), (0.6, 0.008), True),
        ((0.5, 0.015), (0.1, 0.009), False),
        ((1.001, 0.009), (0.05, 0.009), True),
        ((2.0, 0.0), (1.0, 0.0), True),
    ],
)
def test_what_continues_a_lie_is_told_by_what_each_joint_may_jump(lie, then, believed):
    """1 rad and 0.01 m: as shares of these, the first is nearer to the truth, the second not."""
    physical = PhysicalMotion(np.zeros(2), np.array([1.0, 0.01]))
    states = MotionStates(NAMES, physical=physical)
    for i, place in enumerate(((0.0, 0.0), lie, then)):
        stamp = BEGIN + 2 * i * MILLISECOND
        states.add(state(stamp, place), instant(stamp))
    assert states.refused == (1 if believed else 2)


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


def test_a_joint_may_be_half_as_fast_again_as_its_limit():
    physical = PhysicalMotion(np.array([2.0, np.inf]), np.array([0.05, 0.1]))
    ways = physical.excess(np.array([-0.35, 1e9]), 0.1)
    np.testing.assert_allclose(ways, [1.0, 0.0])
    slow = replace(physical, speed=np.ones(2))
    np.testing.assert_allclose(slow.excess(np.array([0.05, 0.05]), -1.0), [1.0, 0.5])


@pytest.mark.parametrize(("way", "believed"), [(0.0559, True), (0.0561, False)])
def test_a_position_is_believed_up_to_tolerance_and_speed(way, believed):
    """0.05 rad of tolerance, and 3 rad/s for 2 ms."""
    states = watched()
    for i, place in enumerate((0.0, way)):
        stamp = BEGIN + 2 * i * MILLISECOND
        states.add(state(stamp, [0.0, place]), instant(stamp))
    assert (states.refused == 0) == believed
    if not believed:
        assert states.fault == "b cannot have moved by 0.0561 within 0.0020 s"


def test_the_joint_is_named_that_cannot_have_moved_so_far_not_the_one_that_went_farthest():
    """Of 10 rad/s 0.85 rad in 90 ms are possible, of 0.2 m/s 0.3 m are not."""
    physical = PhysicalMotion(np.array([10.0, 0.2]), np.full(2, 0.05))
    states = MotionStates(("swing", "slide"), physical=physical)
    for i, place in enumerate(((0.0, 0.0), (0.85, 0.3))):
        stamp = BEGIN + 90 * i * MILLISECOND
        states.add(state(stamp, place, names=("swing", "slide")), instant(stamp))
    assert states.fault == "slide cannot have moved by 0.3 within 0.0900 s"


@pytest.mark.parametrize(("ahead", "refused"), [(25, 0), (26, 1)])
def test_a_stamp_may_be_ahead_of_those_before_by_a_quarter_of_the_timeout(ahead, refused):
    states, stamp = moving()
    now = stamp + 30 * MILLISECOND
    message = state(now + (ahead - 1) * MILLISECOND, states.latest.position)
    states.add(message, instant(now))
    assert states.refused == refused
    again, _ = moving()
    again.add(message, instant(now), anew=True)
    assert not again.refused, "of a robot at rest nothing depends on it"


@pytest.mark.parametrize(("more", "refused"), [(0, 0), (1, 1)])
def test_the_first_state_may_be_from_the_future_by_the_timeout(more, refused):
    states = MotionStates(NAMES)
    states.add(state(BEGIN + 100 * MILLISECOND + more, [0.0, 0.0]), instant(BEGIN))
    assert states.refused == refused
    assert (states.fault == "") == (not refused)


def test_stamps_must_rise():
    states, stamp = moving()
    for wrong in (stamp, stamp - 1):
        states.add(state(wrong, states.latest.position), instant(stamp + MILLISECOND))
        assert states.refusal is Refusal.STAMP
        assert states.fault == "the stamps of the joint states do not rise"
    states.add(state(stamp + 1, states.latest.position), instant(stamp + MILLISECOND))
    assert (states.refusal, states.refused) == (None, 2)


@pytest.mark.parametrize("anew", [True, False])
def test_of_states_without_stamps_it_is_told_that_they_have_none(anew):
    states = MotionStates(NAMES, timeout=0.1)
    for late in range(3):
        now = instant(BEGIN + late * MILLISECOND)
        states.add(state(0, [0.0, 0.0]), now, anew=anew)
    assert states.stale(now)
    problem = states.problem(now)
    assert problem.startswith("the joint states carry no stamps: their driver has to say")
    if not anew:
        assert states.fault == problem
    taken = 2 if anew else 0
    assert states.problem(instant(BEGIN + (taken + 100) * MILLISECOND)) == problem
    silent = states.problem(instant(BEGIN + 200 * MILLISECOND))
    assert "is the driver running" in silent


@pytest.mark.parametrize(("late", "stale"), [(100, False), (101, True)])
def test_a_state_is_stale_beyond_the_timeout(late, stale):
    states = MotionStates(NAMES, timeout=0.1)
    states.add(state(BEGIN, [0.0, 0.0]), instant(BEGIN))
    now = instant(BEGIN + late * MILLISECOND)
    assert states.stale(now) == stale
    assert states.age(now) == states.silence(now) == pytest.approx(late * 1e-3)
    assert states.problem(now).startswith("the last joint state is 0.101 s old") == stale


def test_without_a_state_age_and_silence_are_infinite():
    states = MotionStates(NAMES)
    assert states.age(instant(BEGIN)) == states.silence(instant(BEGIN)) == np.inf
    assert states.stale(instant(BEGIN))
    assert states.problem(instant(BEGIN)) == "no joint states have come"
    assert states.recent(1.0, 1) == []
    np.testing.assert_array_equal(states.mean_velocity(), [0.0, 0.0])


def test_of_states_that_come_with_old_stamps_the_clock_is_doubted():
    states = MotionStates(NAMES)
    states.add(state(BEGIN, [0.0, 0.0]), instant(BEGIN + 150 * MILLISECOND))
    problem = states.problem(instant(BEGIN + 150 * MILLISECOND))
    assert problem.startswith("the last joint state is 0.150 s old, more than 0.1 s; is the driver")


def test_a_driver_whose_clock_begins_at_zero_has_stamps():
    states = MotionStates(NAMES)
    for stamp in (0, 10 * MILLISECOND):
        states.add(state(stamp, [0.0, 0.0]), instant(BEGIN + stamp))
    assert states.problem(instant(BEGIN + stamp)).startswith("the last joint state is 1700000000.0")


def test_what_is_wrong_with_old_states_says_why_none_came():
    states, stamp = moving()
    assert states.problem(instant(stamp + MILLISECOND)) == ""
    states.add(state(stamp, [0.0, 0.0]), instant(stamp + MILLISECOND))
    late = states.problem(instant(stamp + 150 * MILLISECOND))
    assert "0.150 s old, more than 0.1 s (the stamps of the joint states do not rise)" in late
    future = states.problem(Instant(stamp - 150 * MILLISECOND, stamp + 2 * MILLISECOND - BEGIN))
    assert future.startswith("the last joint state is 0.150 s in the future, more than 0.1 s")


def test_readings_reach_back_by_their_stamps():
    states, stamp = moving(count=10, period=10 * MILLISECOND)
    assert len(states.recent(0.05, 0)) == 6, "both ends count"
    assert len(states.recent(0.049, 0)) == 5
    assert len(states.recent(0.0, 0)) == 1
    assert len(states.recent(0.0, 100)) == 10
    stamps = [reading.stamp for reading in states.recent(0.02, 0)]
    assert stamps == [stamp - 20 * MILLISECOND, stamp - 10 * MILLISECOND, stamp]
    np.testing.assert_allclose(states.mean_velocity(0.02), [1.0, -2.0])
    one = MotionStates(NAMES)
    one.add(state(BEGIN, [0.5, 0.5]), instant(BEGIN))
    np.testing.assert_array_equal(one.mean_velocity(), [0.0, 0.0])


def test_the_mean_velocity_is_that_from_the_first_to_the_last():
    """Of a joint that has moved by 0, 1, 4, 9 and 16 mm, ten milliseconds each."""
    states = MotionStates(NAMES)
    for i in range(5):
        stamp = BEGIN + i * 10 * MILLISECOND
        states.add(state(stamp, [1e-3 * i**2, 0.0]), instant(stamp))
    np.testing.assert_allclose(states.mean_velocity(0.04), [0.4, 0.0])
    np.testing.assert_allclose(states.mean_velocity(0.02), [0.6, 0.0])


def test_messages_are_counted_from_one():
    states = MotionStates(NAMES)
    for number in (1, 2, 3):
        states.add(state(BEGIN + number, [0.0, np.nan]), instant(BEGIN))
        assert str(number) in states.fault


@pytest.mark.parametrize("age", [-100, -99, -1, 1, 99, 100])
def test_states_that_do_not_come_are_old_whatever_their_stamps_say(age):
    """ROS time stands still, or the driver's clock differs by less than is stale."""
    states = MotionStates(NAMES)
    states.add(state(BEGIN, [0.0, 0.0]), instant(BEGIN))
    silent = Instant(BEGIN + age * MILLISECOND, 150 * MILLISECOND)
    assert states.problem(silent).startswith("the last joint state is 0.150 s old, more than 0.1 s")


def test_the_last_two_readings_tell_a_velocity_however_far_apart():
    states = MotionStates(NAMES)
    for i, place in enumerate((5.0, 0.0, 0.1)):
        stamp = BEGIN + i * 500 * MILLISECOND
        states.add(state(stamp, [place, -2.0 * place]), instant(stamp))
    np.testing.assert_allclose(states.mean_velocity(0.1), [0.2, -0.4])


def test_whether_a_robot_rests_is_told_by_a_tenth_of_a_second():
    """Of a joint that has moved by 0, 1, 4, 9 mm and so on, ten milliseconds each."""
    states = MotionStates(NAMES)
    for i in range(30):
        stamp = BEGIN + i * 10 * MILLISECOND
        states.add(state(stamp, [1e-3 * i**2, 0.0]), instant(stamp))
    np.testing.assert_allclose(states.mean_velocity(), [1e-2 * (29**2 - 19**2), 0.0])


def test_the_delay_is_from_stamp_to_arrival():
    assert Reading(BEGIN, instant(BEGIN + 7), np.zeros(2)).delay == 7
