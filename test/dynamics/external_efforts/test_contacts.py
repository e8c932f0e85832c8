from dataclasses import replace

import numpy as np
import pytest

from made_up_contacts import BEGIN, pushed
from random_robots import random_robot, random_values
from robot_identification.dynamics.external_efforts.contacts import ContactDetector
from robot_identification.dynamics.external_efforts.learning import LevelLearning
from robot_identification.dynamics.external_efforts.levels import JudgedEfforts, ResidualLevels
from robot_identification.dynamics.external_efforts.momentum_observer import ObservedEfforts
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.external_efforts.settled import mean_efforts
from robot_identification.dynamics.external_efforts.speed_zones import SpeedZones
from robot_identification.dynamics.external_efforts.watch import ExternalEffortWatch
from robot_identification.errors import EffortSignError, MissingSignalError, NoEffortError

NAMES = ("shoulder", "elbow")
MILLISECOND = 1_000_000
STICK = 0.02
ZONES = SpeedZones(np.full(2, STICK), 0.01)


def efforts(effort, velocity=1.0, acceleration=0.0, friction=0.0):
    """Return observed efforts (samples, joints), a sample every millisecond."""
    effort = np.asarray(effort, dtype=float)
    speed = np.broadcast_to(velocity, effort.shape).astype(float)
    return ObservedEfforts(
        stamps=BEGIN + np.arange(len(effort)) * MILLISECOND,
        position=np.zeros_like(effort),
        velocity=speed,
        effort=effort,
        sliding_friction=np.full_like(effort, friction),
        stick_band=np.zeros_like(effort),
        modelled=np.ones_like(effort),
        smooth_velocity=speed,
        acceleration=np.broadcast_to(acceleration, effort.shape).astype(float),
        interval=np.full(len(effort), 0.001),
        age=1.0 + 0.001 * np.arange(len(effort)),
    )


def judged(effort, threshold=5.0, deviation=1.0, lasting=0.1, restarts=()):
    """Return judged efforts (samples, joints), a sample every millisecond."""
    effort = np.asarray(effort, dtype=float)
    interval = np.full(len(effort), 0.001)
    interval[list(restarts)] = 0.0
    levels = (np.full_like(effort, level) for level in (deviation, lasting, threshold))
    return JudgedEfforts(BEGIN + np.arange(len(effort)) * MILLISECOND, interval, effort, *levels)


def part(block, samples):
    """Return some samples of a block."""
    return type(block)(*(getattr(block, name)[samples] for name in block.__annotations__))


def noise(seconds, seed=0):
    """Return noise of deviations 1 and 3 that has passed a filter of 10 ms."""
    rng = np.random.default_rng(seed)
    rise = 1.0 - np.exp(-0.1)
    white = rng.normal(size=(round(1000 * seconds), 2)) * [1.0, 3.0]
    white /= np.sqrt(rise / (2.0 - rise))
    out, now = np.empty_like(white), np.zeros(2)
    for k, value in enumerate(white):
        now = now + rise * (value - now)
        out[k] = now
    return out


def learned(block, floor=(0.0, 0.0), size=100):
    learning = LevelLearning(NAMES, np.array(floor), ZONES)
    for first in range(0, len(block.stamps), size):
        learning.add(part(block, slice(first, first + size)))
    return learning


def test_thresholds_of_noise_are_exceeded_about_as_often_as_accepted():
    levels = learned(efforts(noise(30.0))).levels()
    np.testing.assert_allclose(levels.deviation, [1.0, 3.0], rtol=0.25)
    # Sampled noise is below its threshold between the samples too, where nobody looks.
    often = levels.thresholds(3600.0 * 20.0)
    beyond = np.abs(noise(60.0, seed=1)) > often
    begun = np.count_nonzero(np.diff(beyond.astype(int), axis=0) == 1)
    assert 60 < begun < 60 * 20 * 2
    hourly = levels.thresholds(1.0)
    assert not (np.abs(noise(60.0, seed=2)) > hourly).any()
    assert (hourly < 8.0 * np.array([1.0, 3.0])).all()


def test_rare_peaks_and_what_the_identification_left_raise_the_thresholds():
    plain = noise(10.0)
    peaked = plain.copy()
    peaked[5000, 0] = 12.0
    usual, raised = (learned(efforts(e)).levels().thresholds(1.0) for e in (plain, peaked))
    assert raised[0] > 12.0
    assert raised[1] == usual[1]
    floor = learned(efforts(plain), floor=(0.0, 9.0)).levels()
    assert floor.deviation[1] == 9.0


SPEED = 0.4 * np.sin(2.0 * np.pi * 0.5 * np.arange(60000) / 1000.0)  # of both joints


