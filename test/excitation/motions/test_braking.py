"""Braking: at rest in time, inside the limits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.errors import ShapeError, TrajectoryError
from robot_identification.excitation.certification.checks import exceeded
from robot_identification.excitation.motions.braking import (
    brake,
    braking_times,
    release_time,
    shortest_braking,
    stopping_factors,
    stopping_places,
)
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.files.loading import load_robot

ROBOT = load_robot("tx40")
NAMES = ROBOT.joint_names
LIMITS = MotionLimits.of(ROBOT)
WITH_JERK = replace(LIMITS, jerk=40.0 * LIMITS.acceleration)


def loosened(limits):
    """Return limits with room for the rounding of times to whole nanoseconds."""
    more = 1.0 + 1e-5
    return replace(limits, acceleration=limits.acceleration * more, jerk=limits.jerk * more)


@pytest.mark.parametrize("limits", [LIMITS, WITH_JERK])
@given(shares=st.lists(st.floats(-1, 1), min_size=6, max_size=6))
def test_braking_keeps_the_limits_and_ends_at_rest(limits, shares):
    q, v = limits.middle, np.array(shares) * limits.velocity
    trajectory = brake(limits, NAMES, q, v)
    times = np.linspace(0.0, trajectory.duration, 2001)
    position, velocity, acceleration = trajectory.sample(times)
    assert (np.abs(velocity[:-1]) <= np.abs(v) * (1 + 1e-6) + 1e-6).all()
    assert (np.abs(acceleration) <= limits.acceleration * (1 + 1e-5)).all()
    np.testing.assert_allclose(trajectory.positions[0], q, atol=1e-12)
    np.testing.assert_allclose(trajectory.velocities[0], v, atol=1e-12)
    np.testing.assert_allclose(trajectory.velocities[-1], 0.0)
    np.testing.assert_allclose(position[-1], q + v * braking_times(limits, v) / 2, atol=1e-2)
    inside = (position >= limits.lower) & (position <= limits.upper)
    assert (not exceeded(trajectory, loosened(limits))) == inside.all()


def test_stopping_places_are_those_of_a_fine_grid():
    rng = np.random.default_rng(0)
    times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.3, 1.0, 6))])
    values = rng.normal(size=(3, 7, 6))
    trajectory = Trajectory(NAMES, times, *values)
    for limits in (LIMITS, WITH_JERK):
        low, high = stopping_places(limits, trajectory)
        for i in range(6):
            grid = np.linspace(times[i], times[i + 1], 5001)[:-1]
            q, v, _ = trajectory.sample(grid)
            if limits is LIMITS:
                ends = q + v * braking_times(limits, v) / 2
            else:
                ends = q + v * braking_times(limits, limits.velocity) / 2
            assert (low[i] <= ends.min(axis=0) + 1e-12).all()
            assert (high[i] >= ends.max(axis=0) - 1e-12).all()
            np.testing.assert_allclose(low[i], ends.min(axis=0), atol=1e-2)
            np.testing.assert_allclose(high[i], ends.max(axis=0), atol=1e-2)


def test_a_limit_too_near_is_told():
    q, v = LIMITS.upper - 1e-3, np.zeros(6)
    v[2] = LIMITS.velocity[2]
    assert "position" in exceeded(brake(LIMITS, NAMES, q, v), LIMITS)
    assert not exceeded(brake(LIMITS, NAMES, q, -v), loosened(LIMITS))
    fast = brake(LIMITS, NAMES, LIMITS.middle, 1.1 * LIMITS.velocity)
    assert "velocity" in exceeded(fast, LIMITS)


def test_a_robot_at_rest_stays():
    braking = brake(LIMITS, NAMES, LIMITS.middle, np.zeros(6))
    assert not exceeded(braking, LIMITS)
    np.testing.assert_array_equal(braking.positions, [LIMITS.middle] * 2)


def test_bad_states_are_refused():
    with pytest.raises(ShapeError):
        brake(LIMITS, NAMES, np.zeros(5), np.zeros(6))
    with pytest.raises(ShapeError, match="velocity"):
        brake(LIMITS, NAMES, np.zeros(6), np.zeros(7))
    with pytest.raises(TrajectoryError):
        brake(LIMITS, NAMES, np.full(6, np.nan), np.zeros(6))
    with pytest.raises(TrajectoryError):
        brake(LIMITS, NAMES, np.zeros(6), np.full(6, np.nan))


# Two joints of 2 rad/s and 5 rad/s^2; the acceleration of the second takes 0.1 s to build up.
HALF_JERK = MotionLimits(
    np.full(2, -9.0), np.full(2, 9.0), np.full(2, 2.0), np.full(2, 5.0), np.array([np.inf, 50.0]),
    np.full(2, np.inf),
)  # fmt: skip
PAIR = ("one", "two")


def test_the_acceleration_is_released_no_faster_than_the_jerk_allows():
    assert release_time(LIMITS) == 0.02
    assert release_time(HALF_JERK) == pytest.approx(5.0 / 50.0)
    assert release_time(replace(HALF_JERK, jerk=np.full(2, 1e6))) == 0.02


@pytest.mark.parametrize(
    ("jerk", "expected"),
    [(50.0, 0.6), (1e4, 0.6), (10.0, np.sqrt(1.2))],  # 1.5 v / a; sqrt(6 v / j)
)
def test_with_a_limit_of_jerk_every_braking_takes_as_long_as_the_fastest(jerk, expected):
    limits = replace(HALF_JERK, jerk=np.array([np.inf, jerk]))
    np.testing.assert_allclose(shortest_braking(limits), [0.0, expected])
    slow = braking_times(limits, [[0.4, -0.4], [0.0, 0.0], [-1e-3, 1e-3]])
    np.testing.assert_allclose(slow, [[0.12, expected], [0.0, 0.0], [3e-4, expected]])
    beyond = braking_times(limits, [0.0, 100.0])[1]
    assert beyond == pytest.approx(30.0), "faster than the limit: with all of the acceleration"


def test_braking_times_use_the_acceleration_to_its_limit():
    """The law v (1 - 3 s^2 + 2 s^3) over u has its largest acceleration, 1.5 v / u, half way."""
    for speed in (0.1, 2.0):
        u = braking_times(HALF_JERK, [speed, 0.0])[0]
        law = speed * np.polynomial.Polynomial([1.0, 0.0, -3.0 / u**2, 2.0 / u**3])
        assert abs(law.deriv()(u / 2)) == pytest.approx(5.0)


def test_every_joint_follows_its_own_law_to_rest():
    q, v = np.array([0.3, -0.2]), np.array([-0.5, 1.5])
    trajectory = brake(HALF_JERK, PAIR, q, v)
    own = braking_times(HALF_JERK, v)
    np.testing.assert_allclose(trajectory.times, [0.0, *sorted(own)])
    for j in range(2):
        law = v[j] * np.polynomial.Polynomial([1.0, 0.0, -3.0 / own[j] ** 2, 2.0 / own[j] ** 3])
        until = np.minimum(trajectory.times, own[j])
        np.testing.assert_allclose(trajectory.positions[:, j], q[j] + law.integ()(until))
        np.testing.assert_allclose(trajectory.velocities[:, j], law(until), atol=1e-12)
        np.testing.assert_allclose(trajectory.accelerations[:, j], law.deriv()(until), atol=1e-12)


def test_the_shortest_braking_takes_a_millisecond():
    rest = brake(HALF_JERK, PAIR, [0.0, 0.0], [0.0, 0.0])
    np.testing.assert_array_equal(rest.times, [0.0, 1e-3])
    crawling = brake(LIMITS, NAMES, LIMITS.middle, np.full(6, 1e-6))
    np.testing.assert_array_equal(crawling.times, [0.0, 1e-3])


def test_joints_that_come_to_rest_within_a_millisecond_do_so_together():
    """Points closer than that would be no trajectory for a controller."""
    limits = replace(HALF_JERK, jerk=np.full(2, np.inf))
    for other, times in (
        (0.3, [0.0, 0.3]),
        (0.2998, [0.0, 0.3]),
        (0.2985, [0.0, 0.2985, 0.3]),
    ):
        trajectory = brake(limits, PAIR, [0.0, 0.0], np.array([0.3, other]) * 5.0 / 1.5)
        np.testing.assert_allclose(trajectory.times, times, rtol=1e-12)
    three = replace(
        limits, **{name: np.resize(getattr(limits, name), 3)
                   for name in ("lower", "upper", "velocity", "acceleration", "jerk", "effort")},
    )  # fmt: skip
    speeds = np.array([0.3, 0.2994, 0.2988]) * 5.0 / 1.5
    together = brake(three, ("a", "b", "c"), np.zeros(3), speeds)
    np.testing.assert_allclose(together.times, [0.0, 0.2988, 0.3], rtol=1e-12)


def test_joints_that_come_to_rest_just_a_millisecond_apart_do_so_each_in_its_time():
    """At 1.5 rad/s^2 every joint takes as many seconds as it has rad/s."""
    limits = replace(HALF_JERK, jerk=np.full(2, np.inf), acceleration=np.full(2, 1.5))
    trajectory = brake(limits, PAIR, [0.0, 0.0], [0.002, 0.001])
    np.testing.assert_array_equal(trajectory.times, [0.0, 0.001, 0.002])


def test_braking_distances_have_two_factors():
    """Without a limit of jerk v |v| 0.75 / a, with one half the braking time times v."""
    per_square, per_speed = stopping_factors(HALF_JERK)
    np.testing.assert_allclose(per_square, [0.75 / 5.0, 0.0])
    np.testing.assert_allclose(per_speed, [0.0, 0.3])
    for v in (np.array([0.7, 0.7]), np.array([-1.9, -1.9])):
        trajectory = brake(HALF_JERK, PAIR, [0.0, 0.0], v)
        expected = per_square * v * np.abs(v) + per_speed * v
        np.testing.assert_allclose(trajectory.positions[-1], expected)
