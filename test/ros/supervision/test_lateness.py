"""A robot that leaves its trajectory in time only: how late or early it is, and at which speed."""

import re

import numpy as np
import pytest

from robot_identification.ros.supervision.phases import Phase, Reason
from watched_motion import World


class PacedWorld(World):
    """A robot whose controller follows at a share of the speed.

    Attributes:
        pace: the share.
        lag: time by which it follows late besides, in s.
        beside: what is added to where the trajectory leads, rad.
        held: where the second joint is blocked, rad; None: it is not.
    """

    pace, lag, beside, held = 1.0, 0.0, np.zeros(2), None
    _come = 0.0

    def follow(self):
        if not self.commands:
            return
        command = self.commands[-1]
        if self.driver_now > command.start:
            self._come += self.pace * 0.005
        self.position = command.sent.sample(self._come - self.lag)[0][0] + self.beside
        if self.held is not None:
            self.position[1] = self.held


def stopped(seconds=0.3, **changed):
    """Return the motion of a robot that follows otherwise after a while, once it is stopped."""
    world = PacedWorld()
    world.begin()
    world.pass_time(0.3 + seconds)
    for name, value in changed.items():
        setattr(world, name, value)
    while world.motion.phase is Phase.RUNNING:
        world.pass_time(0.005)
    assert world.motion.reason is Reason.TRACKING_ERROR
    return world.motion


@pytest.mark.parametrize("pace", [0.1, 0.5, 0.9])
def test_a_controller_that_scales_the_speed_is_told_with_the_share(pace):
    motion = stopped(pace=pace)
    late, told = map(
        float,
        re.search(
            r"where the trajectory was (\S+) s before, and goes at (\S+) % of its speed",
            motion.lateness(),
        ).groups(),
    )
    assert told == pytest.approx(100.0 * pace, abs=1.0)
    place = motion._followed.trajectory.sample(motion.reached - late)[0][0]
    assert place == pytest.approx(motion.states.latest.position, abs=0.02)
    assert "slider of the teach pendant" in motion.lateness()


def test_a_robot_that_is_paused_is_told_to_stand_on_its_trajectory():
    told = stopped(pace=0.0).lateness()
    assert "the robot stands where the trajectory was" in told
    assert "is it paused, in a protective or emergency stop, or blocked" in told
    assert "old ones with new stamps" in told


def test_a_controller_that_lags_is_not_taken_for_one_that_scales_the_speed():
    told = stopped(seconds=-0.3, lag=0.17).lateness()
    assert "where the trajectory was 0.17 s before: the controller lags" in told


def test_a_controller_that_begins_before_the_start_stamp_is_told():
    told = stopped(seconds=-0.3, lag=-0.3).lateness()
    assert "where the trajectory leads 0.30 s later: does the controller begin as soon as" in told
    assert "start_lead" in told


@pytest.mark.parametrize("beside", [(0.04, 0.0), (0.0, -0.04), (0.03, 0.03)])
def test_a_robot_that_leaves_the_way_itself_is_not_late(beside):
    motion = stopped(pace=0.5, beside=np.array(beside))
    assert motion.lateness() == ""


def test_where_one_joint_is_blocked_the_robot_is_not_late():
    world = PacedWorld()
    world.begin()
    world.pass_time(1.0)
    world.held = world.position[1]
    while world.motion.phase is Phase.RUNNING:
        world.pass_time(0.005)
    assert world.motion.reason is Reason.TRACKING_ERROR
    assert world.motion.lateness() == ""


def test_a_motion_that_is_stopped_for_another_reason_is_not_late():
    world = PacedWorld()
    world.pace = 0.95
    world.begin()
    world.pass_time(1.0)
    assert world.motion.lateness() == ""
    world.motion.stop(world.instant)
    assert world.motion.lateness() == ""
