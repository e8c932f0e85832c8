"""How a supervised motion ends: at rest, not at rest, after braking, unseen."""

import numpy as np
import pytest

from robot_identification.ros.supervision import supervisor as supervision
from robot_identification.ros.supervision.braking import Stop, hold
from robot_identification.ros.supervision.phases import Phase, Reason
from watched_motion import APPROACH, BEGIN, BRAKING, NAMES, RUN, STEP, begun, jump

MS = 1_000_000


@pytest.mark.parametrize(("seconds", "ended"), [(3.9999, False), (4.0, True), (5.9, True)])
def test_a_run_is_finished_at_rest_at_its_end(seconds, ended):
    world = begun()
    jump(world, seconds, still=True)
    assert world.tick() is None
    assert world.motion.phase is (Phase.FINISHED if ended else Phase.RUNNING)
    assert world.motion.text == ("at rest at the end" if ended else "on the trajectory")


def trembling(world, seconds, speed=0.05):
    """Go on to a moment with a robot that moves by some millimetres around its end."""
    for i in reversed(range(25)):
        world.elapsed = world.commands[-1].start + round(seconds * 1e9) - i * STEP - BEGIN
        where = world.commands[-1].trajectory.positions[-1]
        world.say(world.now, where - np.array([0.0, speed * i * STEP * 1e-9]))


@pytest.mark.parametrize(("seconds", "fault"), [(6.0, False), (6.001, True)])
def test_a_robot_that_is_not_at_rest_two_seconds_after_the_end_is_a_fault(seconds, fault):
    world = begun()
    trembling(world, seconds)
    world.tick()
    assert world.motion.phase is (Phase.FAULT if fault else Phase.RUNNING)
    if fault:
        assert world.motion.text == "not at rest at the end of the trajectory"


def test_after_the_approach_the_run_begins():
    world = begun(approach=APPROACH, position=(0.3, 0.0))
    jump(world, 1.0, still=True)
    command = world.tick()
    assert command.trajectory is RUN
    assert command.start == world.now + 300 * MS
    assert world.motion.phase is Phase.RUNNING


@pytest.mark.parametrize(
    ("late", "ended"), [(0.0, False), (1.0, False), (2.0, False), (2.001, True), (2.5, True)]
)
def test_a_controller_that_does_not_tell_the_end_is_waited_for_no_longer_than_two_seconds(
    late, ended
):
    world = begun()
    world.motion.ended = False
    jump(world, 4.0 + late, still=True)
    assert world.tick() is None
    assert world.motion.phase is (Phase.FINISHED if ended else Phase.RUNNING)


@pytest.mark.parametrize(("seconds", "fault"), [(1.0, False), (3.0, False), (3.001, True)])
def test_a_run_that_cannot_begin_where_the_approach_has_led_is_a_fault(seconds, fault):
    world = begun(approach=APPROACH, position=(0.3, 0.0))
    jump(world, seconds, offset=(0.02, 0.0), still=True)
    assert world.tick() is None
    assert world.motion.phase is (Phase.FAULT if fault else Phase.APPROACHING)
    assert "a is 0.02 away from the start" in world.motion.text


def braking(seconds=1.0, **changes):
    """Return a world in which the robot was told to brake, which it does within a second."""
    world = begun()
    world.take(world.motion.stop(jump(world, seconds), **changes))
    return world


@pytest.mark.parametrize(
    ("reason", "flaw", "phase"),
    [
        (Reason.REQUESTED, "", Phase.STOPPED),
        (Reason.TRACKING_ERROR, "", Phase.STOPPED),
        (Reason.CONTROLLER, "", Phase.STOPPED),
        (Reason.NOT_MOVING, "", Phase.FAULT),
        (Reason.REQUESTED, "not as wanted", Phase.FAULT),
    ],
)
def test_braking_ends_at_rest(monkeypatch, reason, flaw, phase):
    motion = hold(BRAKING, NAMES, np.zeros(2))
    monkeypatch.setattr(supervision, "stop_motion", lambda *_: Stop(motion, flaw))
    world = braking(reason=reason)
    jump(world, motion.duration - 1e-6, still=True)
    world.tick()
    assert world.motion.phase is Phase.BRAKING
    jump(world, motion.duration + (0.2 if reason is Reason.REQUESTED else 0.0), still=True)
    assert world.tick() is None
    assert world.motion.phase is phase
    assert "emergency" not in world.motion.text


@pytest.mark.parametrize(("late", "fault"), [(2.0, False), (2.001, True)])
@pytest.mark.parametrize("silent", [False, True])
def test_a_robot_that_does_not_come_to_rest_is_told_to_be_stopped_by_hand(late, fault, silent):
    world = braking()
    end = world.commands[-1].trajectory.duration
    if silent:
        world.elapsed = world.commands[-1].start + round((end + late) * 1e9) - BEGIN
    else:
        trembling(world, end + late)
    world.tick()
    assert world.motion.phase is (Phase.FAULT if fault else Phase.BRAKING)
    if fault:
        seen = "sends no states, it may still move" if silent else "still moves"
        assert world.motion.text == f"stop requested; the robot {seen}: use the emergency stop"


@pytest.mark.parametrize(("late", "fault"), [(1.999, False), (2.001, True)])
def test_rest_that_cannot_be_seen_is_a_fault_where_time_stands_still_too(late, fault):
    """Silence by the steady clock: the braking and two seconds."""
    world = braking()
    longest = world.commands[-1].trajectory.duration + late
    world.simulated = world.stopped = True
    world.elapsed += round(longest * 1e9)
    world.node_set -= round(longest * 1e9)
    world.tick()
    assert world.motion.phase is (Phase.FAULT if fault else Phase.BRAKING)
