"""The certificate: what it lets pass, and what it must not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from made_up_cells import collisions
from made_up_plans import broken, random_plan, violates
from robot_identification.errors import MissingLimitError, NotCertifiedError, SettingError
from robot_identification.excitation.certification.certificate import (
    certify,
    certify_values,
    digest_of,
)
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.approach import approach, slowed
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import motion_extrema
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.experiment import Workspace
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from small_robots import pendulum, pendulum_values

ROBOT = load_robot("three_dof")
LIMITS = MotionLimits.of(ROBOT)


@cache
def plan(seed=0):
    return random_plan(ROBOT, np.random.default_rng(seed))


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000))
def test_extrema_are_those_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    coefficients = rng.normal(size=(2, 2, 6)) * 10.0 ** rng.integers(-3, 3, (2, 2, 6))
    durations = rng.uniform(0.1, 3.0, 2)
    extrema = motion_extrema(coefficients, durations)
    for i in range(2):
        times = np.linspace(0.0, durations[i], 2001)
        for j in range(2):
            curve = np.polynomial.Polynomial(coefficients[i, j])
            for order in range(4):
                values = (curve.deriv(order) if order else curve)(times)
                scale = np.abs(values).max() + 1e-9
                assert extrema[order, 0, i, j] == pytest.approx(values.min(), abs=1e-4 * scale)
                assert extrema[order, 1, i, j] == pytest.approx(values.max(), abs=1e-4 * scale)
                assert extrema[order, 0, i, j] <= values.min() + 1e-10 * scale
                assert extrema[order, 1, i, j] >= values.max() - 1e-10 * scale


@settings(max_examples=75, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_valid_plans_pass(seed):
    certificate = certify(ROBOT, plan(seed))
    assert certificate.passed, certificate.results


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_broken_plans_do_not_pass(seed):
    rng = np.random.default_rng(seed)
    robot, values = broken(ROBOT, plan(seed % 30), rng)
    certificate = certify_values(robot, *values)
    assert not (certificate.passed and violates(robot, *values))


def test_every_limit_is_checked():
    trajectory = plan()
    for change in (
        {"velocity": 0.3}, {"acceleration": 0.3}, {"lower": -0.1, "upper": 0.1}, {"jerk": 0.1},
    ):  # fmt: skip
        joints = tuple(replace(j, limits=replace(j.limits, **change)) for j in ROBOT.joints)
        certificate = certify(replace(ROBOT, joints=joints), trajectory)
        name = "position" if "lower" in change else next(iter(change))
        assert not certificate.results[name]
        assert not certificate.results["interpolation"]
        with pytest.raises(NotCertifiedError):
            certificate.require()


def sweep():
    """Return a pendulum's motion from rest to rest by a quintic, and its peak acceleration."""
    still = np.zeros((2, 1))
    motion = Trajectory(("hinge",), [0.0, 1.0], [[0.0], [1.0]], still, still)
    return motion, 10.0 / np.sqrt(3.0)


def test_a_motion_that_could_not_be_braked_before_a_limit_is_refused():
    """It turns before the limit, but braking from its last third would go on over it by 6 %."""
    motion, peak = sweep()
    limits = {"lower": -1.0, "velocity": 2.0, "acceleration": peak * 1.001}
    for upper, braked in ((1.05, False), (1.08, True)):
        results = certify(pendulum(upper=upper, **limits), motion).results
        assert results["braking"] == braked
        assert all(passed for name, passed in results.items() if name != "braking")


def farthest_stop(motion, acceleration):
    """Return the farthest place where braking from a state of a pendulum's motion ends."""

    def place(time):
        q, v, _ = motion.sample(time)
        return q[0, 0] + 0.75 * v[0, 0] * abs(v[0, 0]) / acceleration

    best = minimize_scalar(lambda t: -place(t), bounds=(0.3, 1.0), options={"xatol": 1e-10})
    return -best.fun


