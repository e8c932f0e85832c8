"""Systems that motions give, and their derivatives over the points."""

import numpy as np
import pytest

from robot_identification.dynamics.regressor import Regressor
from robot_identification.excitation.curve import Curve, Points
from robot_identification.excitation.observation import DynamicObservation, EnergyObservation
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.identification.base import base_parameters
from robot_identification.robot.loading import load_robot

ROBOTS = ("three_dof", "stanford", "scara", "tx40")


def random_points(robot, count, seed=0):
    rng = np.random.default_rng(seed)
    shape = (count, len(robot.joints))
    return Points(
        rng.uniform(-2, 2, shape), rng.uniform(-2, 2, shape), rng.uniform(0.4, 1.0, count - 1)
    )


def moved(points, way, h):
    return Points(*(x + h * d for x, d in zip(vars(points).values(), way, strict=True)))


def trajectory_of(robot, points):
    times = np.concatenate([[0.0], np.cumsum(points.durations)])
    still = np.zeros_like(points.positions)
    return Trajectory(robot.joint_names, times, points.positions, points.velocities, still)


def test_samples_are_those_of_the_trajectory():
    robot = load_robot("three_dof")
    points = random_points(robot, 5)
    fractions = np.array([0.1, 0.5, 0.9])
    samples = Curve(fractions).sample(points)
    trajectory = trajectory_of(robot, points)
    times = (trajectory.times[:-1, None] + points.durations[:, None] * fractions).ravel()
    for got, wanted in zip(vars(samples).values(), trajectory.sample(times), strict=True):
        np.testing.assert_allclose(got.reshape(wanted.shape), wanted, atol=1e-9)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("kind", [EnergyObservation, DynamicObservation])
def test_gradients_over_the_points_are_exact(name, kind):
    robot = load_robot(name)
    observation = kind(base_parameters(robot), smoothing=0.1)
    points = random_points(robot, 4)
    rng = np.random.default_rng(1)
    slope = rng.normal(size=observation.rows(points).shape)
    way = [rng.normal(size=x.shape) * 0.1 for x in vars(points).values()]
    h = 1e-5
    ahead, behind = (observation.rows(moved(points, way, s * h)) for s in (1, -1))
    expected = ((ahead - behind) * slope).sum() / (2 * h)
    gradient = observation.pull(points, slope)
    got = sum((g * d).sum() for g, d in zip(vars(gradient).values(), way, strict=True))
    assert got == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", ROBOTS)
def test_energy_rows_are_the_integrals_of_power_of_the_dynamic_rows(name):
    """Gautier 1991, eq. 11, with friction: the integral of qd^T W is the energy row."""
    robot = load_robot(name)
    base = base_parameters(robot)
    points = random_points(robot, 3)
    trajectory = trajectory_of(robot, points)
    W = EnergyObservation(base).rows(points)
    regressor = Regressor(robot, base.base_columns)
    for i, duration in enumerate(points.durations):
        count = 40_001
        times = trajectory.times[i] + np.linspace(0.0, duration, count)[:-1] + duration / count / 2
        q, qd, qdd = trajectory.sample(times)
        power = np.einsum("tj,tjc->tc", qd, regressor.dense(q, qd, qdd))
        np.testing.assert_allclose(W[i], power.mean(axis=0) * duration, rtol=2e-2, atol=2e-2)


def test_energy_of_three_dof_does_not_depend_on_durations():
    base = base_parameters(load_robot("three_dof"))
    observation = EnergyObservation(base)
    assert not observation.uses_durations
    assert observation.columns == 15
