"""The braking trajectory: where it sets out from, and that it keeps the limits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.quintic_curve import shares
from robot_identification.errors import SettingError
from robot_identification.excitation.certification.checks import exceeded
from robot_identification.excitation.motions.approach import approach
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.ros.planning.planning import Sources, load_machine
from robot_identification.ros.supervision.braking import (
    BrakingLimits,
    Origin,
    Situation,
    hold,
    stop_motion,
)
from robot_identification.ros.supervision.states import Reading
from watched_motion import BEGIN, BRAKING, LIMITS, NAMES, RUN, instant

TRACKING = (0.1, 0.2)
AT_ONCE = replace(BRAKING, lag_time=0.0)
ROUNDING = 1.0 + 1e-6


def readings_at(times, positions):
    return [
        Reading(BEGIN + round(t * 1e9), instant(BEGIN + round(t * 1e9)), np.asarray(q))
        for t, q in zip(times, positions, strict=True)
    ]


def situation(seconds, *, lag=(0.0, 0.0), rate=(0.0, 0.0), noise=0.0, age=0.003, count=26):
    """Return the situation of a robot that is behind its reference, some time after the start."""
    rng = np.random.default_rng(0)
    times = seconds - age - 0.002 * np.arange(count)[::-1]
    behind = np.array(lag) + np.array(rate) * (times - seconds)[:, None]
    q = RUN.sample(times)[0] - behind + noise * rng.standard_normal((count, 2))
    return Situation.of(RUN, BEGIN, readings_at(times, q), BEGIN + round(seconds * 1e9))


@pytest.mark.parametrize("seconds", [0.4, 1.0, 1.7, 2.0, 3.2])
def test_braking_begins_at_the_measured_state_carried_forward(seconds):
    lag, rate = np.array([0.03, -0.02]), np.array([0.1, 0.05])
    ends = []
    for limits, ahead in ((AT_ONCE, 0.0), (BRAKING, 1.0)):
        there = situation(seconds, lag=lag, rate=rate)
        stop = stop_motion(limits, there, Origin.FOLLOWING)
        assert not stop.flaw
        q, v, a = (values[0] for values in RUN.sample(seconds))
        found = [values[0] for values in stop.trajectory.sample(0.0)]
        np.testing.assert_allclose(found[0], q - (1.0 - ahead) * lag, atol=1e-9)
        np.testing.assert_allclose(found[1], v - (1.0 - ahead) * rate, atol=1e-6)
        np.testing.assert_allclose(found[2], a, atol=1e-9)
        ends.append(stop.trajectory.positions[-1])
    np.testing.assert_allclose(*ends, atol=1e-9)


def test_noise_of_the_states_hardly_shows_in_the_velocity_at_which_braking_begins():
    stop = stop_motion(AT_ONCE, situation(1.0, noise=1e-5), Origin.FOLLOWING)
    assert np.abs(stop.trajectory.velocities[0] - RUN.sample(1.0)[1][0]).max() < 1e-3
    assert np.abs(stop.trajectory.positions[0] - RUN.sample(1.0)[0][0]).max() < 3e-5


@pytest.mark.parametrize("origin", [Origin.FOLLOWING, Origin.MEASURED])
@pytest.mark.parametrize("wrong", [1, 5])
def test_some_states_that_are_off_hardly_change_it(origin, wrong):
    sound = situation(1.0)
    spoilt = list(sound.readings)
    for i in np.random.default_rng(2).choice(len(spoilt), wrong, replace=False):
        spoilt[i] = replace(spoilt[i], position=np.add(spoilt[i].position, [0.049, -0.049]))
    for limits in (AT_ONCE, BRAKING):
        right, found = (
            stop_motion(limits, replace(sound, readings=tuple(r)), origin).trajectory
            for r in (sound.readings, spoilt)
        )
        assert np.abs(found.velocities[0] - right.velocities[0]).max() < 0.05
        assert np.abs(found.positions[0] - right.positions[0]).max() < 3e-3


@pytest.mark.parametrize("seconds", np.linspace(0.2, 3.9, 12))
@pytest.mark.parametrize("lag", [(0.1, -0.1), (-0.1, 0.05), (0.002, 0.0)])
@pytest.mark.parametrize("rate", [(0.0, 0.0), (0.3, -0.3)])
def test_braking_with_the_largest_lag_keeps_the_limits_and_the_time(seconds, lag, rate):
    limits = replace(BRAKING, time=0.5)
    stop = stop_motion(limits, situation(seconds, lag=lag, rate=rate), Origin.FOLLOWING)
    assert not stop.flaw
    assert max(shares(stop.trajectory, LIMITS)) <= ROUNDING
    assert stop.trajectory.duration <= limits.time
    assert np.abs(stop.trajectory.velocities[-1]).max() == 0.0


@pytest.mark.parametrize("seconds", np.linspace(0.3, 3.7, 8))
def test_jerk_is_kept_too_where_it_is_limited(seconds):
    jerk = np.full(2, 200.0)
    declared = replace(LIMITS, jerk=jerk)
    planned = replace(declared.tightened(acceleration=0.6), jerk=0.6 * jerk)
    limits = BrakingLimits(planned, declared, time=1.0, lag_time=1.0)
    for lag in ((0.02, -0.02), (0.1, 0.1)):
        stop = stop_motion(limits, situation(seconds, lag=lag, rate=(0.2, 0.0)), Origin.FOLLOWING)
        assert not stop.flaw
        assert not exceeded(stop.trajectory, declared)


@pytest.mark.parametrize("origin", list(Origin))
@pytest.mark.parametrize("time", np.linspace(0.0, 4.0, 21))
def test_braking_keeps_the_limits_from_everywhere(origin, time):
    stop = stop_motion(BRAKING, situation(time), origin)
    assert not stop.flaw
    assert max(shares(stop.trajectory, LIMITS)) <= ROUNDING
    np.testing.assert_allclose(stop.trajectory.velocities[-1], 0.0)
    q, v, a = RUN.sample(time)
    np.testing.assert_allclose(stop.trajectory.positions[0], q[0], atol=1e-2)
    if origin is Origin.REFERENCE:
        np.testing.assert_allclose(stop.trajectory.positions[0], q[0], atol=1e-12)
        np.testing.assert_allclose(stop.trajectory.velocities[0], v[0], atol=1e-12)
        if np.any(v) and np.any(a):
            np.testing.assert_allclose(stop.trajectory.accelerations[0], a[0], atol=1e-12)


@pytest.mark.parametrize("origin", [Origin.MEASURED, Origin.REFERENCE])
def test_braking_is_gentle_only_where_that_ends_in_time(origin):
    gentle = stop_motion(AT_ONCE, situation(1.0), origin).trajectory
    for time, hard in ((1.01, False), (0.99, True)):
        limits = replace(AT_ONCE, time=time * gentle.duration)
        stop = stop_motion(limits, situation(1.0), origin)
        assert (stop.trajectory.duration < 0.95 * gentle.duration) == hard
        assert not stop.flaw


def straight(place, velocity):
    """Return the situation of a robot on its way at a steady velocity, as its reference is."""
    times = np.array([-1.0, 1.0])
    way = np.array([place, 0.0]) + np.outer(times, [velocity, 0.0])
    speed = np.array([[velocity, 0.0]] * 2)
    reference = Trajectory(NAMES, times, way, speed, np.zeros((2, 2)))
    before = np.linspace(-0.05, 0.0, 26)
    return Situation(reference, 0.0, readings_at(before, reference.sample(before)[0]), before)


@pytest.mark.parametrize("origin", list(Origin))
def test_braking_that_would_end_outside_uses_more_of_the_acceleration(origin):
    near = replace(LIMITS, upper=np.array([1.0, 3.0]))
    limits = replace(BRAKING, planned=near.tightened(acceleration=0.5), declared=near)
    way = {share: 0.75 * 1.5**2 / (share * 10.0) for share in (0.5, 0.8, 0.999)}
    hard = 0.8 if origin is Origin.FOLLOWING else 0.999
    for place, share in ((0.5, 0.5), (0.75, hard)):
        stop = stop_motion(limits, straight(place, 1.5), origin)
        assert not stop.flaw
        assert stop.trajectory.positions[-1, 0] == pytest.approx(place + way[share])


def test_a_robot_that_has_left_its_reference_is_braked_from_its_own_velocity():
    moving = straight(0.5, 1.5)
    slower = moving.reference.sample(0.3 * moving.reading_times)[0]
    readings = readings_at(moving.reading_times, slower)
    stop = stop_motion(BRAKING, replace(moving, readings=tuple(readings)), Origin.MEASURED)
    np.testing.assert_allclose(stop.trajectory.velocities[0], [0.45, 0.0], atol=1e-9)
    np.testing.assert_allclose(stop.trajectory.positions[0], [0.5, 0.0], atol=1e-9)


def test_the_jerk_that_braking_and_the_fading_lag_share_is_that_of_the_robot():
    """Four fifths of it are for braking, where the gentle way would end outside."""
    jerk = np.full(2, 60.0)
    near = replace(LIMITS, upper=np.array([1.0, 3.0]), jerk=jerk)
    gentle = replace(near.tightened(acceleration=0.5), jerk=0.5 * jerk)
    limits = replace(BRAKING, planned=gentle, declared=near)
    way = {share: 0.75 * np.sqrt(6.0 * 2.0 / (share * 60.0)) for share in (0.5, 0.8 * 0.999)}
    for place, share in ((0.5, 0.5), (0.6, 0.8 * 0.999)):
        stop = stop_motion(limits, straight(place, 1.5), Origin.FOLLOWING)
        assert not stop.flaw
        assert stop.trajectory.positions[-1, 0] == pytest.approx(place + way[share])


def test_a_robot_that_seems_faster_than_its_motion_ever_is_has_the_largest_velocity_of_that():
    """States of 1.5 rad/s, of a motion of 0.2 rad/s that goes to 0.7 rad."""
    slow, fast = straight(0.5, 0.2), straight(0.5, 1.5)
    stop = stop_motion(BRAKING, replace(slow, readings=fast.readings), Origin.MEASURED)
    assert not stop.flaw
    np.testing.assert_allclose(stop.trajectory.velocities[0], [0.2, 0.0], atol=1e-9)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(
    ("jerk", "speed", "room", "reduced"),
    [
        (np.inf, 1.5, 0.1, np.sqrt(0.1 * 9.99 / 0.75)),
        (np.inf, 0.5, 0.01, np.sqrt(0.01 * 9.99 / 0.75)),
        (200.0, 1.5, 0.1, 2.0 * 0.1 / (1.5 * 2.0 / 9.99)),  # always as long as from 2 rad/s
    ],
)
def test_a_velocity_from_which_there_is_no_rest_inside_the_limits_is_reduced(
    side, jerk, speed, room, reduced
):
    ends = {"lower": np.array([-1.0, -3.0]), "upper": np.array([1.0, 3.0])}
    near = replace(LIMITS, **ends, jerk=np.full(2, jerk))
    limits = replace(BRAKING, planned=near.tightened(acceleration=0.5), declared=near)
    stop = stop_motion(limits, straight(side * (1.0 - room), side * speed), Origin.MEASURED)
    assert not stop.flaw
    assert stop.trajectory.velocities[0, 0] == pytest.approx(side * reduced, rel=1e-6)
    assert 1.0 - 1e-6 <= side * stop.trajectory.positions[-1, 0] <= 1.0, "never beyond the end"


@pytest.mark.parametrize("fault", [1e-9, 0.3, 1e3, 1e9, 1e300])
def test_no_state_however_wrong_makes_braking_leave_the_limits(fault):
    """One state of many is wrong, then all of them: braking falls back to the reference."""
    sound = situation(1.0)
    for wrong in (sound.readings[-1:], sound.readings):
        readings = [
            replace(r, position=r.position + fault) if r in wrong else r for r in sound.readings
        ]
        for origin in (Origin.FOLLOWING, Origin.MEASURED):
            stop = stop_motion(BRAKING, replace(sound, readings=tuple(readings)), origin)
            assert max(shares(stop.trajectory, LIMITS)) <= ROUNDING
            if len(wrong) > 1 and fault > 1.0 and origin is Origin.MEASURED:
                assert "brakes from the reference" in stop.flaw
                np.testing.assert_allclose(stop.trajectory.positions[0], RUN.sample(1.0)[0][0])


def test_a_velocity_that_the_motion_never_has_is_not_braked_from():
    """Two states at nearly one time differ by noise, which looks like 100 rad/s."""
    times = [0.95, 0.95 + 1e-6]
    q = RUN.sample(times)[0] + [[0.0, 0.0], [1e-4, 1e-4]]
    there = Situation.of(RUN, BEGIN, readings_at(times, q), BEGIN + 10**9)
    stop = stop_motion(BRAKING, there, Origin.MEASURED)
    fastest = np.abs(RUN.sample(np.linspace(0.0, 4.0, 4001))[1]).max(axis=0)
    assert (np.abs(stop.trajectory.velocities[0]) <= fastest * ROUNDING).all()


def test_no_joint_is_braked_from_the_velocity_that_another_has():
    places = np.array([[0.0, 0.0], [1.0, -0.01], [0.0, 0.0]])
    run = replace(RUN, positions=places)
    times = [1.0 - 1e-6, 1.0]
    q = run.sample(times)[0] + [[0.0, 0.0], [1e-4, 1e-4]]
    there = Situation.of(run, BEGIN, readings_at(times, q), BEGIN + 10**9)
    stop = stop_motion(BRAKING, there, Origin.MEASURED)
    velocity = np.abs(stop.trajectory.velocities[0])
    assert not stop.flaw
    assert velocity[0] > 0.9
    assert velocity[1] <= 0.01 * 15.0 / 16.0 * ROUNDING, "as fast as it ever is"


def test_where_not_even_the_reference_can_be_braked_the_robot_is_held():
    place = 2.9
    stop = stop_motion(BRAKING, straight(place, 1.9), Origin.REFERENCE)
    assert "held where the reference was" in stop.flaw
    np.testing.assert_array_equal(stop.trajectory.positions, [[place, 0.0]] * 2)
    assert stop.trajectory.duration >= BRAKING.time


@pytest.mark.parametrize("place", [(0.5, -0.5), (9.0, -9.0), (np.nan, np.inf)])
def test_holding_cannot_fail_and_lasts_as_long_as_braking_may(place):
    for limits in (BRAKING, replace(BRAKING, time=np.nan)):
        held = hold(limits, NAMES, np.array(place))
        assert max(shares(held, LIMITS)) <= ROUNDING
        assert held.duration >= 0.1
        assert held.times[0] == 0.0
    np.testing.assert_allclose(hold(BRAKING, NAMES, np.array([9.0, 0.5])).positions[-1], [3.0, 0.5])


@settings(max_examples=200, deadline=None)
@given(
    seconds=st.floats(0.0, 4.0),
    seed=st.integers(0, 2**32 - 1),
    scale=st.floats(1e-6, 1e6),
    origin=st.sampled_from(list(Origin)),
)
def test_whatever_the_last_states_say_braking_keeps_every_limit(seconds, seed, scale, origin):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 40))
    times = np.unique(np.concatenate([seconds - rng.exponential(0.05, count), [seconds]]))
    q = RUN.sample(times)[0] + scale * rng.standard_normal((len(times), 2))
    there = Situation(RUN, seconds, tuple(readings_at(times, q)), times)
    stop = stop_motion(BRAKING, there, origin)
    assert max(shares(stop.trajectory, LIMITS)) <= ROUNDING
    assert not exceeded(stop.trajectory, LIMITS)


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_braking_from_every_state_as_far_off_as_is_tolerated_keeps_the_positions(side):
    machine = load_machine(Sources("scara", tracking_error=TRACKING))
    near = np.tile(0.92 * getattr(machine.limits, side), (2, 1))
    there = Trajectory(machine.robot.joint_names, [0.0, 1.0], near, 0 * near, 0 * near)
    run, certificate = approach(machine.robot, there, np.zeros(2), speed=1.0)
    certificate.require()
    time = machine.braking_time(certificate)
    limits = BrakingLimits(machine.limits, machine.declared, time=time, lag_time=0.0)
    nearest = np.inf
    for at in np.linspace(0.0, run.duration, 200):
        before = at + np.linspace(-0.05, 0.0, 26)
        for sign in (-1.0, 1.0):
            q = run.sample(before)[0] + sign * np.array(TRACKING)
            stop = stop_motion(
                limits, Situation(run, at, readings_at(before, q), before), Origin.FOLLOWING
            )
            assert not stop.flaw
            assert stop.trajectory.duration <= time
            end = stop.trajectory.positions[-1]
            nearest = min(nearest, (machine.declared.half_range - np.abs(end)).min())
    assert nearest < 0.13  # 0.12 for the way on which the acceleration falls; the rest is used


def test_a_tracking_error_that_leaves_no_room_is_refused():
    with pytest.raises(SettingError, match=r"tracking_error_limit.*joint_2"):
        load_machine(Sources("scara", tracking_error=(0.1, 3.2)))
