"""Systems that motions give, and their derivatives over the points."""

from dataclasses import replace

import numpy as np
import pytest

from random_robots import coupled_wrist, random_robot
from robot_identification.dynamics.regressor import Regressor
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.curve import Curve, Points
from robot_identification.excitation.objective.effort_rows import DynamicObservation
from robot_identification.excitation.objective.energy_rows import EnergyObservation
from robot_identification.excitation.objective.smooth_criterion import smooth, surrogate
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot

ROBOTS = ("three_dof", "stanford", "scara", "tx40")


def energy(base):
    return EnergyObservation(base, smoothing=0.1)


def dynamic(base):
    return DynamicObservation(base, Curve.midpoints(10), smoothing=0.1)


KINDS = (energy, dynamic)


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
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_over_the_points_are_exact(name, kind):
    robot = load_robot(name)
    observation = kind(base_parameters(robot))
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


@pytest.mark.parametrize("seed", range(3))
def test_gradients_of_branched_and_coupled_robots_are_exact_in_whole_and_broken_blocks(seed):
    """Entry by entry of the motion's gradient, by central differences of plain rows."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 5, coupled_wrist())
    observation = DynamicObservation(base_parameters(robot), Curve.midpoints(33), 0.1)
    points = random_points(robot, 3, seed)  # 66 samples
    slope = rng.normal(size=observation.rows(points).shape)
    gradient = observation.pull(points, slope)
    for _ in range(6):
        way = [rng.normal(size=x.shape) * 0.1 for x in vars(points).values()]
        h = 1e-4
        ahead, behind = (observation.rows(moved(points, way, s * h)) for s in (1, -1))
        expected = ((ahead - behind) * slope).sum() / (2 * h)
        got = sum((g * d).sum() for g, d in zip(vars(gradient).values(), way, strict=True))
        size = sum(np.abs(g * d).sum() for g, d in zip(vars(gradient).values(), way, strict=True))
        assert got == pytest.approx(expected, abs=1e-6 * size)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_over_the_gram_matrix_go_back_as_those_over_the_rows(name, kind):
    """d tr(S W^T W) = tr(2 S W^T dW), also after the system was asked for at other points."""
    robot = load_robot(name)
    observation = kind(base_parameters(robot))
    points = random_points(robot, 5)
    W = observation.rows(points)
    S = np.random.default_rng(1).normal(size=(W.shape[1], W.shape[1]))
    S = S + S.T
    expected = observation.pull(points, 2.0 * W @ S)
    gram, pull = observation.gram(points)
    np.testing.assert_allclose(gram, W.T @ W, atol=1e-13 * np.abs(gram).max())
    observation.rows(random_points(robot, 5, seed=1))
    for got, wanted in zip(vars(pull(S)).values(), vars(expected).values(), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sharpness", [2.0, 16.0])
def test_the_surrogate_without_rows_is_that_of_the_rows(kind, sharpness):
    robot = load_robot("stanford")
    observation = kind(base_parameters(robot))
    points = random_points(robot, 40)
    value, gradient = surrogate(observation, points, sharpness)
    wanted, slope = smooth(observation.rows(points), sharpness, 0.0)
    assert value == pytest.approx(wanted, rel=1e-11)
    for got, plain in zip(
        vars(gradient).values(), vars(observation.pull(points, slope)).values(), strict=True
    ):
        np.testing.assert_allclose(got, plain, atol=1e-9 * np.abs(plain).max())


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
    robot = load_robot("three_dof")
    observation = EnergyObservation(base_parameters(robot))
    points = random_points(robot, 4)
    W = observation.rows(points)
    assert W.shape == (3, 15)
    slower = replace(points, durations=3.0 * points.durations)
    np.testing.assert_array_equal(observation.rows(slower), W)
