"""A supervised motion at single moments: what it waits for, where braking begins, how it ends."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from robot_identification.errors import NotCertifiedError, StaleStateError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.ros.supervision import confirmation
from robot_identification.ros.supervision import supervisor as supervision
from robot_identification.ros.supervision.braking import Origin, Stop, hold
from robot_identification.ros.supervision.phases import Phase, Reason
from robot_identification.ros.supervision.start_conditions import require_near
from watched_motion import APPROACH, BEGIN, BRAKING, NAMES, RUN, STEP, STILL, World, begun, jump

MS = 1_000_000


def sweep(seconds, way=1.0, begin=0.0):
    """Return a motion of the first joint from rest to rest."""
    still = np.zeros((2, 2))
    places = np.array([[begin, 0.0], [begin + way, 0.0]])
    return Trajectory(NAMES, np.array([0.0, seconds]), places, still, still)


# How it begins.


def test_a_motion_begins_after_the_lead_time_from_where_the_robot_stands():
    world = begun()
    assert world.commands[0].start == world.now + 300 * MS
    assert (world.commands[0].rest, world.commands[0].at_once) == (0.0, False)
    assert (world.motion.phase, world.motion.text) == (Phase.RUNNING, "on the trajectory")
    world = begun(approach=APPROACH, position=(0.3, 0.0))
    assert world.commands[0].trajectory is APPROACH
    assert world.motion.text == "on the way to the start"
    assert world.motion.reason is Reason.NO_STOP


@pytest.mark.parametrize(
    ("run", "deadline"),
    [
        (RUN, 500),
        (sweep(10.0), 980),  # 4 mm, twice what counts as motion, are reached after 0.767 s
        (sweep(10.0, -1.0), 980),
        (sweep(10.0, begin=0.3), 980),
        (sweep(1.0, 0.0039), None),
        (sweep(1.0, 0.0), None),
        (sweep(1.0, 0.00400001), 1200),
        (sweep(100.0), 7880),
        (sweep(1000.0), 76860),  # in another block of moments
        (sweep(10.0, 0.00400001), 10140),
    ],
)
def test_motion_must_show_a_fifth_of_a_second_after_the_reference_shows_it(run, deadline):
    world = begun(run, position=run.positions[0])
    told = world.motion._confirmation
    start = world.commands[0].start
    assert (None if told is None else (told.deadline - start) // MS) == deadline


@pytest.mark.parametrize("approach", [None, APPROACH])
def test_an_hour_of_motion_is_begun_as_quickly_as_a_minute(monkeypatch, approach):
    """Else its start stamp would be past when it is sent: the controller would jump after it."""
    asked, sample = [], Trajectory.sample

    def counted(trajectory, times):
        asked.append(np.size(times))
        return sample(trajectory, times)

    hour = np.arange(3601.0)
    places = np.zeros((3601, 2))
    places[1::2, 0] = 0.5
    still = np.zeros_like(places)
    world = World(
        approach, (0.0, 0.0) if approach is None else (0.3, 0.0),
        run=Trajectory(NAMES, hour, places, still, still),
    )  # fmt: skip
    monkeypatch.setattr(Trajectory, "sample", counted)
    world.begin()
    while len(world.commands) < (1 if approach is None else 2):
        world.pass_time(0.1)
    assert sum(asked) <= 2 * confirmation._BLOCK


@pytest.mark.parametrize("way", [0.0, 0.0039])
def test_a_reference_that_hardly_moves_need_not_show_motion(way):
    world = begun(sweep(1.0, way))
    start = world.commands[0].start
    world.elapsed = start + 900 * MS - BEGIN
    world.say(world.now, [0.0, 0.0])
    assert world.tick() is None
    assert world.motion.phase is Phase.RUNNING


@pytest.mark.parametrize(("way", "shown"), [(0.0019, False), (0.002, True), (0.0021, True)])
@pytest.mark.parametrize("late", [-1, 0, 1])
@pytest.mark.parametrize("begin", [0.0, 0.3])
def test_what_is_less_than_two_millimetres_is_no_motion(way, shown, late, begin):
    world = begun(sweep(10.0, begin=begin), position=(begin, 0.0))
    start = world.commands[0].start
    world.elapsed = start + 980 * MS + late - BEGIN
    world.say(world.now, [begin + way, 0.0])
    world.tick()
    stopped = late > 0 and not shown
    assert world.motion.reason is (Reason.NOT_MOVING if stopped else Reason.NO_STOP)
    if stopped:
        assert "is the robot blocked" in world.motion.text
    assert (world.motion._confirmation is None) == shown


def test_what_moves_before_the_start_is_not_the_motion():
    """A state of a nanosecond earlier, 3 mm away; what shows motion is one from the start on."""
    world = begun(sweep(10.0))
    start = world.commands[0].start
    for early, shown in ((1, False), (0, True)):
        world.elapsed = start - early - BEGIN
        world.say(world.now, [0.003, 0.0])
        assert world.tick() is None
        assert (world.motion._confirmation is None) == shown


def test_a_robot_off_its_reference_that_has_shown_no_motion_is_not_moving():
    for shown, reason in ((False, Reason.NOT_MOVING), (True, Reason.TRACKING_ERROR)):
        world = begun(sweep(1.0))
        if shown:
            jump(world, 0.4)
            assert world.tick() is None
        world.elapsed = world.commands[0].start + 450 * MS - BEGIN
        place = 0.25 if shown else 0.0
        world.say(world.now, [place, 0.0])
        world.tick()
        assert world.motion.reason is reason


@pytest.mark.parametrize(("speed", "rests"), [(0.019, True), (0.021, False), (-0.021, False)])
def test_a_robot_must_be_at_rest_to_begin(speed, rests):
    world = World()
    for _ in range(30):
        world.position = world.position + np.array([0.0, speed * STEP * 1e-9])
        world.look()
    if rests:
        world.motion.check(world.instant)
        assert world.motion.command is None
        return
    with pytest.raises(StaleStateError, match=r"b moves at 0.021, more than 0.02; wait"):
        world.motion.check(world.instant)


def seen(world):
    """Return whether states show rest, and whether they show motion."""
    return world.motion.rests(world.instant), world.motion.seen_moving(world.instant)


def test_rest_and_motion_are_seen_in_states_that_are_fresh():
    world = World()
    assert seen(world) == (True, False)
    world.elapsed += 101 * MS
    assert seen(world) == (False, False), "its states are stale"
    world = World()
    for _ in range(30):
        world.position = world.position + np.array([0.03, 0.0]) * STEP * 1e-9
        world.look()
    assert seen(world) == (False, True)
    world.elapsed += 101 * MS
    assert seen(world) == (False, False), "its states are stale"


@pytest.mark.parametrize(
    ("away", "near"), [(0.0099, True), (0.01, True), (0.0101, False), (np.nan, False)]
)
def test_a_robot_must_be_within_a_hundredth_of_the_start(away, near):
    for sign in (1.0, -1.0):
        place = np.array([0.0, sign * away])
        if near:
            require_near(RUN, place)
            continue
        with pytest.raises(StaleStateError, match=rf"b is {away:.4g} away.*more than 0.01"):
            require_near(RUN, place)


def test_a_motion_beyond_the_limits_of_the_robot_does_not_begin():
    fast = sweep(0.5)
    for run, approach in ((fast, None), (RUN, fast)):
        world = World(approach, run=run)
        with pytest.raises(NotCertifiedError, match="velocity") as refusal:
            world.begin()
        assert "of the limit of a" in str(refusal.value)
        assert world.motion.command is None


def test_a_motion_whose_points_no_controller_can_tell_apart_does_not_begin():
    close = Trajectory(NAMES, np.array([0.0, 1e-10, 1.0]), np.zeros((3, 2)), STILL, STILL)
    world = World(run=close)
    with pytest.raises(NotCertifiedError, match="nanosecond apart") as refusal:
        world.begin()
    assert refusal.value.check == "times"


# Where braking begins.


@pytest.fixture
def asked(monkeypatch):
    """Take down what braking is asked for; it answers with a stop."""
    found = []

    def stop_motion(limits, situation, origin):
        found.append((situation, origin))
        return Stop(hold(limits, NAMES, situation.referred()[0]))

    monkeypatch.setattr(supervision, "stop_motion", stop_motion)
    return found


def test_a_stop_that_is_asked_for_brakes_the_robot_that_follows(asked):
    world = begun()
    now = jump(world, 1.0)
    command = world.motion.stop(now)
    ((situation, origin),) = asked
    assert origin is Origin.FOLLOWING
    assert situation.time == pytest.approx(1.0)
    assert situation.reference is RUN
    assert len(situation.readings) == 11
    assert (world.motion.phase, world.motion.reason) == (Phase.BRAKING, Reason.REQUESTED)
    assert world.motion.text == "stop requested"
    assert (command.start, command.rest, command.at_once) == (now.stamp, 0.5, False)
    assert world.motion.stop(now) is None, "it brakes already"
    world.motion.brake_again(now)
    assert asked[1][1] is Origin.FOLLOWING


def test_before_and_after_a_motion_there_is_nothing_to_stop(asked):
    world = World()
    assert world.stop() is None
    assert world.tick() is None
    world = begun()
    assert world.motion.moving
    world.motion.phase = Phase.FINISHED
    assert not world.motion.moving
    assert world.stop() is None
    assert world.tick() is None
    assert not asked


@pytest.mark.parametrize(
    ("offset", "reason", "origin"),
    [
        ((0.099, 0.0), Reason.REQUESTED, Origin.FOLLOWING),
        ((0.0, -0.101), Reason.REQUESTED, Origin.MEASURED),
        ((0.0, 0.0), Reason.TRACKING_ERROR, Origin.MEASURED),
        ((0.0, 0.0), Reason.NOT_MOVING, Origin.MEASURED),
        ((0.0, 0.0), Reason.STATE_STALE, Origin.FOLLOWING),
    ],
)
def test_a_robot_that_has_left_its_reference_brakes_from_where_it_is(asked, offset, reason, origin):
    world = begun()
    world.motion.stop(jump(world, 1.0, offset), reason, "why")
    assert asked[0][1] is origin
    assert (world.motion.reason, world.motion.text) == (reason, "why")
    if reason is Reason.REQUESTED:
        np.testing.assert_allclose(world.motion.error, -np.array(offset), atol=1e-6)


def test_a_robot_just_at_the_limit_of_the_tracking_error_has_not_left_its_reference(asked):
    """One that is to stay at zero, where errors are exact."""
    world = begun(sweep(1.0, 0.0))
    now = jump(world, 0.5, (0.0, 0.1))
    assert world.tick() is None
    assert world.motion.phase is Phase.RUNNING
    world.motion.stop(now)
    assert asked[0][1] is Origin.FOLLOWING


@pytest.mark.parametrize(
    ("before", "now", "origin"),
    [(0.101, 0.099, Origin.FOLLOWING), (0.099, 0.101, Origin.MEASURED)],
)
def test_whether_a_robot_has_left_its_reference_is_told_by_its_last_state(
    asked, before, now, origin
):
    world = begun()
    jump(world, 1.0, (0.0, before))
    world.elapsed += STEP
    world.say(world.now, RUN.sample(1.0 + STEP * 1e-9)[0][0] + [0.0, now])
    world.motion.stop(world.instant)
    assert asked[0][1] is origin


@pytest.mark.parametrize(("late", "origin"), [(99, Origin.FOLLOWING), (101, Origin.REFERENCE)])
def test_where_states_are_stale_braking_begins_at_the_reference(asked, late, origin):
    world = begun()
    jump(world, 1.0)
    world.elapsed += late * MS
    world.motion.stop(world.instant)
    assert asked[0][1] is origin
    assert asked[0][0].time == pytest.approx(1.0 + late * 1e-3)


@pytest.mark.parametrize("step", [50, -50])
def test_a_clock_that_was_set_counts_as_it_was_before(asked, step):
    world = begun()
    jump(world, 1.0)
    world.tick()
    world.node_set += step * MS
    command = world.motion.tick(world.instant)
    assert asked[0][1] is Origin.REFERENCE
    assert asked[0][0].time == pytest.approx(1.0)
    assert world.motion.reason is Reason.CLOCK_JUMP
    assert world.motion.text == f"the clock of this node was set by {step / 1000:.3f} s"
    assert command.at_once
    assert command.start == world.now
    assert world.motion.reached == pytest.approx(1.0)
    world.elapsed += 10 * MS
    world.motion.brake_again(world.instant)
    assert asked[1][0].time == pytest.approx(1.01), "what it followed goes on by the clock as it is"


def test_states_with_wrong_stamps_make_braking_begin_when_it_is_received(asked):
    for reason in (
        Reason.REQUESTED, Reason.STATE_STALE, Reason.TRACKING_ERROR, Reason.NOT_MOVING,
        Reason.CONTROLLER,
    ):  # fmt: skip
        world = begun()
        jump(world, 1.0)
        world.say(world.now, [0.0, 0.0])  # a stamp that does not rise
        command = world.motion.stop(world.instant, reason)
        assert command.at_once == (reason is Reason.STATE_STALE)
    world = begun()
    assert not world.motion.stop(jump(world, 1.0), Reason.STATE_STALE).at_once


def broken(*_):
    raise ZeroDivisionError("at fault")


def test_where_braking_cannot_be_computed_the_robot_is_held_where_its_reference_is(monkeypatch):
    """A fault of the program must not keep it in motion."""
    monkeypatch.setattr(supervision, "stop_motion", broken)
    world = begun()
    command = world.motion.stop(jump(world, 1.0))
    np.testing.assert_allclose(command.trajectory.positions, [RUN.sample(1.0)[0][0]] * 2)
    assert world.motion.phase is Phase.BRAKING
    assert world.motion.text == (
        "stop requested; braking cannot be computed (ZeroDivisionError('at fault')); "
        "it is held where it was"
    )
    world.take(command)
    jump(world, 0.1)
    world.tick()
    again = world.motion.brake_again(world.instant)
    np.testing.assert_array_equal(again.trajectory.positions, command.trajectory.positions)


def test_where_not_even_the_reference_can_be_computed_the_robot_is_held_at_the_end_of_its_motion():
    """Of a motion of three points."""
    world = begun()
    end = [0.25, -0.5]
    reference = SimpleNamespace(
        joint_names=NAMES, positions=np.array([[1.0, 1.0], [2.0, 2.0], end]), sample=broken
    )
    world.motion.command = replace(world.motion.command, trajectory=reference)
    command = world.motion.stop(world.instant)
    np.testing.assert_array_equal(command.trajectory.positions, [end] * 2)
    assert "braking cannot be computed" in world.motion.text


def test_only_a_robot_that_brakes_is_told_to_brake_again():
    world = World()
    assert world.motion.error.size == 0
    assert world.motion.brake_again(world.instant) is None
    world = begun(approach=APPROACH, position=(0.3, 0.0))
    assert world.motion.brake_again(world.instant) is None
    world = begun()
    assert world.motion.brake_again(world.instant) is None
    world.take(world.motion.stop(jump(world, 1.0)))
    again = world.motion.brake_again(world.instant)
    assert again.trajectory.duration == world.commands[-1].trajectory.duration
    jump(world, again.trajectory.duration + 0.2, still=True)
    world.tick()
    assert world.motion.phase is Phase.STOPPED
    assert world.motion.brake_again(world.instant) is None


def test_what_is_flawed_of_braking_is_told(monkeypatch):
    motion = hold(BRAKING, NAMES, np.zeros(2))
    monkeypatch.setattr(supervision, "stop_motion", lambda *_: Stop(motion, "not as wanted"))
    world = begun()
    assert world.motion.stop(jump(world, 1.0)).trajectory is motion
    assert world.motion.text == "stop requested; not as wanted"


# While it moves.


@pytest.mark.parametrize(("late", "stopped"), [(99, False), (101, True)])
def test_a_motion_whose_states_fail_to_come_is_stopped(asked, late, stopped):
    world = begun()
    jump(world, 1.0)
    world.elapsed += late * MS
    assert (world.tick() is not None) == stopped
    if stopped:
        assert world.motion.reason is Reason.STATE_STALE
        assert world.motion.text == "no joint state for 0.101 s"
        assert world.motion.reached == pytest.approx(1.101)


@pytest.mark.parametrize(("off", "stopped"), [(0.0999, False), (0.1001, True)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_motion_that_is_not_followed_is_stopped(asked, off, stopped, sign):
    world = begun()
    jump(world, 0.9)
    assert world.tick() is None
    jump(world, 1.0, (0.0, sign * off))
    assert (world.tick() is not None) == stopped
    if stopped:
        assert world.motion.reason is Reason.TRACKING_ERROR
        assert world.motion.text == "b is 0.1001 off, more than 0.1"


@pytest.mark.parametrize(("seconds", "reached"), [(-0.1, 0.0), (0.4, 0.4), (3.9, 3.9), (4.5, 4.0)])
def test_how_far_the_run_has_come_is_told(seconds, reached):
    world = begun()
    jump(world, seconds, still=seconds > 4.0)
    world.tick()
    assert world.motion.reached == pytest.approx(reached)
    approaching = begun(approach=APPROACH, position=(0.3, 0.0))
    jump(approaching, 0.5)
    approaching.tick()
    assert approaching.motion.reached == 0.0, "of the run"
