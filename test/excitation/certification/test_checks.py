"""What single checks of a certificate tell, and where they end."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.excitation.certification import checks
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from small_robots import PENDULUM_LIMITS, pendulum, pendulum_sweep

BOUNDS = MotionLimits.of(pendulum(**PENDULUM_LIMITS))


@pytest.mark.parametrize(
    ("times", "rise"),
    [
        ([0.0, 1e-9], True), ([0.0, 4e-10], False), ([0.0], False), ([], False),
        ([1.0, 2.0], True), ([-1e-9, 1.0], False), ([0.0, 1.0, 1.0], False),
        ([2.0, 1.0], False),
        ([0.0, 2.0**31], True), ([0.0, 2.0**31 + 1.0], False),
        ([0.0, np.nan], False), ([0.0, -np.inf, 1.0], False),
    ],
)  # fmt: skip
def test_times_rise_by_nanoseconds_as_far_as_a_message_counts(times, rise):
    assert checks.rising(np.array(times)) == rise


def test_points_closer_than_a_nanosecond_are_not_followed():
    close = replace(pendulum_sweep(), times=np.array([0.0, 3e-10]))
    assert checks.published(close) is None
    assert checks.exceeded(close, BOUNDS) == "times: two points are less than a nanosecond apart"
    assert not checks.first_failed(close, BOUNDS).passed
    assert "from 0 on that rise" in checks.times(close).detail
    sent = checks.published(replace(pendulum_sweep(), times=np.array([0.0, 1.0 / 3.0])))
    np.testing.assert_array_equal(sent.times, [0.0, 0.333333333])


@pytest.mark.parametrize("missing", [["accelerations"], ["velocities", "accelerations"]])
def test_points_need_velocities_and_accelerations_for_one_motion_between_them(missing):
    """Controllers that interpolate differently would each keep the limits."""
    bare = replace(pendulum_sweep(), **dict.fromkeys(missing))
    assert not checks.exceeded(bare, BOUNDS)
    found = checks.interpolation(bare, BOUNDS)
    assert (found.passed, found.detail) == (False, "points need velocities and accelerations")
    assert checks.interpolation(pendulum_sweep(), BOUNDS).passed


def test_the_worst_is_told_with_joint_and_interval():
    motion = pendulum_sweep(3, ("one", "two"))
    pair = replace(
        BOUNDS, **{name: np.repeat(getattr(BOUNDS, name), 2) * [1.0, 0.5]
                   for name in ("lower", "upper", "velocity", "acceleration", "jerk", "effort")},
    )  # fmt: skip
    found = {check.name: check for check in checks.limits(motion, pair)}
    assert found["position"].detail == "0.666667 of the limit of two in interval 2"
    assert found["velocity"].detail == "0.9375 of the limit of two in interval 1"
    assert "jerk" not in found
    assert checks.exceeded(motion, pair).startswith("acceleration: 2.3094 of the limit of two")


def test_where_a_limit_is_not_known_the_others_are_checked():
    bounds = replace(BOUNDS, velocity=np.array([np.inf]), jerk=np.array([61.0]))
    found = [check.name for check in checks.limits(pendulum_sweep(), bounds)]
    assert found == ["position", "acceleration", "jerk"]


def step(order):
    """Return a motion whose velocity (1) or acceleration (2) jumps between two pieces."""
    coefficients = np.zeros((2, 1, 6))
    coefficients[1, 0, order] = 1e-3
    motion = pendulum_sweep(3)
    made = Trajectory(("hinge",), motion.times, motion.positions, motion.velocities)
    object.__setattr__(made, "coefficients", coefficients)
    return made


def test_jumps_are_infinite_in_the_next_derivative():
    bounds = replace(BOUNDS, jerk=np.array([1e6]))
    results = [{c.name: c.passed for c in checks.limits(step(i), bounds)} for i in (1, 2)]
    assert results[0] == {"position": True, "velocity": True, "acceleration": False, "jerk": True}
    assert results[1] == {"position": True, "velocity": True, "acceleration": True, "jerk": False}
    for order, limit in ((1, BOUNDS.velocity[0]), (2, BOUNDS.acceleration[0])):
        for size, kept in ((0.99e-6, True), (1.01e-6, False)):
            jumping = step(order)
            coefficients = np.zeros((2, 1, 6))
            coefficients[1, 0, order] = size * limit / order
            object.__setattr__(jumping, "coefficients", coefficients)
            failed = [c.name for c in checks.limits(jumping, bounds) if not c.passed]
            assert failed == ([] if kept else [("acceleration", "jerk")[order - 1]])


@pytest.mark.parametrize("where", [0, -1])
@pytest.mark.parametrize(("name", "limit"), [("velocities", 4.0), ("accelerations", 10.0)])
@pytest.mark.parametrize(("share", "rests"), [(0.9e-6, True), (1.1e-6, False)])
def test_a_motion_begins_and_ends_at_rest_to_a_millionth(where, name, limit, share, rests):
    for sign in (1.0, -1.0):
        values = np.zeros((3, 1))
        values[where] = sign * share * limit
        found = checks.rest(replace(pendulum_sweep(3), **{name: values}), BOUNDS)
        assert found.passed == rests
    assert found.detail == f"{share:.3g} of the limits at the ends"


def test_the_posture_at_the_start_is_that_of_all_joints():
    robot, motion = pendulum(**PENDULUM_LIMITS), pendulum_sweep()
    assert checks.start(robot, motion, [0.01], 0.01).passed
    assert not checks.start(robot, motion, [-0.011], 0.01).passed
    assert checks.start(robot, motion, [-0.25], 0.01).detail == "hinge is 0.25 away"
    assert not checks.start(robot, motion, [np.nan], 0.01).passed
    for posture in ([0.0, 0.0], [], 0.0, [[0.0]]):
        wrong = checks.start(robot, motion, posture, 0.01)
        assert (wrong.passed, wrong.detail) == (False, "the posture needs 1 values")


@pytest.mark.parametrize("begin", [0.5, -0.5])
def test_the_way_to_the_start_is_that_between_both_postures(begin):
    robot, motion = pendulum(**PENDULUM_LIMITS), pendulum_sweep()
    moved = replace(motion, positions=motion.positions + begin)
    for posture, passed, away in ((begin, True, "0"), (0.0, False, "0.5"), (-begin, False, "1")):
        found = checks.start(robot, moved, [posture], 0.01)
        assert (found.passed, found.detail) == (passed, f"hinge is {away} away")


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("end", "passed"), [(1.1, True), (1.05, False)])
def test_braking_ends_inside_the_limits_of_the_positions(side, end, passed):
    """From 1 rad/s at 10 rad/s^2 it takes 0.075 rad: from 1 rad to 1.075, between -0.5 and end."""
    steady = np.full((2, 1), side)
    moving = Trajectory(
        ("hinge",), np.array([0.0, 1.0]), np.array([[0.0], [side]]), steady, np.zeros((2, 1))
    )
    ends = np.sort([-0.5 * side, side * end])
    bounds = replace(BOUNDS, lower=ends[:1], upper=ends[1:])
    found = checks.braking(moving, bounds)
    middle, half = (end - 0.5) / 2.0, (end + 0.5) / 2.0
    assert found.name == "braking"
    assert found.passed == passed
    assert found.detail == f"{(1.075 - middle) / half:.6g} of the limit of hinge in interval 1"


def test_points_a_nanosecond_apart_are_published():
    close = replace(pendulum_sweep(), times=np.array([0.0, 1e-9]))
    np.testing.assert_array_equal(checks.published(close).times, [0.0, 1e-9])
    assert checks.exceeded(close, BOUNDS) != "times: two points are less than a nanosecond apart"


def test_of_limits_that_are_exceeded_the_first_is_told_with_its_own_figure():
    """1.5 and 15 rad in a second each: 1.875 v and 5.7735 a of the way, before the limits."""
    far = replace(pendulum_sweep(), positions=15.0 * pendulum_sweep().positions)
    failed = [check for check in checks.limits(far, BOUNDS) if not check.passed]
    assert [check.name for check in failed] == ["position", "velocity", "acceleration"]
    assert checks.exceeded(far, BOUNDS) == f"position: {failed[0].detail}"
    assert failed[0].detail == "5 of the limit of hinge in interval 1"
    fast = replace(pendulum_sweep(), positions=2.5 * pendulum_sweep().positions)
    assert checks.exceeded(fast, BOUNDS).startswith("velocity: 1.17188 of the limit of hinge")


def test_rest_at_the_end_is_that_of_the_last_interval():
    """Of two thirds of a second, after one of a third."""
    still, places = np.zeros((3, 1)), np.array([[0.0], [0.5], [1.0]])
    for times in ([0.0, 1.0 / 3.0, 1.0], [0.0, 2.0 / 3.0, 1.0]):
        motion = Trajectory(("hinge",), np.array(times), places, still, still)
        assert checks.rest(motion, BOUNDS).passed