def turning(spread, bias=0.0):
    """Return residuals of joints that turn round, whose friction is misjudged near rest.

    Args:
        spread: of the error below the stick speed, of another sign at each turn.
        bias: in the direction of the motion, at all speeds.
    """
    speed = np.column_stack([SPEED, SPEED])
    turns = np.cumsum(np.diff(np.sign(SPEED), prepend=1.0) != 0.0)
    signs = np.random.default_rng(5).choice([-1.0, 1.0], size=turns[-1] + 1)
    slow = np.abs(SPEED) < STICK
    wrong = (spread * signs[turns] * slow)[:, None] + bias * np.sign(speed)
    rate = np.gradient(speed, 0.001, axis=0)
    return efforts(0.1 * noise(60.0) + wrong, speed, rate, friction=6.0)


def test_friction_near_rest_raises_the_thresholds_near_rest_alone():
    levels = learned(turning(3.0)).levels()
    calm = learned(turning(0.0)).levels()
    assert levels.deviation == pytest.approx(calm.deviation, rel=0.1)
    block = turning(3.0)
    found = levels.judge(block, ZONES, 1.0)
    slow = np.abs(SPEED) < 0.5 * STICK
    fast = np.abs(SPEED) > 3.0 * STICK
    assert found.threshold[slow].min() > 3.0
    assert found.threshold[fast, 0].max() < 1.0
    assert not (np.abs(found.effort) > found.threshold).any()
    # Never more than friction that is misjudged altogether.
    assert (found.threshold <= levels.thresholds(1.0) + 12.0 + 1e-9).all()


@pytest.mark.parametrize("size", [31, 60_000])
def test_a_bias_is_learned_alike_from_blocks_of_any_size(size):
    """One block may be ten states of a node, or a whole recording."""
    block = part(turning(0.0, bias=2.0), slice(9000))
    levels, same = (learned(block, size=count).levels() for count in (size, 100))
    np.testing.assert_allclose(levels.crossings, same.crossings, rtol=1e-6)
    np.testing.assert_allclose(levels.table.lasting, same.table.lasting, rtol=1e-6)
    np.testing.assert_allclose(levels.thresholds(1.0), same.thresholds(1.0), rtol=1e-6)


def test_what_friction_is_off_everywhere_is_no_external_effort():
    block = turning(0.0, bias=2.0)
    found = learned(block).levels().judge(block, ZONES, 1.0)
    fast = np.abs(SPEED) > 3.0 * STICK
    assert np.abs(block.effort[fast, 0]).mean() > 1.8
    assert np.abs(found.effort[fast, 0]).mean() < 0.2
    assert found.threshold[fast, 0].max() < 1.5


def test_an_observer_that_has_just_begun_tells_no_contact_and_teaches_nothing():
    fresh = replace(efforts(np.full((100, 2), 50.0)), age=0.001 * np.arange(100))
    found = learned(efforts(noise(30.0))).levels().judge(fresh, ZONES, 1.0)
    assert np.isinf(found.threshold[:20]).all()
    assert (found.threshold[20:] < 30.0).all()
    (began,) = (event for event in detector().push(found) if event.joint == "elbow")
    assert began.stamp == BEGIN + 20 * MILLISECOND
    assert learned(fresh).moved == pytest.approx(0.08)


def test_only_motion_counts_as_learned():
    assert learned(efforts(noise(2.0), velocity=0.01)).moved == 0.0
    assert learned(efforts(noise(2.0))).moved == pytest.approx(2.0)


def detector():
    return ContactDetector(NAMES, ExternalEffortSettings(release=0.5, release_time=0.01))


def test_a_contact_has_joint_size_and_duration_and_ends_once_for_good():
    effort = np.zeros((200, 2))
    effort[50:100, 1] = -6.0
    effort[70, 1] = -8.0
    effort[100:105, 1] = -1.0  # too short to end it
    effort[105:120, 1] = -4.0
    found = detector()
    events = found.push(judged(effort[:60]))
    assert found.joints == ("elbow",)
    events += found.push(part(judged(effort), slice(60, None)))
    began, ended = events
    assert (began.joint, began.ended, began.effort, began.threshold) == ("elbow", False, -6.0, 5.0)
    assert began.stamp == BEGIN + 50 * MILLISECOND
    assert np.isnan(began.settled)
    assert (ended.joint, ended.ended, ended.effort) == ("elbow", True, -8.0)
    assert ended.duration == pytest.approx(0.08)
    assert not found.joints


