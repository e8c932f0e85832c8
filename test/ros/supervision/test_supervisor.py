"""The supervision of a motion, without ROS and without a clock."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.quintic_curve import shares
from robot_identification.errors import NotCertifiedError, StaleStateError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.ros.supervision import braking as motion_braking
from robot_identification.ros.supervision import supervisor as supervision
from robot_identification.ros.supervision.phases import MOVING, Phase, Reason
from watched_motion import APPROACH, LIMITS, RUN, STEP, World

SECOND = 10**9
ROUNDING = 1.0 + 1e-6
FAST = Trajectory(
    RUN.joint_names,
    RUN.times / 2.0,
    RUN.positions * [1.0, 2.0 / 3.0],
    RUN.velocities,
    RUN.accelerations,
)


def running(seconds, **options):
    """Return a world in which the robot has followed the run for some time."""
    world = World(**options)
    world.begin()
    world.pass_time(0.3 + seconds)
    assert world.motion.phase is Phase.RUNNING
    return world


def within_limits(world):
    """Check every trajectory that was published."""
    for command in world.commands:
        assert max(shares(command.sent, LIMITS)) <= ROUNDING


def test_approach_then_run_then_finished_and_every_start_is_in_the_future():
    world = World(APPROACH, (0.3, 0.0))
    world.begin()
    assert world.commands[0].start > world.now
    assert world.motion.phase is Phase.APPROACHING
    world.pass_time(2.0)
    assert world.motion.phase is Phase.RUNNING
    assert world.commands[1].trajectory is RUN
    world.pass_time(6.0)
    assert world.motion.phase is Phase.FINISHED
    assert len(world.commands) == 2


def test_a_stop_brakes_from_where_the_robot_is_and_ends_the_motion_for_good():
    world = World()
    world.begin()
    world.pass_time(1.3)
    before = world.position.copy()
    braking = world.stop()
    assert braking.start == world.now
    np.testing.assert_allclose(braking.trajectory.positions[0], before, atol=1e-9)
    assert world.stop() is None
    world.pass_time(3.0)
    assert (world.motion.phase, world.motion.reason) == (Phase.STOPPED, Reason.REQUESTED)
    assert len(world.commands) == 2


def test_a_controller_that_hears_of_a_stop_near_rest_too_late_still_obeys():
    world = World()
    world.begin()
    world.pass_time(0.4)
    command = world.stop()
    assert command.trajectory.duration < 0.1
    sent = command.sent
    assert sent.duration >= command.trajectory.duration + 0.5
    times = command.trajectory.duration + np.array([0.0, 0.2, 0.5])
    q, v, a = sent.sample(times)
    np.testing.assert_allclose(q, np.tile(command.trajectory.positions[-1], (3, 1)), atol=1e-12)
    np.testing.assert_allclose(np.hstack([v, a]), 0.0, atol=1e-9)
    world.pass_time(0.3)
    assert world.motion.phase is Phase.STOPPED, "rest that is sent does not delay the end"


def test_stale_states_stop_the_motion_and_without_any_there_is_no_word_of_rest():
    world = World()
    world.begin()
    world.pass_time(1.0)
    world.silent = True
    world.pass_time(0.2)
    assert (world.motion.phase, world.motion.reason) == (Phase.BRAKING, Reason.STATE_STALE)
    silence = (world.commands[1].start - world.states.latest.stamp) * 1e-9
    assert 0.1 < silence <= 0.1 + 2 * STEP * 1e-9
    time = (world.commands[1].start - world.commands[0].start) * 1e-9
    reference = RUN.sample(time)[0][0]
    np.testing.assert_allclose(world.commands[1].trajectory.positions[0], reference, atol=1e-9)
    world.pass_time(4.0)
    assert world.motion.phase is Phase.FAULT
    assert "emergency" in world.motion.text


def test_states_that_are_repeated_with_an_old_stamp_are_stale():
    world = running(0.7)
    world.silent = True
    old = world.states.latest.stamp
    for _ in range(25):
        world.look()
        world.say(old, world.position)
        world.tick()
    assert world.motion.reason is Reason.STATE_STALE
    assert "do not rise" in world.motion.text


def test_states_that_are_frozen_with_new_stamps_are_a_tracking_error():
    world = running(0.7)
    world.frozen = True
    world.pass_time(0.5)
    assert world.motion.reason is Reason.TRACKING_ERROR
    within_limits(world)


def test_a_robot_that_leaves_the_trajectory_brakes_from_where_it_is():
    world = running(1.0)
    for _ in range(30):
        world.offset = np.add(world.offset, [0.0, 0.008])
        world.pass_time(STEP * 1e-9)
    assert world.motion.reason is Reason.TRACKING_ERROR
    assert "b is 0.1" in world.motion.text
    braking = world.commands[1]
    there = RUN.sample((braking.start - world.commands[0].start) * 1e-9)[0][0] + [0.0, 0.104]
    np.testing.assert_allclose(braking.trajectory.positions[0], there, atol=5e-3)
    within_limits(world)


def test_one_wrong_state_stops_nothing():
    """Whatever it says: the next ones are sound."""
    for wrong in (0.2, 3.0, 1e9):
        world = running(0.7)
        world.say(world.driver_now + STEP // 2, world.position + wrong)
        world.pass_time(0.5)
        assert world.motion.phase is Phase.RUNNING
        assert world.states.refused == 1


def test_velocities_that_a_driver_publishes_are_not_braked_from():
    for field in (1e9, -1e300, np.nan):
        world = running(0.7)
        world.look()
        world.say(world.driver_now + 1, world.position, [field, field])
        world.stop()
        speed = RUN.sample(0.705)[1][0]
        np.testing.assert_allclose(world.commands[-1].trajectory.velocities[0], speed, atol=0.01)
        within_limits(world)


def test_one_state_from_the_future_does_not_blind_the_watch():
    world = running(0.7)
    world.say(world.driver_now + round(0.95 * SECOND), world.position)
    world.pass_time(0.1)
    assert world.motion.phase is Phase.RUNNING
    world.silent = True
    begin = world.elapsed
    while world.motion.phase is Phase.RUNNING:
        world.pass_time(STEP * 1e-9)
    assert world.elapsed - begin <= 0.1 * SECOND + 2 * STEP
    assert world.motion.reason is Reason.STATE_STALE
    within_limits(world)


@pytest.mark.parametrize("step", [-0.9, -3600.0, 0.05, 0.95, 3600.0])
def test_when_the_clock_of_the_driver_is_set_the_robot_brakes_within_the_limits(step):
    world = running(0.45, run=FAST)
    world.driver_set = round(step * SECOND)
    world.pass_time(0.15)
    assert world.motion.phase is Phase.BRAKING
    assert world.motion.reason is Reason.STATE_STALE
    braking = world.commands[-1]
    assert braking.at_once, "the controller's clock is not that of this node"
    after = (braking.start - world.commands[0].start) * 1e-9
    assert after <= 0.55 + 3 * STEP * 1e-9
    np.testing.assert_allclose(braking.trajectory.positions[0], FAST.sample(after)[0][0])
    within_limits(world)


@pytest.mark.parametrize("step", [-0.08, -0.9, 0.95])
def test_when_only_the_stamps_of_the_states_step_the_robot_brakes_within_the_limits(step):
    world = running(0.45, run=FAST)
    world.stamps_set = round(step * SECOND)
    world.pass_time(0.22)
    assert (world.motion.phase, world.motion.reason) == (Phase.BRAKING, Reason.STATE_STALE)
    begin = (world.commands[-1].start - world.commands[0].start) * 1e-9
    assert begin <= 0.45 + 0.08 + 0.1 + 3 * STEP * 1e-9
    where = FAST.sample(begin)[0][0]
    np.testing.assert_allclose(world.commands[-1].trajectory.positions[0], where, atol=1e-6)
    within_limits(world)


def test_a_small_step_of_the_driver_s_clock_at_low_speed_is_no_harm():
    world = running(0.03)
    world.driver_set = -round(0.08 * SECOND)
    world.pass_time(0.05)
    assert world.motion.phase is Phase.RUNNING


@pytest.mark.parametrize("step", [-3600.0, -0.9, -0.05, 0.05, 0.9, 3600.0])
def test_when_the_clock_of_the_node_is_set_the_robot_brakes_at_once(step):
    world = running(0.7)
    world.node_set = round(step * SECOND)
    world.look()
    braking = world.tick()
    assert (world.motion.phase, world.motion.reason) == (Phase.BRAKING, Reason.CLOCK_JUMP)
    assert braking.at_once
    assert braking.stamp == 0
    where = RUN.sample(0.705)[0][0]
    np.testing.assert_allclose(braking.trajectory.positions[0], where, atol=1e-6)
    within_limits(world)
    world.pass_time(0.3)
    np.testing.assert_allclose(world.position, braking.trajectory.positions[-1], atol=1e-9)


@pytest.mark.parametrize("step", [-0.9, 0.9])
def test_a_stop_that_comes_just_after_a_clock_was_set_brakes_where_the_robot_is(step):
    world = running(0.7)
    world.node_set = round(step * SECOND)
    braking = world.stop()
    assert world.motion.reason is Reason.CLOCK_JUMP
    np.testing.assert_allclose(braking.trajectory.positions[0], RUN.sample(0.7)[0][0], atol=1e-6)


def test_when_the_time_of_a_simulation_stands_still_the_motion_is_stopped():
    world = running(0.7, simulated=True)
    world.stopped = world.silent = True
    begin = world.elapsed
    while world.motion.phase is Phase.RUNNING:
        world.pass_time(STEP * 1e-9)
    assert world.motion.reason is Reason.STATE_STALE
    assert world.elapsed - begin <= 0.1 * SECOND + 2 * STEP
    world.pass_time(5.0)
    assert world.motion.phase is Phase.FAULT
    assert "emergency" in world.motion.text


def test_a_simulation_that_is_begun_anew_stops_the_motion():
    world = running(0.7, simulated=True)
    world.node_set = world.driver_set = -100 * SECOND
    world.look()
    world.tick()
    assert world.motion.reason is Reason.CLOCK_JUMP


@pytest.mark.parametrize("broken", ["brake", "exceeded", "stop_motion"])
def test_a_robot_is_held_where_braking_cannot_be_computed(monkeypatch, broken):
    world = running(0.7)
    owner = supervision if broken == "stop_motion" else motion_braking

    def fail(*_):
        raise ZeroDivisionError("a fault of this program")

    monkeypatch.setattr(owner, broken, fail)
    where = world.position.copy()
    command = world.stop()
    np.testing.assert_allclose(command.trajectory.positions, [where, where], atol=1e-9)
    assert command.trajectory.duration >= world.motion.limits.time
    assert "fault of this program" in world.motion.text
    within_limits(world)
    world.pass_time(2.0)
    assert world.motion.phase is Phase.FAULT


def test_a_motion_beyond_the_limits_of_the_robot_is_not_begun():
    world = World()
    world.motion.run = Trajectory(
        RUN.joint_names, RUN.times / 3.0, RUN.positions, RUN.velocities, RUN.accelerations
    )
    with pytest.raises(NotCertifiedError, match=r"velocity|acceleration"):
        world.begin()
    assert not world.commands


@pytest.mark.parametrize("phase", [Phase.RUNNING, Phase.APPROACHING])
def test_what_may_not_begin_is_told_beforehand(phase):
    world = World(APPROACH, (0.3, 0.0)) if phase is Phase.APPROACHING else World()
    world.motion.check(world.instant)
    assert world.motion.command is None
    for _ in range(30):
        world.position = world.position + 0.0002
        world.look()
    with pytest.raises(StaleStateError, match="moves at"):
        world.motion.check(world.instant)


LIES = st.tuples(
    st.sampled_from(("say", "repeat", "silence", "set driver", "set node", "shift", "freeze")),
    st.one_of(
        st.floats(-3.0, 3.0), st.floats(-1e300, 1e300), st.sampled_from((0.2, -0.08, 0.95, 1e9))
    ),
    st.integers(1, 30),
)


def lie(world, kind, value, looks):
    """Have something go wrong, and let some time pass."""
    small = float(np.clip(value, -1e6, 1e6))
    if kind == "say":
        world.say(max(world.driver_now + round(min(small, 1e3) * 1e8), 0), world.position + value)
    elif kind == "repeat" and world.states.latest is not None:
        world.say(world.states.latest.stamp, world.position)
    elif kind == "silence":
        world.silent = not world.silent
    elif kind == "set driver":
        world.driver_set = round(small * SECOND / 10)
    elif kind == "set node":
        world.node_set = round(small * SECOND / 10)
    elif kind == "shift":
        world.offset = np.add(world.offset, [value, -value])
    elif kind == "freeze":
        world.frozen = not world.frozen
    world.pass_time(looks * STEP * 1e-9)


@settings(max_examples=30, deadline=None)
@given(begin=st.floats(0.0, 4.2), lies=st.lists(LIES, min_size=1, max_size=6))
def test_whatever_the_states_and_clocks_say_nothing_beyond_a_limit_is_published(begin, lies):
    world = World()
    world.begin()
    world.pass_time(begin)
    for kind, value, looks in lies:
        lie(world, kind, value, looks)
    for _ in range(round(9.0 * SECOND) // STEP):
        if world.motion.phase not in MOVING:
            break
        world.pass_time(STEP * 1e-9)
    within_limits(world)
    assert world.motion.phase not in MOVING


def test_motion_is_seen_by_a_node_that_slept_over_the_beginning():
    """The first state that it sees then may be one in which the robot hardly moves."""
    world = World()
    world.begin()
    turning_point = world.commands[0].start + round(RUN.times[1] * 1e9)
    world.silent = True
    while world.now < turning_point - STEP:
        world.look()
    world.silent = False
    world.pass_time(0.05)
    assert world.motion.phase is Phase.RUNNING


def test_motion_that_does_not_show_within_half_a_second_is_a_fault():
    world = World()
    world.begin()
    world.frozen = True
    world.pass_time(0.3 + 0.2)
    assert world.motion.phase is Phase.RUNNING
    world.pass_time(0.31)
    assert world.motion.reason is Reason.NOT_MOVING
    world.pass_time(3.0)
    assert world.motion.phase is Phase.FAULT


def test_a_robot_that_goes_on_after_braking_is_a_fault():
    world = running(1.0)
    world.stop()
    world.frozen = True  # nobody listens
    for _ in range(700):
        world.position = world.position + 0.001
        world.pass_time(STEP * 1e-9)
    assert world.motion.phase is Phase.FAULT
    assert "still moves" in world.motion.text


def test_the_run_does_not_begin_away_from_its_start():
    world = World(APPROACH, (0.3, 0.0))
    world.begin()
    world.pass_time(1.0)
    world.offset = np.array([0.02, 0.0])
    world.pass_time(4.0)
    assert world.motion.phase is Phase.FAULT
    assert "a is 0.02 away" in world.motion.text
    assert len(world.commands) == 1


@pytest.mark.parametrize("fault", ["stale", "moving", "away"])
def test_nothing_begins(fault):
    world = World()
    if fault == "stale":
        world.elapsed += 10**9
    if fault == "away":
        world = World(position=(0.011, 0.0))
    if fault == "moving":
        for _ in range(30):
            world.position = world.position + 0.0002
            world.look()
    with pytest.raises(StaleStateError):
        world.begin()
    assert not world.motion.command
