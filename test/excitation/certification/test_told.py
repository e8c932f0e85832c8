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
from small_robots import PENDULUM_LIMITS, pendulum, pendulum_sweep, pendulum_values

NEAREST = Nearest(0.05, ("arm", "post"), 1.5, np.zeros(1), np.zeros((2, 3)), True)


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
    before, behind = Check("braking", True, "a"), Check("one", True, "b")
    assert certificate(before, behind).obstacles == ""
    assert certificate(before, behind, Check("obstacles", False, "post")).obstacles == "post"


def test_sources_of_limits_are_told_where_they_are_known():
    assert certificate().limit_sources == ""


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
        assert certificate(clearance=clearance).nearest(Cell, pendulum_sweep()) is NEAREST
    times, postures = asked[-1]
    assert (times[0], times[-1], len(times)) == (0.0, 1.0, 200)
    np.testing.assert_allclose(postures, pendulum_sweep().sample(times)[0])


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
    found = certify(pendulum(**PENDULUM_LIMITS), pendulum_sweep())
    assert found.passed
    assert found.braking_time == pytest.approx(1.5 * 1.875 / 10.0)
    back = replace(pendulum_sweep(), positions=-pendulum_sweep().positions)
    assert certify(pendulum(**PENDULUM_LIMITS), back).braking_time == pytest.approx(
        1.5 * 1.875 / 10.0
    )


def test_what_is_no_trajectory_has_no_further_checks():
    found = certify(pendulum(**PENDULUM_LIMITS), pendulum_sweep(joints=("elbow",)))
    assert found.results == {"finite": True, "names": False, "times": True}
    assert np.isnan(found.braking_time)
    assert found.clearance is found.efforts is None


def test_checks_stand_in_one_order_and_only_where_something_is_known():
    motion = ["position", "velocity", "acceleration", "interpolation", "rest"]
    names = ["finite", "names", "times", *motion, "braking"]
    assert list(certify(pendulum(**PENDULUM_LIMITS), pendulum_sweep()).results) == names
    known = Surroundings(prior=pendulum_values(ZZ=1.0, MX=0.0))
    limited = certify(
        pendulum(**PENDULUM_LIMITS, effort=30.0, jerk=61.0),
        pendulum_sweep(),
        start=[0.0],
        surroundings=known,
    )
    order = [*names[:6], "jerk", "interpolation", "rest", "start", "braking", "effort"]
    assert list(limited.results) == order
    assert limited.passed
    unlimited = certify(pendulum(**PENDULUM_LIMITS), pendulum_sweep(), surroundings=known)
    assert "effort" not in unlimited.results
    assert unlimited.efforts is not None


def values(**changes):
    """Return what certify_values takes of the sweep, with changes."""
    motion = pendulum_sweep(3)
    names = ("times", "positions", "velocities", "accelerations")
    given = {"joint_names": motion.joint_names, **{name: getattr(motion, name) for name in names}}
    return {**given, **changes}


@pytest.mark.parametrize("name", ["times", "positions", "velocities", "accelerations"])
def test_values_that_are_no_numbers_or_do_not_fit_are_refused(name):
    robot, good = pendulum(**PENDULUM_LIMITS), values()
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
    found = certify_values(pendulum(**PENDULUM_LIMITS), ("hinge",), table, still, still, still)
    assert not found.results["times"]


def test_values_are_certified_with_start_and_surroundings():
    known = Surroundings(prior=pendulum_values(ZZ=1.0, MX=0.0))
    robot = pendulum(**PENDULUM_LIMITS, effort=1.0)
    found = certify_values(robot, **values(), start=[0.5], surroundings=known)
    assert not found.results["start"]
    assert not found.results["effort"]


def test_the_digest_does_not_hold_what_stands_around_the_robot():
    robot, motion, found = pendulum(**PENDULUM_LIMITS), pendulum_sweep(), [Check("one", True)]
    for passed in (True, False):
        around = [*found, Check("obstacles", passed)]
        assert digest_of(robot, motion, around) == digest_of(robot, motion, found)
    for other in ("two", "braking"):  # names before and behind that of the obstacles
        assert digest_of(robot, motion, [Check(other, True)]) != digest_of(robot, motion, found)
        refused = digest_of(robot, motion, [Check(other, False)])
        assert digest_of(robot, motion, [Check(other, True)]) != refused
    bare = replace(motion, velocities=None, accelerations=None)
    assert digest_of(robot, bare, found) != digest_of(robot, motion, found)


def test_a_limit_beyond_that_of_the_urdf_is_told(monkeypatch):
    assert "; " not in certify(pendulum(**PENDULUM_LIMITS), pendulum_sweep()).checks[4].detail


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
        for reason in ("acceleration falls before", "off the motion by the allowed tracking error"):
            assert (reason in found.detail) == more


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
    strong = peak("strong", limit=100.0, bound=95.0)  # 5 N m are left to it, to the other one 1
    assert Efforts(True, (peak(), strong), 5).worst == strong


@pytest.mark.parametrize("wrong", ["a", "z"])
def test_a_name_that_is_not_of_the_robot_fails_the_check(wrong):
    robot = pendulum()
    assert checks.names(robot, robot.joint_names) == Check("names", True)
    assert checks.names(robot, (wrong,)).detail == "names must be hinge, each once"
    assert not checks.names(robot, (wrong,)).passed
    assert not checks.names(robot, robot.joint_names * 2).passed


def test_more_is_told_of_the_check_that_is_named_and_of_no_other():
    found = certificate(*(Check(name, True, "fine") for name in "abc")).told("b", "by 2 %")
    assert [check.detail for check in found.checks] == ["fine", "fine; by 2 %", "fine"]


def test_a_single_time_is_no_clock():
    good = np.zeros((1, 1))
    found = certify_values(pendulum(**PENDULUM_LIMITS), ("hinge",), 0.5, good, good, good)
    assert found.results == {"finite": True, "names": True, "times": False}


def test_a_certificate_shows_itself_in_one_line():
    shown = repr(certificate(Check("one", True), Check("two", False, "why")))
    assert shown.startswith("<Certificate: ")
    assert "refused: two" in shown
    assert "why" not in shown
