"""Efforts of a motion, at every speed and while it brakes: bounds, and what is reached."""

from dataclasses import replace

import numpy as np
import pytest

from braked_states import largest_efforts, states, told_to_brake, tube_of, with_limits
from made_up_plans import random_plan
from random_robots import coupled_wrist, random_robot, random_values
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.certification import effort_bounds
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.certification.effort_bounds import efforts
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.approach import approach
from robot_identification.excitation.motions.braking import brake
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from small_robots import pendulum, pendulum_values


def random_case(seed):
    """Return a robot, values of its parameters, its limits and a motion."""
    rng = np.random.default_rng(seed)
    couplings = coupled_wrist() if seed % 3 == 0 else ()
    robot = random_robot(rng, rng.integers(2, 6), couplings)
    every = range(len(robot.joints))
    jerk = {1: every, 3: every[seed // 4 % 2 :: 2]}.get(seed % 4, ())
    robot = with_limits(robot, rng, jerk)
    motion = random_plan(robot, rng, points=4)
    return robot, random_values(rng, robot), MotionLimits.of(robot), motion


@pytest.mark.parametrize("seed", range(12))
def test_no_state_of_the_tube_exceeds_the_bound_and_the_bound_is_tight(seed):
    """Trees of revolute and prismatic joints with couplings; some have limits of jerk, or half of
    their joints have."""
    robot, values, limits, motion = random_case(seed)
    found = efforts(robot, values, tube_of(motion, limits), limits)
    most = largest_efforts(robot, values, motion, limits, np.random.default_rng(seed))
    bound = np.array([peak.bound for peak in found.peaks])
    reached = np.array([peak.reached for peak in found.peaks])
    assert (most <= bound * (1.0 + 1e-9)).all()
    assert (bound <= 1.04 * reached).all()
    assert (most >= 0.94 * bound).all()


@pytest.mark.parametrize(("share", "kept"), [(30.0, True), (1.01, False)])
def test_a_search_that_ends_early_is_kept_where_no_bound_is_above_the_limits(
    monkeypatch, share, kept
):
    robot, values, limits, motion = random_case(0)
    found = efforts(robot, values, tube_of(motion, limits), limits)
    monkeypatch.setattr(effort_bounds, "_MOST_CELLS", 0)
    most = share * np.array([peak.reached for peak in found.peaks])
    limited = efforts(robot, values, tube_of(motion, limits), replace(limits, effort=most))
    assert limited.kept == kept
    assert limited.cells < found.cells


@pytest.mark.parametrize("seed", range(3))
def test_braking_as_the_node_does_it_stays_below_the_bound(seed):
    robot, values, limits, motion = random_case(seed)
    found = efforts(robot, values, tube_of(motion, limits), limits)
    bound = np.array([peak.bound for peak in found.peaks])
    rng = np.random.default_rng(seed)
    for _ in range(200):
        time, k = rng.uniform(0.0, motion.duration, 1), rng.random(1)
        q, w, _ = told_to_brake(motion, limits, time, k, np.ones(1))
        stop = brake(limits, robot.joint_names, q[0], w[0])
        sampled = stop.sample(np.linspace(0.0, stop.duration, 200))
        assert (np.abs(inverse_dynamics(robot, values, *sampled)) <= bound).all()


def samples(motion, limits):
    """Return states (samples, joints) every 2 ms, and on braking from eight places of a piece."""
    run = motion.sample(np.linspace(0.0, motion.duration, int(motion.duration / 2e-3)))
    steps = np.diff(motion.times)[:, None] * np.linspace(0.0, 1.0, 8, endpoint=False)
    times = (motion.times[:-1, None] + steps).ravel()
    stops = []
    for q, v in zip(*motion.sample(times)[:2], strict=True):
        stop = brake(limits, motion.joint_names, q, v)
        stops.append(stop.sample(np.linspace(0.0, stop.duration, 9)))
    return tuple(np.vstack(parts) for parts in zip(run, *stops, strict=True))


def with_effort_limit(robot, joint, limit):
    """Return a robot with a limit of the effort of one joint."""
    joints = list(robot.joints)
    joints[joint] = replace(joints[joint], limits=replace(joints[joint].limits, effort=limit))
    return replace(robot, joints=tuple(joints))


def test_a_motion_whose_effort_exceeds_only_between_samples_is_refused():
    robot = load_robot("three_dof")
    known = Surroundings(prior=load_values("three_dof", robot))
    motion = random_plan(robot, np.random.default_rng(0))
    sampled = inverse_dynamics(robot, known.prior, *samples(motion, MotionLimits.of(robot)))
    limit = 1.05 * np.abs(sampled[:, 0]).max()
    weak = with_effort_limit(robot, 0, limit)
    certificate = certify(weak, motion, surroundings=known)
    worst = certificate.efforts.worst
    assert not certificate.results["effort"]
    assert (worst.joint, worst.limit) == ("joint_1", limit)
    assert worst.reached > limit
    words = rf"effort\): joint_1: {worst.reached:.4g} N m .* {worst.time:.3f} s.*; the limit is"
    with pytest.raises(NotCertifiedError, match=words):
        certificate.require()


def test_what_is_told_to_be_reached_is_reached_about_then():
    robot, values, limits, motion = random_case(2)
    for j, peak in enumerate(efforts(robot, values, tube_of(motion, limits), limits).peaks):
        begin, end = np.clip([peak.time - 0.05, peak.time + 0.05], 0.0, motion.duration)
        part = Trajectory(
            motion.joint_names,
            np.linspace(begin, end, 21),
            *motion.sample(np.linspace(begin, end, 21)),
        )
        sampled = states(part, limits, np.random.default_rng(j), 20_000)
        most = np.abs(inverse_dynamics(robot, values, *sampled)).max(axis=0)[j]
        assert most >= 0.98 * peak.reached


def test_friction_counts_either_way_where_a_joint_is_at_rest():
    """The pendulum is held sideways; gravity takes 9.81 N m, friction may act with or against."""
    limits = {"lower": -1.0, "upper": 1.0, "velocity": 1.0, "acceleration": 1.0, "effort": 20.0}
    still = np.zeros((2, 1))
    motion = Trajectory(("hinge",), [0.0, 1.0], still, still, still)
    known = Surroundings(prior=pendulum_values(Fc=2.0))
    certificate = certify(pendulum(**limits), motion, surroundings=known)
    (peak,) = certificate.efforts.peaks
    assert peak.bound == pytest.approx(11.81)
    assert peak.reached == pytest.approx(11.81)
    assert certificate.results["effort"]
    assert str(certificate.efforts) == "efforts at most: hinge 11.81 of 20 N m"
    weak = certify(pendulum(**{**limits, "effort": 11.0}), motion, surroundings=known)
    assert not weak.results["effort"]


def test_the_way_to_the_start_is_covered():
    robot = load_robot("three_dof")
    known = Surroundings(prior=load_values("three_dof", robot))
    motion = random_plan(robot, np.random.default_rng(0))
    here = motion.positions[0] + 0.2
    _, certificate = approach(robot, motion, here, surroundings=known)
    most = certificate.efforts.peaks[0]
    assert certificate.results["effort"]
    assert 0.0 < most.reached <= most.bound <= most.limit
    weak = with_effort_limit(robot, 0, 0.9 * most.reached)
    assert not approach(weak, motion, here, surroundings=known)[1].results["effort"]


def test_without_a_prior_nothing_is_said_of_efforts():
    robot = load_robot("three_dof")
    certificate = certify(robot, random_plan(robot, np.random.default_rng(0)))
    assert certificate.efforts is None
    assert "effort" not in certificate.results


def test_a_robot_without_limits_of_effort_is_told_its_peaks_and_has_no_check():
    robot, values, _, motion = random_case(2)
    certificate = certify(robot, motion, surroundings=Surroundings(prior=values))
    assert "effort" not in certificate.results
    assert [peak.joint for peak in certificate.efforts.peaks] == list(robot.joint_names)
    assert all(np.isfinite(peak.bound) for peak in certificate.efforts.peaks)


def test_motions_too_large_for_arithmetic_are_refused():
    limits = {"lower": -1e200, "upper": 1e200, "velocity": 1e200, "acceleration": 1e200}
    still = np.zeros((2, 1))
    motion = Trajectory(("hinge",), [0.0, 1.0], [[0.0], [1e160]], still, still)
    known = Surroundings(prior=pendulum_values())
    certificate = certify(pendulum(**limits, effort=1e200), motion, surroundings=known)
    assert not certificate.results["effort"]
