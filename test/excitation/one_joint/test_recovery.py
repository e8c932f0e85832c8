"""Planned experiments, followed without noise, give back what the robot is made of."""

import numpy as np
import pytest

from random_tables import random_table_robot
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.excitation.one_joint.plan import plan_one_joint
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.identification.one_joint.conversion import JointwiseParameters
from robot_identification.identification.one_joint.estimator import estimate_jointwise
from robot_identification.robot.files.loading import load_robot
from serial_robots import BRANCHES, inertial_values, with_limits
from single_joint_samples import sample_factors

RATE_HZ = 50.0


def followed(plan, robot, values):
    """Return samples (q, qd, qdd, effort) of the experiments alone, followed exactly."""
    times = np.concatenate([np.arange(run.begin, run.end, 1.0 / RATE_HZ) for run in plan.schedule])
    motion = plan.trajectory.sample(times)
    return (*motion, inverse_dynamics(robot, values, *motion))


@pytest.mark.parametrize("branch", BRANCHES)
def test_constants_of_every_branch_come_back(branch):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        robot = with_limits(BRANCHES[branch](rng))
        values = inertial_values(rng, robot)
        plan = plan_one_joint(robot)
        assert not plan.unidentified
        assert plan.certificate.passed
        parameters = JointwiseParameters.of(robot)
        factors = sample_factors(parameters.base, *followed(plan, robot, values))
        found = estimate_jointwise(parameters, factors)
        truth = parameters.values(values[parameters.base.columns])
        assert np.abs(found.values - truth).max() < 1e-8
        full = np.zeros_like(values)
        full[parameters.base.base_columns] = found.base_values
        q, qd, qdd = rng.uniform(-2, 2, size=(3, 10, len(robot.joints)))
        effort = inverse_dynamics(robot, values, q, qd, qdd)
        assert np.abs(inverse_dynamics(robot, full, q, qd, qdd) - effort).max() < 1e-8


@pytest.mark.parametrize("seed", range(12))
def test_drives_and_friction_of_random_robots_come_back_without_gravity_too(seed):
    rng = np.random.default_rng(seed)
    terms = ({}, {"offset": False}, {"drive_inertia": False})[seed % 3]
    gravity = (0, 0, 0) if seed % 2 else None
    count = int(rng.integers(2, 5))
    robot = with_limits(random_table_robot(rng, count, tree=False, gravity=gravity, **terms))
    plan = plan_one_joint(robot)
    assert not plan.unidentified
    parameters = JointwiseParameters.of(robot)
    values = np.zeros(len(robot.all_parameter_names))
    values[parameters.base.columns] = rng.normal(size=len(parameters.base.columns))
    factors = sample_factors(parameters.base, *followed(plan, robot, values))
    found = estimate_jointwise(parameters, factors)
    truth = parameters.values(values[parameters.base.columns])
    np.testing.assert_allclose(found.values, truth, atol=1e-8)


@pytest.mark.parametrize("name", ["stanford", "puma560", "tx40", "ur10", "scara", "emps"])
@pytest.mark.parametrize("profile", ["quintic", "damped"])
def test_drives_friction_and_couplings_come_back(name, profile):
    robot = load_robot(name)
    plan = plan_one_joint(robot, OneJointSettings(profile=profile))
    parameters = JointwiseParameters.of(robot)
    rng = np.random.default_rng(3)
    values = np.zeros(len(robot.all_parameter_names))
    values[parameters.base.columns] = rng.normal(size=len(parameters.base.columns))
    found = estimate_jointwise(
        parameters, sample_factors(parameters.base, *followed(plan, robot, values))
    )
    truth = parameters.values(values[parameters.base.columns])
    np.testing.assert_allclose(found.values, truth, atol=1e-8)