def test_the_settled_size_leaves_out_beginning_and_end_and_knows_its_error():
    rng = np.random.default_rng(0)
    effort = np.zeros((1000, 2))
    effort[100:600, 0] = 6.0 * (1.0 - np.exp(-np.arange(500) / 5.0))
    effort[600:, 0] = 6.0 * np.exp(-np.arange(400) / 5.0)
    shaken = effort + 0.3 * rng.normal(size=effort.shape)
    began, ended = detector().push(judged(shaken, deviation=0.3, lasting=0.04))
    assert abs(ended.effort) > 6.5
    assert ended.settled == pytest.approx(6.0, abs=0.1)
    # What lasts is a fifth of the deviation; no mean makes it smaller.
    assert 0.06 < ended.settled_deviation < 0.12
    assert began.settled_deviation == np.inf


def test_samples_of_hidden_friction_count_little_in_the_settled_size():
    effort = np.full((600, 2), [7.0, 0.0])
    effort[200:300, 0] = 9.0
    block = judged(effort)
    block.deviation[200:300] = 100.0
    block.interval[0] = 0.0
    found = detector()
    found.push(block)
    (ended,) = found.push(judged(np.zeros((100, 2)), restarts=[0]))
    assert ended.settled == pytest.approx(7.0, abs=0.01)


def test_means_without_samples_are_unknown():
    mean, deviation = mean_efforts(judged(np.ones((10, 2))), BEGIN + 10**9, BEGIN + 10**10, 0.01)
    assert np.isnan(mean).all()
    assert np.isinf(deviation).all()


def test_contacts_end_where_states_are_interrupted():
    effort = np.zeros((100, 2))
    effort[20:, 0] = 9.0
    effort[60:, 0] = 0.0
    events = detector().push(judged(effort, restarts=[60]))
    assert [(event.ended, event.stamp - BEGIN) for event in events] == [
        (False, 20 * MILLISECOND),
        (True, 59 * MILLISECOND),
    ]


def arm():
    rng = np.random.default_rng(3)
    robot = random_robot(rng, 3)
    values = random_values(rng, robot)
    values[12::14] = 0.1
    return robot, values


SETTINGS = ExternalEffortSettings(learning_time=4.0, stick_speed=(0.01,))


@pytest.mark.parametrize("measured", [True, False])
def test_a_stream_learns_from_free_motion_and_then_tells_a_push(measured):
    robot, values = arm()
    watch = ExternalEffortWatch(robot, values, SETTINGS)
    motion = pushed(robot, values, np.array([0.0, 8.0, 0.0]), seconds=6.0, begin=5.0)
    tau = motion.tau + 0.05 * np.random.default_rng(0).normal(size=motion.tau.shape)
    events = []
    for first in range(0, 6000, 20):
        some = slice(first, first + 20)
        qd = motion.qd[some] if measured else None
        events += watch.push(motion.stamps[some], motion.q[some], qd, tau[some]).events
    assert watch.learned == 1.0
    (event,) = events
    assert event.joint == "joint_2"
    assert -0.001 < (event.stamp - motion.stamps[0]) * 1e-9 - 5.0 < 0.03
    assert watch.in_contact == ("joint_2",)


def test_efforts_of_the_wrong_sign_are_named():
    robot, values = arm()
    watch = ExternalEffortWatch(robot, values, SETTINGS)
    motion = pushed(robot, values, np.zeros(3), seconds=5.0)
    tau = motion.tau * [1.0, -1.0, 1.0]
    with pytest.raises(EffortSignError, match=r"joint_2.*twice") as refusal:
        watch.push(*motion[:3], tau)
    assert refusal.value.joints == ("joint_2",)
    assert watch.thresholds is None
    assert watch.learned == 0.0


def test_joints_whose_efforts_are_zero_throughout_are_named():
    robot, values = arm()
    watch = ExternalEffortWatch(robot, values, SETTINGS)
    motion = pushed(robot, values, np.zeros(3), seconds=5.0)
    with pytest.raises(NoEffortError, match=r"joint_3") as refusal:
        watch.push(*motion[:3], motion.tau * [1.0, 1.0, 0.0])
    assert refusal.value.joints == ("joint_3",)
    assert watch.thresholds is None
    watch.restart()
    assert watch.push(motion.stamps + 10**10, *motion.measured[1:]).judged is None
    assert watch.learned == 1.0


def test_known_levels_need_no_learning_and_lost_velocities_are_refused():
    robot, values = arm()
    levels = ResidualLevels(np.full(3, 0.1), np.full(3, 20.0))
    watch = ExternalEffortWatch(robot, values, SETTINGS, levels=levels)
    assert watch.learned == 1.0
    motion = pushed(robot, values, np.zeros(3), seconds=0.1)
    assert not watch.push(*motion.measured).events
    with pytest.raises(MissingSignalError, match="velocity"):
        watch.push(motion.stamps + 10**9, motion.q, None, motion.tau)
