"""The supervision of a motion, without ROS and without a clock."""

from dataclasses import replace

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState

from robot_identification.errors import StaleStateError
from robot_identification.excitation.handover import FADE_SHARE
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.timing import motion_extrema
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.nodes.motion import Motion, MotionSettings, Phase, Reason
from robot_identification.nodes.motion_braking import BrakingLimits, brake_from_reference
from robot_identification.nodes.motion_states import MotionStates

NAMES = ("a", "b")
BEGIN = 1_700_000_000_000_000_000
STEP = 5_000_000
STILL = np.zeros((3, 2))
LIMITS = MotionLimits(
    np.full(2, -3.0), np.full(2, 3.0), np.full(2, 2.0), np.full(2, 10.0), np.full(2, np.inf),
    np.full(2, np.inf),
)  # fmt: skip
BRAKING = BrakingLimits(LIMITS.tightened(acceleration=0.8), LIMITS, time=1.0, lag_time=1.0)
RUN = Trajectory(
    NAMES, [0.0, 2.0, 4.0], np.array([[0.0, 0.0], [1.0, -1.0], [0.0, 0.5]]), STILL, STILL
)
APPROACH = Trajectory(NAMES, [0.0, 1.0], np.array([[0.3, 0.0], [0.0, 0.0]]), STILL[:2], STILL[:2])


