"""What a certificate tells: of each check, of distances and efforts, and of how it was reached."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.collision.clearance import Clearance, Nearest
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.certification import checks
from robot_identification.excitation.certification.certificate import (
    Certificate,
    certify,
    certify_values,
    digest_of,
)
from robot_identification.excitation.certification.checks import Check
from robot_identification.excitation.certification.effort_bounds import Efforts, Peak
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from small_robots import pendulum, pendulum_values

NEAREST = Nearest(0.05, ("arm", "post"), 1.5, np.zeros(1), np.zeros((2, 3)), True)
LIMITS = {"lower": -3.0, "upper": 3.0, "velocity": 4.0, "acceleration": 10.0}


def sweep(points=2, joints=("hinge",)):
    """Return a motion from 0 to 1 rad in a second, from rest to rest."""
    times, still = np.linspace(0.0, 1.0, points), np.zeros((points, len(joints)))
    positions = np.repeat(np.linspace(0.0, 1.0, points)[:, None], len(joints), axis=1)
    return Trajectory(joints, times, positions, still, still)


def peak(joint="hinge", **changes):
    found = Peak(joint, "N m", 10.0, 9.0, 8.0, 0.25, 1.0, False)
    return replace(found, **changes)


def certificate(*found, **more):
    return Certificate(tuple(found), 0.25, "abc", **more)


def test_a_certificate_names_its_first_failed_check():
    good = certificate(Check("one", True), Check("two", True))
    good.require()
    assert good.passed
    assert good.headline == "passed; 2 checks, at rest within 0.25 s"
    bad = certificate(Check("one", True), Check("two", False, "why"), Check("three", False))
    assert not bad.passed
    assert bad.results == {"one": True, "two": False, "three": False}
    assert bad.headline == "refused: two, three; 3 checks, at rest within 0.25 s"
    with pytest.raises(NotCertifiedError, match=r"two.*why"):
        bad.require()
    assert bad.records()[1] == {"name": "two", "passed": False, "detail": "why"}


def test_more_is_told_of_the_check_that_it_belongs_to():
    first, second = Check("one", True, "a"), Check("two", False, "b")
    told = certificate(first, second).told("two", "c")
    assert told.checks == (first, Check("two", False, "b; c"))


def test_what_is_told_of_obstacles_is_that_of_their_check():
    one = Check("one", True, "a")
    assert certificate(one).obstacles == ""
    assert certificate(one, Check("obstacles", False, "post")).obstacles == "post"


def test_the_nearest_place_is_the_one_that_the_check_has_met():
    met = Clearance(True, 0.02, NEAREST, 1, 1)
    assert certificate(clearance=met).nearest(None, None) is NEAREST

    class Cell:
        @staticmethod
        def check():
            raise AssertionError

    asked = []
    Cell.check.nearest = lambda times, postures: asked.append((times, postures)) or NEAREST
    for clearance in (None, replace(met, nearest=None)):
        assert certificate(clearance=clearance).nearest(Cell, sweep()) is NEAREST
    times, postures = asked[-1]
    assert (times[0], times[-1], len(times)) == (0.0, 1.0, 200)
    np.testing.assert_allclose(postures, sweep().sample(times)[0])


def test_the_plain_data_of_a_certificate_keep_their_keys():
    efforts = Efforts(True, (peak(), peak("slide", limit=np.inf, unit="N")), 5)
    found = certificate(
        Check("one", True),
        remarks=("assumed",),
        clearance=Clearance(False, 0.02, NEAREST, 1, 1),
        efforts=efforts,
    ).summary()
    assert found == {
        "certificate": {"one": True},
        "limits": {},
        "remarks": ["assumed"],
        "clearance": {
            "kept": False,
            "wanted": 0.02,
            "smallest": {"distance": 0.05, "pair": ["arm", "post"], "time": 1.5, "braking": True},
        },
        "efforts": {
            name: {
                "bound": 9.0, "reached": 8.0, "limit": limit, "unit": unit, "time": 0.25,
                "speed": 1.0, "braking": False,
            }
            for name, limit, unit in (("hinge", 10.0, "N m"), ("slide", None, "N"))
        },
        "braking_time": 0.25,
        "sha256": "abc",
    }  # fmt: skip
    unknown = certificate(clearance=Clearance(True, 0.02, None, 1, 0)).summary()
    assert unknown["clearance"] == {"kept": True, "wanted": 0.02, "smallest": None}
    nothing = certificate().summary()
    assert nothing["clearance"] is nothing["efforts"] is None


def test_the_braking_time_is_that_from_the_largest_velocity():
    found = certify(pendulum(**LIMITS), sweep())
    assert found.passed
    assert found.braking_time == pytest.approx(1.5 * 1.875 / 10.0)
    back = replace(sweep(), positions=-sweep().positions)
    assert certify(pendulum(**LIMITS), back).braking_time == pytest.approx(1.5 * 1.875 / 10.0)


def test_what_is_no_trajectory_has_no_further_checks():
    found = certify(pendulum(**LIMITS), sweep(joints=("elbow",)))
    assert found.results == {"finite": True, "names": False, "times": True}
    assert np.isnan(found.braking_time)
    assert found.clearance is found.efforts is None


def test_checks_stand_in_one_order_and_only_where_something_is_known():
    motion = ["position", "velocity", "acceleration", "interpolation", "rest"]
    names = ["finite", "names", "times", *motion, "braking"]
    assert list(certify(pendulum(**LIMITS), sweep()).results) == names
    known = Surroundings(prior=pendulum_values(ZZ=1.0, MX=0.0))
    limited = certify(
        pendulum(**LIMITS, effort=30.0, jerk=61.0), sweep(), start=[0.0], surroundings=known
    )
    order = [*names[:6], "jerk", "interpolation", "rest", "start", "braking", "effort"]
    assert list(limited.results) == order
    assert limited.passed
    unlimited = certify(pendulum(**LIMITS), sweep(), surroundings=known)
    assert "effort" not in unlimited.results
    assert unlimited.efforts is not None


def values(**changes):
    """Return what certify_values takes of the sweep, with changes."""
    motion = sweep(3)
    names = ("times", "positions", "velocities", "accelerations")
    given = {"joint_names": motion.joint_names, **{name: getattr(motion, name) for name in names}}
    return {**given, **changes}


@pytest.mark.parametrize("name", ["times", "positions", "velocities", "accelerations"])
def test_values_that_are_no_numbers_or_do_not_fit_are_refused(name):
    robot, good = pendulum(**LIMITS), values()
    for bad in (np.nan, np.inf, -np.inf):
        spoilt = np.array(good[name])
        spoilt.flat[1] = bad
        found = certify_values(robot, **values(**{name: spoilt}))
        assert not found.results["finite"]
        assert found.checks[0].detail == "a value is NaN or infinite"
        assert np.isnan(found.braking_time)
        assert found.digest == ""
    longer = np.concatenate([good[name], good[name][-1:] + 1.0])
    found = certify_values(robot, **values(**{name: longer}))
    assert found.results == {"finite": True, "names": True, "times": False}
    assert found.checks[0].detail == ""


def test_times_in_a_table_are_refused():
    table = np.array([[0.0, 0.5], [1.0, 1.5]])
    still = np.zeros((4, 1))
    found = certify_values(pendulum(**LIMITS), ("hinge",), table, still, still, still)
    assert not found.results["times"]


def test_values_are_certified_with_start_and_surroundings():
    known = Surroundings(prior=pendulum_values(ZZ=1.0, MX=0.0))
    robot = pendulum(**LIMITS, effort=1.0)
    found = certify_values(robot, **values(), start=[0.5], surroundings=known)
    assert not found.results["start"]
    assert not found.results["effort"]


def test_the_digest_does_not_hold_what_stands_around_the_robot():
    robot, motion, found = pendulum(**LIMITS), sweep(), [Check("one", True)]
    for passed in (True, False):
        around = [*found, Check("obstacles", passed)]
        assert digest_of(robot, motion, around) == digest_of(robot, motion, found)
    assert digest_of(robot, motion, [Check("two", True)]) != digest_of(robot, motion, found)
    bare = replace(motion, velocities=None, accelerations=None)
    assert digest_of(robot, bare, found) != digest_of(robot, motion, found)


def test_a_limit_beyond_that_of_the_urdf_is_told(monkeypatch):
    assert "; " not in certify(pendulum(**LIMITS), sweep()).checks[4].detail


# What single checks tell and where they end.

BOUNDS = MotionLimits.of(pendulum(**LIMITS))


@pytest.mark.parametrize(
    ("times", "rise"),
    [
        ([0.0, 1e-9], True), ([0.0, 4e-10], False), ([0.0], False), ([], False),
        ([1.0, 2.0], True), ([-1e-9, 1.0], False), ([0.0, 1.0, 1.0], False),
        ([0.0, 2.0**31], True), ([0.0, 2.0**31 + 1.0], False),
        ([0.0, np.nan], False), ([0.0, -np.inf, 1.0], False),
    ],
)  # fmt: skip
def test_times_rise_by_nanoseconds_as_far_as_a_message_counts(times, rise):
    assert checks.rising(np.array(times)) == rise


def test_points_closer_than_a_nanosecond_are_not_followed():
    close = replace(sweep(), times=np.array([0.0, 3e-10]))
    assert checks.published(close) is None
    assert checks.exceeded(close, BOUNDS) == "two points are less than a nanosecond apart"
    assert "from 0 on that rise" in checks.times(close).detail
    sent = checks.published(replace(sweep(), times=np.array([0.0, 1.0 / 3.0])))
    np.testing.assert_array_equal(sent.times, [0.0, 0.333333333])


@pytest.mark.parametrize("missing", [["accelerations"], ["velocities", "accelerations"]])
def test_points_need_velocities_and_accelerations_for_one_motion_between_them(missing):
    """Controllers that interpolate differently would each keep the limits."""
    bare = replace(sweep(), **dict.fromkeys(missing))
    assert not checks.exceeded(bare, BOUNDS)
    found = checks.interpolation(bare, BOUNDS)
    assert (found.passed, found.detail) == (False, "points need velocities and accelerations")
    assert checks.interpolation(sweep(), BOUNDS).passed


def test_the_worst_is_told_with_joint_and_interval():
    motion = sweep(3, ("one", "two"))
    pair = replace(
        BOUNDS, **{name: np.repeat(getattr(BOUNDS, name), 2) * [1.0, 0.5]
                   for name in ("lower", "upper", "velocity", "acceleration", "jerk", "effort")},
    )  # fmt: skip
    found = {check.name: check for check in checks.limits(motion, pair)}
    assert found["position"].detail == "0.666667 of the limit of two in interval 2"
    assert found["velocity"].detail == "0.9375 of the limit of two in interval 1"
    assert "jerk" not in found
    assert checks.exceeded(motion, pair).startswith("acceleration: 2.3094 of the limit of two")


def step(order):
    """Return a motion whose velocity (1) or acceleration (2) jumps between two pieces."""
    coefficients = np.zeros((2, 1, 6))
    coefficients[1, 0, order] = 1e-3
    motion = sweep(3)
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
        found = checks.rest(replace(sweep(3), **{name: values}), BOUNDS)
        assert found.passed == rests
    assert found.detail == f"{share:.3g} of the limits at the ends"


def test_the_posture_at_the_start_is_that_of_all_joints():
    robot, motion = pendulum(**LIMITS), sweep()
    assert checks.start(robot, motion, [0.01], 0.01).passed
    assert not checks.start(robot, motion, [-0.011], 0.01).passed
    assert checks.start(robot, motion, [-0.25], 0.01).detail == "hinge is 0.25 away"
    assert not checks.start(robot, motion, [np.nan], 0.01).passed
    wrong = checks.start(robot, motion, [0.0, 0.0], 0.01)
    assert (wrong.passed, wrong.detail) == (False, "the posture needs 1 values")


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


def test_what_is_told_of_obstacles():
    far = checks.obstacles(Clearance(True, 0.02, None, 1, 0))
    assert (far.passed, far.detail) == (True, "all farther than 0.02 m")
    for kept, distance, more in (
        (True, 0.05, False), (False, 0.05, True), (False, 0.02, True), (False, 0.01, False),
    ):  # fmt: skip
        nearest = replace(NEAREST, distance=distance)
        found = checks.obstacles(Clearance(kept, 0.02, nearest, 1, 1))
        assert found.passed == kept
        assert found.detail.startswith(f"{nearest}; wanted 0.02 m")
        assert ("off the motion by the allowed tracking error" in found.detail) == more


def test_what_is_told_of_efforts():
    kept = checks.effort(Efforts(True, (peak("a", bound=5.0), peak("b"), peak("c", bound=6.0)), 1))
    assert kept.passed
    assert kept.detail == "b: 8 N m at 0.250 s; nowhere above 9, 0.9 of the limit"
    over = peak("a", reached=11.0, bound=30.0, braking=True, speed=0.5)
    refused = checks.effort(Efforts(False, (peak("b", bound=99.0), over), 1))
    assert not refused.passed
    assert refused.detail == (
        "a: 11 N m while it brakes from 0.250 s, at 50 % of the speed; the limit is 10 N m; "
        "lower limits of acceleration make braking gentler"
    )
    unsure = checks.effort(Efforts(False, (peak(reached=9.9),), 1))
    assert unsure.detail.endswith("the limit is 10 N m, and no bound was found that keeps it")


@pytest.mark.parametrize(
    ("reached", "exceeds"), [(9.989, False), (9.991, True), (10.5, True), (-1.0, False)]
)
def test_a_thousandth_below_the_limit_an_effort_exceeds_it(reached, exceeds):
    assert peak(reached=reached).exceeds == exceeds


def test_full_speed_needs_no_mention():
    assert peak(speed=0.996).when == "at 0.250 s"
    assert peak(speed=0.99).when == "at 0.250 s, at 99 % of the speed"


def test_efforts_are_told_joint_by_joint():
    found = Efforts(True, (peak(), peak("slide", limit=np.inf, unit="N")), 5)
    assert str(found) == "efforts at most: hinge 9 of 10 N m, slide 9 N"
    assert found.worst.joint == "hinge"


def test_more_is_told_of_the_check_that_is_named_and_of_no_other():
    found = certificate(*(Check(name, True, "fine") for name in "abc")).told("b", "by 2 %")
    assert [check.detail for check in found.checks] == ["fine", "fine; by 2 %", "fine"]


def test_points_a_nanosecond_apart_are_published():
    close = replace(sweep(), times=np.array([0.0, 1e-9]))
    np.testing.assert_array_equal(checks.published(close).times, [0.0, 1e-9])
    assert checks.exceeded(close, BOUNDS) != "two points are less than a nanosecond apart"


def test_of_limits_that_are_exceeded_the_first_is_told_with_its_own_figure():
    """1.5 and 15 rad in a second each: 1.875 v and 5.7735 a of the way, before the limits."""
    far = replace(sweep(), positions=15.0 * sweep().positions)
    failed = [check for check in checks.limits(far, BOUNDS) if not check.passed]
    assert [check.name for check in failed] == ["position", "velocity", "acceleration"]
    assert checks.exceeded(far, BOUNDS) == f"position: {failed[0].detail}"
    assert failed[0].detail == "5 of the limit of hinge in interval 1"
    fast = replace(sweep(), positions=2.5 * sweep().positions)
    assert checks.exceeded(fast, BOUNDS).startswith("velocity: 1.17188 of the limit of hinge")


def test_rest_at_the_end_is_that_of_the_last_interval():
    """Of two thirds of a second, after one of a third."""
    still, places = np.zeros((3, 1)), np.array([[0.0], [0.5], [1.0]])
    for times in ([0.0, 1.0 / 3.0, 1.0], [0.0, 2.0 / 3.0, 1.0]):
        motion = Trajectory(("hinge",), np.array(times), places, still, still)
        assert checks.rest(motion, BOUNDS).passed


def test_a_single_time_is_no_clock():
    good = np.zeros((1, 1))
    found = certify_values(pendulum(**LIMITS), ("hinge",), 0.5, good, good, good)
    assert found.results == {"finite": True, "names": True, "times": False}


def test_a_certificate_shows_itself_in_one_line():
    shown = repr(certificate(Check("one", True), Check("two", False, "why")))
    assert shown.startswith("<Certificate: ")
    assert "refused: two" in shown
    assert "why" not in shown
