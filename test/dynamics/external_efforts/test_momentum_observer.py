import numpy as np
import pytest

from made_up_contacts import pushed
from random_robots import coupled_wrist, random_robot, random_values
from robot_identification.dynamics.external_efforts.momentum_observer import MomentumObserver
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.external_efforts.stream import MidpointStates
from robot_identification.errors import SampleError, SettingError, ShapeError
from small_robots import pendulum, pendulum_values

TAU = 0.01
SETTINGS = ExternalEffortSettings(time_constant=TAU, stick_speed=(1e-6,))


def arm(seed=3, joints=4):
    """Return a tree of joints whose wrist motor turns with two of them, and its parameters."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, joints, coupled_wrist())
    return robot, random_values(rng, robot)


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_constant_push_is_found_within_one_percent_after_five_time_constants(seed):
    robot, values = arm(seed)
    push = np.array([3.0, -2.0, 1.0, 5.0])
    motion = pushed(robot, values, push, begin=0.3)
    found = MomentumObserver(robot, values, SETTINGS).push(*motion.measured)
    time = (found.stamps - found.stamps[0]) * 1e-9
    free = time < 0.299
    # Where a velocity changes its sign between two samples, its friction is off for one of them.
    jumps = 2.0 * np.abs(values).max() * (1.0 - np.exp(-0.001 / TAU))
    assert np.median(np.abs(found.effort[free])) < 1e-3
    assert np.abs(found.effort[free]).max() < jumps
    late = time > 0.3 + 5.0 * TAU
    assert np.median(np.abs(found.effort[late] / push - 1.0)) < 0.01
    assert np.abs(found.effort[late] - push).max() < jumps
    once = np.argmin(np.abs(time - 0.3 - TAU))
    np.testing.assert_allclose(found.effort[once] / push, 1.0 - np.exp(-1.0), atol=0.06)


def test_samples_one_by_one_give_the_numbers_of_all_at_once():
    robot, values = arm()
    motion = pushed(robot, values, np.ones(4), seconds=0.3)
    whole = MomentumObserver(robot, values, SETTINGS).push(*motion.measured)
    stream = MomentumObserver(robot, values, SETTINGS)
    parts = []
    for first, last in ((0, 1), (1, 2), (2, 2), (2, 50), (50, 300)):
        parts.append(stream.push(*motion.part(slice(first, last)).measured))
    for name in whole.__annotations__:
        streamed = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_allclose(streamed, getattr(whole, name), rtol=1e-12, atol=1e-12)


def test_lost_samples_and_changing_intervals_leave_the_effort_as_it_is():
    robot, values = arm()
    values[12::14] = 0.0  # no Coulomb friction, whose sign changes between samples
    values[-1] = 0.0
    rng = np.random.default_rng(0)
    time = np.cumsum(rng.choice([0.001, 0.002, 0.005], size=800))
    push = np.array([3.0, -2.0, 1.0, 5.0])
    motion = pushed(robot, values, push, time=time)
    found = MomentumObserver(robot, values, SETTINGS).push(*motion.measured)
    settled = time - time[0] > 8.0 * TAU
    np.testing.assert_allclose(found.effort[settled], np.tile(push, (settled.sum(), 1)), atol=0.03)


def test_the_observer_begins_anew_behind_a_sample_so_absurd_that_no_effort_follows():
    robot, values = arm()
    motion = pushed(robot, values, np.full(4, 5.0), seconds=0.6)
    stamps, q, qd, tau = motion.measured
    absurd = qd[300:310].copy()
    absurd[5, 1] = 1e200
    observer = MomentumObserver(robot, values, SETTINGS)
    observer.push(stamps[:300], q[:300], qd[:300], tau[:300])
    with pytest.raises(SampleError, match="external effort of joint"):
        observer.push(stamps[300:310], q[300:310], absurd, tau[300:310])
    found = observer.push(stamps[310:], q[310:], qd[310:], tau[310:])
    assert np.isfinite(found.effort).all()


def test_the_observer_begins_anew_after_a_gap_and_where_the_clock_is_set_back():
    robot, values = arm()
    motion = pushed(robot, values, np.full(4, 5.0), seconds=0.6)
    for jump in (10**9, -(10**9)):
        stamps = motion.stamps.copy()
        stamps[300:] += jump
        found = MomentumObserver(robot, values, SETTINGS).push(stamps, *motion.measured[1:])
        assert np.flatnonzero(found.interval == 0.0).tolist() == [0, 300]
        assert not found.effort[300].any()
        np.testing.assert_allclose(found.age, np.tile(0.001 * np.arange(300), 2), atol=1e-12)
        again = MomentumObserver(robot, values, SETTINGS).push(*motion.part(slice(300, 600))[:4])
        np.testing.assert_allclose(found.effort[300:], again.effort, rtol=1e-12, atol=1e-12)


def test_a_sample_that_comes_twice_counts_once():
    robot, values = arm()
    motion = pushed(robot, values, np.ones(4), seconds=0.1)
    twice = motion.part(np.repeat(np.arange(100), 2))
    once = MomentumObserver(robot, values, SETTINGS).push(*motion.measured)
    found = MomentumObserver(robot, values, SETTINGS).push(*twice.measured)
    np.testing.assert_allclose(found.effort, once.effort, rtol=1e-12, atol=1e-12)


def test_friction_near_rest_is_a_band_and_no_effort_that_changes_its_sign():
    robot, values = pendulum(), pendulum_values(Fc=4.0)
    observer = MomentumObserver(robot, values, ExternalEffortSettings(stick_speed=(0.05,)))
    still = np.zeros((400, 1))
    noise = 1e-3 * np.random.default_rng(0).normal(size=(400, 1))
    gravity = np.full((400, 1), 9.81)
    stamps = np.arange(400, dtype=np.int64) * 1_000_000
    found = observer.push(stamps, still, noise, gravity + 3.0)
    assert np.abs(found.effort[100:] + 3.0).max() < 0.15 * 4.0
    assert found.stick_band[100:].min() > 3.7
    sliding = observer.push(stamps + 10**12, still, still + 0.3, gravity + 4.0)
    assert np.abs(sliding.effort).max() < 1e-9
    assert sliding.stick_band[100:].max() < 1e-3


def test_velocities_between_positions_are_as_good_as_measured_ones():
    robot, values = arm()
    push = np.array([3.0, -2.0, 1.0, 5.0])
    motion = pushed(robot, values, push, seconds=0.5)
    states = MidpointStates(0.1)
    observer = MomentumObserver(robot, values, SETTINGS)
    efforts = []
    for first in range(0, 500, 50):
        part = motion.part(slice(first, first + 50))
        efforts.append(observer.push(*states.push(part.stamps, part.q, part.tau)).effort)
    efforts = np.concatenate(efforts)
    assert len(efforts) == 499
    assert np.median(np.abs(efforts[100:] / push - 1.0)) < 0.01


def test_positions_that_are_wrapped_into_one_turn_make_no_velocity():
    robot, values = pendulum(), pendulum_values()
    motion = pushed(robot, values, np.array([3.0]), seconds=2.0)  # turns back through zero
    observer, states = MomentumObserver(robot, values, SETTINGS), MidpointStates(0.1)
    for part in (motion.part(slice(1000)), motion.part(slice(1000, None))):
        wrapped = np.mod(part.q, 2.0 * np.pi)
        found = observer.push(*states.push(part.stamps, wrapped, part.tau))
    assert np.abs(np.diff(wrapped, axis=0)).max() > 6.0
    np.testing.assert_allclose(found.effort[100:], 3.0, atol=0.05)


@pytest.mark.parametrize("signal", ["position", "velocity", "effort"])
def test_what_is_not_a_number_is_refused_with_joint_and_sample(signal):
    robot, values = arm()
    motion = pushed(robot, values, np.ones(4), seconds=0.05)
    place = ["position", "velocity", "effort"].index(signal) + 1
    motion[place][7, 2] = np.nan
    with pytest.raises(SampleError, match=f"{signal} of joint joint_3 is nan at sample 7"):
        MomentumObserver(robot, values, SETTINGS).push(*motion.measured)


def test_wrong_shapes_and_settings_are_refused():
    robot, values = arm()
    motion = pushed(robot, values, np.ones(4), seconds=0.05)
    with pytest.raises(ShapeError):
        MomentumObserver(robot, values).push(motion.stamps[1:], *motion.measured[1:])
    with pytest.raises(SettingError, match="4 joints"):
        MomentumObserver(robot, values, ExternalEffortSettings(stick_speed=(0.1, 0.1)))
    with pytest.raises(SettingError):
        ExternalEffortSettings(time_constant=0.0)