def state(now, position, velocity=(), names=NAMES):
    message = JointState(name=list(names), position=list(position), velocity=list(velocity))
    message.header.stamp = Time(sec=now // 10**9, nanosec=now % 10**9)
    return message


class World:
    """A robot that follows exactly, and the clock."""

    def __init__(self, approach=None, position=(0.0, 0.0), limits=BRAKING):
        self.now = BEGIN
        self.position = np.array(position)
        self.states = MotionStates(NAMES)
        settings = MotionSettings(tracking_error=np.full(2, 0.1))
        self.motion = Motion(limits, self.states, settings, RUN, approach)
        self.commands = []
        self.frozen = self.silent = False
        self.offset = np.zeros(2)
        for _ in range(30):
            self.look()

    def look(self):
        """Let a little time pass in which the robot says where it is."""
        self.now += STEP
        command = self.commands[-1] if self.commands else None
        if command is not None and not self.frozen:
            time = (self.now - command.start) * 1e-9
            self.position = command.trajectory.sample(time)[0][0]
        if not self.silent:
            self.states.add(state(self.now, self.position + self.offset))

    def begin(self):
        self.commands.append(self.motion.begin(self.now))

    def pass_time(self, seconds):
        end = self.now + round(seconds * 1e9)
        while self.now < end:
            self.look()
            command = self.motion.tick(self.now)
            if command is not None:
                self.commands.append(command)


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
    braking = world.motion.stop(world.now)
    assert braking.start == world.now
    np.testing.assert_allclose(braking.trajectory.positions[0], before, atol=1e-9)
    world.commands.append(braking)
    assert world.motion.stop(world.now) is None
    world.pass_time(3.0)
    assert (world.motion.phase, world.motion.reason) == (Phase.STOPPED, Reason.REQUESTED)
    assert len(world.commands) == 2


def test_a_controller_that_hears_of_a_stop_near_rest_too_late_still_obeys():
    world = World()
    world.begin()
    world.pass_time(0.4)
    command = world.motion.stop(world.now)
    assert command.trajectory.duration < 0.1
    sent = command.sent
    assert sent.duration >= command.trajectory.duration + 0.5
    times = command.trajectory.duration + np.array([0.0, 0.2, 0.5])
    q, v, a = sent.sample(times)
    np.testing.assert_allclose(q, np.tile(command.trajectory.positions[-1], (3, 1)), atol=1e-12)
    np.testing.assert_allclose(np.hstack([v, a]), 0.0, atol=1e-9)
    world.commands.append(command)
    world.pass_time(0.3)
    assert world.motion.phase is Phase.STOPPED, "rest that is sent does not delay the end"


def late(world, seconds, *, noise=0.0, age=0.003, readings=20, lag=(0.0, 0.0), rate=(0.0, 0.0)):
    """Let the states end some time before now, behind the reference, with noise."""
    rng = np.random.default_rng(0)
    start = world.commands[0].start
    world.states = world.motion.states = MotionStates(NAMES)
    for i in reversed(range(readings)):
        time = seconds - age - 0.002 * i
        behind = np.array(lag) + np.array(rate) * (time - seconds)
        q = RUN.sample(time)[0][0] - behind + noise * rng.standard_normal(2)
        world.states.add(state(start + round(time * 1e9), q))
    world.now = start + round(seconds * 1e9)


@pytest.mark.parametrize("seconds", [0.4, 1.0, 1.7, 2.0, 3.2])
def test_braking_begins_at_the_measured_state_carried_forward(seconds):
    lag, rate = np.array([0.03, -0.02]), np.array([0.1, 0.05])
    at_once = replace(BRAKING, lag_time=0.0)
    for limits, ahead in ((at_once, 0.0), (BRAKING, 1.0)):
        world = World(limits=limits)
        world.begin()
        late(world, seconds, lag=lag, rate=rate)
        braking = world.motion.stop(world.now).trajectory
        q, v, a = (values[0] for values in RUN.sample(seconds))
        found = [values[0] for values in braking.sample(0.0)]
        np.testing.assert_allclose(found[0], q - (1.0 - ahead) * lag, atol=1e-9)
        np.testing.assert_allclose(found[1], v - (1.0 - ahead) * rate, atol=1e-6)
        np.testing.assert_allclose(found[2], a, atol=1e-9)
    gone = world.motion.limits.brake(NAMES, q - lag, v - rate, a).trajectory
    np.testing.assert_allclose(braking.positions[-1], gone.positions[-1], atol=1e-9)


def test_noise_of_the_states_hardly_shows_in_the_velocity_at_which_braking_begins():
    world = World(limits=replace(BRAKING, lag_time=0.0))
    world.begin()
    late(world, 1.0, noise=1e-5)
    braking = world.motion.stop(world.now).trajectory
    assert np.abs(braking.velocities[0] - RUN.sample(1.0)[1][0]).max() < 3e-3
    assert np.abs(braking.positions[0] - RUN.sample(1.0)[0][0]).max() < 5e-5


@pytest.mark.parametrize("seconds", np.linspace(0.2, 3.9, 12))
@pytest.mark.parametrize("lag", [(0.1, -0.1), (-0.1, 0.05), (0.002, 0.0)])
def test_braking_with_the_largest_lag_keeps_the_limits_and_the_time(seconds, lag):
    limits = replace(BRAKING, time=0.5)
    world = World(limits=limits)
    world.begin()
    late(world, seconds, lag=lag)
    braking = world.motion.stop(world.now).trajectory
    extrema = motion_extrema(braking.coefficients, np.diff(braking.times))
    assert np.abs(extrema[2]).max() <= (0.8 + FADE_SHARE) * 10.0 * (1 + 1e-6)
    assert braking.duration <= limits.time
    assert np.abs(braking.velocities[-1]).max() == 0.0


def test_braking_that_would_end_outside_uses_all_of_the_acceleration():
    near = replace(LIMITS, upper=np.array([1.0, 3.0]))
    limits = replace(BRAKING, planned=near.tightened(acceleration=0.5), declared=near)
    zero, v = np.zeros(2), np.array([1.5, 0.0])
    way = {share: 0.75 * 1.5**2 / (share * 10.0) for share in (0.5, 1.0)}
    for place, share, inside in ((0.5, 0.5, True), (0.8, 1.0, True), (0.9, 1.0, False)):
        braking = limits.brake(NAMES, np.array([place, 0.0]), v, zero)
        assert braking.keeps_limits == inside
        assert braking.trajectory.positions[-1, 0] == pytest.approx(place + way[share])


@pytest.mark.parametrize("time", np.linspace(0.0, 4.0, 41))
def test_braking_keeps_velocity_and_acceleration(time):
    braking = brake_from_reference(BRAKING, RUN, time).trajectory
    extrema = motion_extrema(braking.coefficients, np.diff(braking.times))
    assert np.abs(extrema[1]).max() <= 2.0 * (1 + 1e-9)
    assert np.abs(extrema[2]).max() <= 10.0 * (1 + 1e-6)
    np.testing.assert_allclose(braking.velocities[-1], 0.0)
    q, v, a = RUN.sample(time)
    np.testing.assert_allclose(braking.positions[0], q[0], atol=1e-12)
    np.testing.assert_allclose(braking.velocities[0], v[0], atol=1e-12)
    if np.any(v) and np.any(a):
        np.testing.assert_allclose(braking.accelerations[0], a[0], atol=1e-12)


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
    world = World()
    world.begin()
    world.pass_time(1.0)
    world.silent = True
    frozen = state(world.states.latest.stamp, world.position)
    for _ in range(25):
        world.look()
        world.states.add(frozen)
        world.motion.tick(world.now)
    assert world.motion.reason is Reason.STATE_STALE
    assert "do not rise" in world.motion.text


def test_states_that_are_frozen_with_new_stamps_are_a_tracking_error():
    world = World()
    world.begin()
    world.pass_time(1.0)
    world.frozen = True
    world.pass_time(0.5)
    assert world.motion.reason is Reason.TRACKING_ERROR


def test_a_robot_that_leaves_the_trajectory_brakes_from_where_it_is():
    world = World()
    world.begin()
    world.pass_time(1.3)
    world.offset = np.array([0.0, 0.2])
    world.pass_time(0.05)
    assert world.motion.reason is Reason.TRACKING_ERROR
    assert "b is 0.2 off" in world.motion.text
    braking = world.commands[1]
    measured = RUN.sample((braking.start - world.commands[0].start) * 1e-9)[0][0] + [0.0, 0.2]
    np.testing.assert_allclose(braking.trajectory.positions[0], measured, atol=1e-9)


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
    world = World()
    world.begin()
    world.pass_time(1.3)
    world.motion.stop(world.now)  # nobody listens
    world.pass_time(0.5)
    assert world.motion.phase is Phase.BRAKING
    for _ in range(600):
        world.position = world.position + 0.001
        world.now += STEP
        world.states.add(state(world.now, world.position))
        world.motion.tick(world.now)
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
        world.now += 10**9
    if fault == "away":
        world = World(position=(0.011, 0.0))
    if fault == "moving":
        for _ in range(30):
            world.position = world.position + 0.0002
            world.look()
    with pytest.raises(StaleStateError):
        world.begin()
    assert not world.motion.command


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        (state(BEGIN, [0.0, np.nan]), "NaN"),
        (state(BEGIN, [0.0, np.inf]), "infinite"),
        (state(BEGIN, [0.0]), "missing"),
        (state(BEGIN, [0.0, 0.0], names=("a", "c")), "joint b"),
        (state(BEGIN, [0.0, 0.0, 0.0], names=("a", "b", "b")), "joint b"),
    ],
)
def test_messages_of_no_use_are_no_states(message, fault):
    states = MotionStates(NAMES)
    states.add(message)
    assert states.latest is None
    assert fault in states.fault
    with pytest.raises(StaleStateError, match=fault):
        states.fresh(BEGIN, 0.1)


def test_states_are_mapped_by_name_and_velocities_come_from_positions_where_absent():
    states = MotionStates(NAMES)
    for i in range(100):
        states.add(state(BEGIN + i * 10**6, [7.0, 0.002 * i, -0.001 * i], names=("x", "b", "a")))
    np.testing.assert_allclose(states.velocity(), [-1.0, 2.0], rtol=1e-6)
    np.testing.assert_allclose(states.mean_velocity(), [-1.0, 2.0], rtol=1e-6)
    states.add(state(BEGIN + 10**9, [0.0, 0.0], [3.0, 4.0]))
    np.testing.assert_allclose(states.velocity(), [3.0, 4.0])


def test_states_from_another_clock_are_refused():
    states = MotionStates(NAMES)
    states.add(state(BEGIN, [0.0, 0.0]))
    with pytest.raises(StaleStateError, match="in the future"):
        states.fresh(BEGIN - 10**9, 0.1)
    states.add(state(BEGIN, [1.0, 0.0]))
    assert "do not rise" in states.fault