@pytest.mark.parametrize("name", ["position", "velocity", "acceleration", "jerk", "braking"])
@pytest.mark.parametrize(("beyond", "passed"), [(1e-9, True), (1e-6, False)])
def test_a_limit_is_kept_to_a_millionth_or_not_at_all(name, beyond, passed):
    motion, peak = sweep()
    exact = {
        "position": 1.0,
        "velocity": 1.875,
        "acceleration": peak,
        "jerk": 60.0,
        "braking": farthest_stop(motion, 1.1 * peak),
    }
    limits = {"position": 10.0, "velocity": 10.0, "acceleration": 1.1 * peak}
    limits["position" if name == "braking" else name] = exact[name] / (1.0 + beyond)
    reach = limits.pop("position")
    results = certify(pendulum(lower=-reach, upper=reach, **limits), motion).results
    assert results[name] == passed


def loaded(effort):
    """Return a pendulum of 1 kg m^2 without gravity, with a limit of effort and its model."""
    limits = {"lower": -3.0, "upper": 3.0, "velocity": 10.0, "acceleration": 20.0}
    robot = pendulum(effort=effort, gravity=0.0, **limits)
    return robot, Surroundings(prior=pendulum_values(ZZ=1.0, MX=0.0))


def test_a_limit_of_effort_is_kept_to_a_thousandth():
    """Braking as hard as the limit of acceleration allows needs 20 N m."""
    motion, _ = sweep()
    for effort, passed in ((20.0 / 0.9995, False), (20.0 / 0.998, True)):
        robot, known = loaded(effort)
        assert certify(robot, motion, surroundings=known).results["effort"] == passed


def test_efforts_of_braking_count_as_those_of_the_motion():
    """The motion alone needs 5.8 N m."""
    motion, peak = sweep()
    robot, known = loaded(1.5 * peak)
    assert not certify(robot, motion, surroundings=known).results["effort"]
    robot, known = loaded(21.0)
    assert certify(robot, motion, surroundings=known).results["effort"]


@pytest.mark.parametrize("missing", ["acceleration", "velocity", "lower"])
def test_without_a_limit_there_is_no_certificate(missing):
    joints = tuple(replace(j, limits=replace(j.limits, **{missing: None})) for j in ROBOT.joints)
    with pytest.raises(MissingLimitError):
        certify(replace(ROBOT, joints=joints), plan())


def test_bad_values_are_named():
    t = plan()
    good = [t.joint_names, t.times, t.positions, t.velocities, t.accelerations]
    assert certify_values(ROBOT, *good).passed
    spoilt = t.velocities.copy()
    spoilt[2, 1] = np.nan
    for place, value, check in (
        (0, ("joint_1", "joint_2", "elbow"), "names"),
        (0, ("joint_1", "joint_2", "joint_2"), "names"),
        (1, t.times[::-1], "times"),
        (1, t.times[:-1], "times"),
        (3, spoilt, "finite"),
    ):
        certificate = certify_values(ROBOT, *good[:place], value, *good[place + 1 :])
        assert not certificate.results[check]
        assert not certificate.passed


def test_points_without_derivatives_are_not_certified():
    t = plan()
    bare = replace(t, velocities=None, accelerations=None)
    results = certify(ROBOT, bare).results
    assert not results["acceleration"]
    assert not results["interpolation"]


def test_permuted_joints_are_the_same_plan():
    order = ("joint_3", "joint_1", "joint_2")
    assert certify(ROBOT, plan().reordered(order)).passed


def test_start_must_be_near():
    t = plan()
    assert certify(ROBOT, t, start=t.positions[0] + 0.009).results["start"]
    assert not certify(ROBOT, t, start=t.positions[0] + 0.011).results["start"]


def test_efforts_of_the_prior_model_are_checked():
    prior = load_values("three_dof", ROBOT)
    assert certify(ROBOT, plan(), surroundings=Surroundings(prior=prior)).results["effort"]
    joints = tuple(replace(j, limits=replace(j.limits, effort=1.0)) for j in ROBOT.joints)
    weak = replace(ROBOT, joints=joints)
    assert not certify(weak, plan(), surroundings=Surroundings(prior=prior)).results["effort"]


