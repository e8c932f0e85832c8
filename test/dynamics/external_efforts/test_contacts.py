import numpy as np
import pytest

from made_up_contacts import BEGIN, pushed
from random_robots import random_robot, random_values
from robot_identification.dynamics.external_efforts.contacts import ContactDetector
from robot_identification.dynamics.external_efforts.levels import LevelLearning, ResidualLevels
from robot_identification.dynamics.external_efforts.momentum_observer import ObservedEfforts
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.external_efforts.watch import ExternalEffortWatch
from robot_identification.errors import EffortSignError, MissingSignalError

NAMES = ("shoulder", "elbow")
MILLISECOND = 1_000_000


def efforts(effort, band=None, modelled=None, velocity=1.0, restarts=()):
    """Return observed efforts (samples, joints), a sample every millisecond."""
    effort = np.asarray(effort, dtype=float)
    interval = np.full(len(effort), 0.001)
    interval[list(restarts)] = 0.0
    return ObservedEfforts(
        stamps=BEGIN + np.arange(len(effort)) * MILLISECOND,
        velocity=np.full_like(effort, velocity),
        effort=effort,
        stick_band=np.zeros_like(effort) if band is None else np.asarray(band, dtype=float),
        modelled=np.ones_like(effort) if modelled is None else modelled,
        interval=interval,
    )


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


def learned(block, floor=(0.0, 0.0)):
    learning = LevelLearning(NAMES, np.array(floor), np.full(2, 0.02))
    for first in range(0, len(block.stamps), 100):
        part = slice(first, first + 100)
        learning.add(ObservedEfforts(*(getattr(block, n)[part] for n in block.__annotations__)))
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


def test_what_friction_near_rest_may_be_is_no_level():
    effort, band = noise(10.0), np.zeros((10000, 2))
    effort[2000:3000, 0], band[2000:3000, 0] = 20.0, 20.0
    stuck = learned(efforts(effort, band)).levels()
    assert stuck.deviation[0] < 1.3


def test_only_motion_counts_as_learned():
    assert learned(efforts(noise(2.0), velocity=0.01)).moved == 0.0
    assert learned(efforts(noise(2.0))).moved == pytest.approx(2.0)


def detector(threshold=5.0):
    settings = ExternalEffortSettings(release=0.5, release_time=0.01)
    return ContactDetector(NAMES, np.full(2, threshold), settings)


def test_a_contact_has_joint_size_and_duration_and_ends_once_for_good():
    effort = np.zeros((200, 2))
    effort[50:100, 1] = -6.0
    effort[70, 1] = -8.0
    effort[100:105, 1] = -1.0  # too short to end it
    effort[105:120, 1] = -4.0
    found = detector()
    events = found.push(efforts(effort[:60]))
    assert found.joints == ("elbow",)
    late = efforts(effort)
    rest = slice(60, None)
    events += found.push(ObservedEfforts(*(getattr(late, n)[rest] for n in late.__annotations__)))
    began, ended = events
    assert (began.joint, began.ended, began.effort, began.threshold) == ("elbow", False, -6.0, 5.0)
    assert began.stamp == BEGIN + 50 * MILLISECOND
    assert (ended.joint, ended.ended, ended.effort) == ("elbow", True, -8.0)
    assert ended.duration == pytest.approx(0.08)
    assert not found.joints


def test_the_stick_band_belongs_to_the_threshold():
    effort, band = np.zeros((100, 2)), np.zeros((100, 2))
    effort[:, 0], band[:, 0] = 6.0, 2.0
    assert not detector().push(efforts(effort, band))
    assert len(detector().push(efforts(effort, band / 4.0))) == 1


def test_contacts_end_where_states_are_interrupted():
    effort = np.zeros((100, 2))
    effort[20:, 0] = 9.0
    effort[60:, 0] = 0.0
    events = detector().push(efforts(effort, restarts=[60]))
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
        part = slice(first, first + 20)
        qd = motion.qd[part] if measured else None
        events += watch.push(motion.stamps[part], motion.q[part], qd, tau[part]).events
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


def test_known_levels_need_no_learning_and_lost_velocities_are_refused():
    robot, values = arm()
    levels = ResidualLevels(np.full(3, 0.1), np.full(3, 20.0))
    watch = ExternalEffortWatch(robot, values, SETTINGS, levels=levels)
    assert watch.learned == 1.0
    motion = pushed(robot, values, np.zeros(3), seconds=0.1)
    assert not watch.push(*motion.measured).events
    with pytest.raises(MissingSignalError, match="velocity"):
        watch.push(motion.stamps + 10**9, motion.q, None, motion.tau)
