"""Braking: at rest in time, inside the limits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.errors import ShapeError, TrajectoryError
from robot_identification.excitation.certification.checks import exceeded
from robot_identification.excitation.motions.braking import brake, braking_times, stopping_places
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
    with pytest.raises(TrajectoryError):
        brake(LIMITS, NAMES, np.full(6, np.nan), np.zeros(6))
    with pytest.raises(TrajectoryError):
        brake(LIMITS, NAMES, np.zeros(6), np.full(6, np.nan))