def test_obstacles_are_checked_and_what_is_not_checked_is_said(tmp_path):
    pytest.importorskip("coal", reason="the package coal is not installed")
    beside = "obstacles: [{name: post, box: [0.2, 0.2, 2.0], at: [0.7, 0.2, 0.0]}]\n"
    free = certify(ROBOT, plan(), surroundings=Surroundings(collisions=collisions(tmp_path)))
    blocked = certify(
        ROBOT, plan(), surroundings=Surroundings(collisions=collisions(tmp_path, beside))
    )
    assert free.results["obstacles"]
    assert not any("not checked" in remark for remark in free.remarks)
    with pytest.raises(
        NotCertifiedError, match=r"and post: -?[\d.]+ m, .* [\d.]+ s; wanted 0.02 m"
    ):
        blocked.require()
    unknown = certify(ROBOT, plan())
    assert "obstacles" not in unknown.results
    assert unknown.remarks[0].startswith("obstacles are not checked")
    assert unknown.digest == free.digest, "a plan file is read where coal is not installed"


def test_the_box_of_the_tool_is_checked():
    wide, narrow = Workspace((-2, -2, -2), (2, 2, 2)), Workspace((-2, -2, -2), (2, 2, 0.0))
    assert certify(replace(ROBOT, workspace=wide), plan()).results["tool"]
    assert not certify(replace(ROBOT, workspace=narrow), plan()).results["tool"]


def test_slower_plans_pass_too():
    rehearsal = slowed(plan(), 0.2)
    assert certify(ROBOT, rehearsal).passed
    assert rehearsal.duration == pytest.approx(5.0 * plan().duration)
    with pytest.raises(SettingError):
        slowed(plan(), 1.5)


def test_an_approach_ends_slowly_where_a_joint_with_a_jerk_limit_is_near_its_end():
    """Such a joint goes on beyond the posture that it comes to rest at, where it is braked."""
    jerky = tuple(replace(j, limits=replace(j.limits, jerk=100.0)) for j in ROBOT.joints)
    robot, near = replace(ROBOT, joints=jerky), np.array([0.0, LIMITS.upper[1] - 0.002, 0.0])
    still = np.zeros((2, 3))
    rest = Trajectory(robot.joint_names, np.array([0.0, 1.0]), np.tile(near, (2, 1)), still, still)
    way, certificate = approach(robot, rest, np.array([0.0, -1.0, 0.0]), speed=0.8)
    assert certificate.passed
    straight, _ = approach(ROBOT, rest, np.array([0.0, -1.0, 0.0]), speed=0.8)
    assert way.duration > straight.duration


def test_approach_is_slow_and_certified():
    t = plan()
    way, certificate = approach(ROBOT, t, np.array([1.0, -1.0, 0.5]))
    assert certificate.passed
    np.testing.assert_allclose(way.positions[-1], t.positions[0])
    _, v, a = (np.abs(x).max(axis=0) for x in way.sample(np.linspace(0, way.duration, 1000)))
    assert (v <= 0.2 * LIMITS.velocity + 1e-9).all()
    assert (a <= 0.2 * LIMITS.acceleration + 1e-9).all()
    slack = pendulum(lower=-3.0, upper=3.0, velocity=10.0, acceleration=5.0)
    slow, _ = approach(slack, sweep()[0], np.array([2.0]))
    a = np.abs(slow.sample(np.linspace(0, slow.duration, 1000))[2]).max()
    assert a == pytest.approx(0.2 * 5.0, rel=1e-3), "here the acceleration is what takes time"
    quick, _ = approach(ROBOT, t, np.array([1.0, -1.0, 0.5]), speed=0.8)
    assert quick.duration < way.duration
    _, outside = approach(ROBOT, t, np.array([4.0, 0.0, 0.0]))
    assert not outside.passed


def test_the_digest_belongs_to_trajectory_and_results():
    t = plan()
    first = certify(ROBOT, t)
    assert first.digest == certify(ROBOT, t).digest
    for change in (
        {"positions": t.positions + 1e-12},
        {"velocities": t.velocities * (1.0 - 1e-12)},
        {"accelerations": t.accelerations + 1e-12},
        {"times": t.times * (1.0 + 1e-12)},
        {"joint_names": t.joint_names[::-1]},
    ):
        assert first.digest != certify(ROBOT, replace(t, **change)).digest
    for robot in (replace(ROBOT, digest="other"), replace(ROBOT, name="other")):
        assert first.digest != certify(robot, t).digest
    refused = [replace(check, passed=False) for check in first.checks]
    assert first.digest == digest_of(ROBOT, t, first.checks) != digest_of(ROBOT, t, refused)
