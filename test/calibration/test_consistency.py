"""Consistent parameters: without loss of fit where there are any, else at the least loss."""

import sys

import numpy as np
import pytest

from made_up_results import made_up_result
from random_robots import coupled_wrist, random_robot, random_values
from robot_identification.calibration import semidefinite
from robot_identification.calibration.conditions import conditions, scales
from robot_identification.calibration.consistency import Problem, with_least_loss, without_loss
from robot_identification.calibration.prior import Prior
from robot_identification.calibration.standard import StandardSystem, minimum_norm
from robot_identification.errors import SolverMissingError

MARGIN = 1e-4  # docs/calibration.md


def problem_of(robot, values, prior, noise, seed=1):
    result = made_up_result(robot, values, np.random.default_rng(seed), noise=noise)
    system = StandardSystem.of(result)
    return Problem(
        robot=robot,
        system=system,
        prior=prior,
        scales=scales(robot, prior, result.regrouping, result.estimate.values),
        conditions=conditions(robot),
    )


@pytest.fixture(scope="module")
def robot():
    return random_robot(np.random.default_rng(21), 4)


@pytest.fixture(scope="module")
def truth(robot):
    """Parameters of links that are no needles."""
    rng = np.random.default_rng(22)
    while True:
        values = random_values(rng, robot)
        if (
            problem_of(robot, values, known_prior(robot, values), 0.0)
            .eigenvalues(values[robot.standard_indices])
            .min()
            > 0.02
        ):
            return values


def known_prior(robot, values):
    names = robot.standard_names
    return Prior.given(names, values[robot.standard_indices], np.ones(len(names), dtype=bool))


def test_least_squares_under_a_matrix_inequality_is_the_known_optimum():
    # nearest positive semidefinite matrix: the negative eigenvalues become zero
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(3, 3))
    matrix = matrix + matrix.T - 2.0 * np.eye(3)
    rows, columns = np.triu_indices(3)
    linear = np.zeros((3, 3, 6))
    linear[rows, columns, np.arange(6)] = linear[columns, rows, np.arange(6)] = 1.0
    weight = np.where(rows == columns, 1.0, np.sqrt(2.0))  # the Frobenius norm
    inequality = semidefinite.Inequality(linear, np.zeros((3, 3)))
    found = semidefinite.least_squares(
        np.diag(weight), weight * matrix[rows, columns], [inequality]
    )
    values, vectors = np.linalg.eigh(matrix)
    nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
    assert values[0] < 0.0
    np.testing.assert_allclose(found, nearest[rows, columns], atol=1e-7)


def test_what_cannot_be_met_gives_nothing():
    above = semidefinite.Inequality(np.ones((1, 1, 1)), np.array([[-1.0]]))
    below = semidefinite.Inequality(-np.ones((1, 1, 1)), np.array([[0.0]]))
    assert semidefinite.least_squares(np.eye(1), np.zeros(1), [above, below]) is None


def test_a_missing_solver_is_named_with_advice(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(SolverMissingError, match="pip install clarabel"):
        semidefinite.least_squares(np.eye(1), np.zeros(1), [])


def test_repair_keeps_the_torque_and_comes_to_the_truth_from_a_true_prior(robot, truth):
    problem = problem_of(robot, truth, known_prior(robot, truth), noise=0.0)
    start = minimum_norm(problem.system)
    assert problem.eigenvalues(start).min() < 0.0
    found = without_loss(problem, start)
    np.testing.assert_allclose(found, truth[robot.standard_indices], atol=1e-6)
    torque = problem.system.matrix @ found
    np.testing.assert_allclose(torque, problem.system.matrix @ start, atol=1e-6)


def test_repair_from_a_wrong_prior_is_consistent_with_the_margin(robot, truth):
    wrong = truth * np.random.default_rng(23).uniform(-1.0, 3.0, size=len(truth))
    problem = problem_of(robot, truth, known_prior(robot, wrong), noise=0.0)
    start = minimum_norm(problem.system)
    found = without_loss(problem, start)
    assert problem.eigenvalues(found).min() > 0.99 * MARGIN
    np.testing.assert_allclose(
        problem.system.projection @ found, problem.system.projection @ start, atol=1e-7
    )


def test_repair_gives_up_where_the_torque_itself_is_impossible(robot, truth):
    impossible = truth.copy()
    impossible[[10, 24, 38, 52]] = -50.0  # drives with negative inertia
    problem = problem_of(robot, impossible, known_prior(robot, truth), noise=0.0)
    assert without_loss(problem, minimum_norm(problem.system)) is None


def test_the_program_finds_what_repair_finds_where_nothing_is_lost(robot, truth):
    problem = problem_of(robot, truth, known_prior(robot, truth), noise=0.0)
    start = minimum_norm(problem.system)
    found = with_least_loss(problem, start)
    np.testing.assert_allclose(found, truth[robot.standard_indices], atol=1e-4)


def test_the_program_loses_less_than_any_other_way(robot, truth):
    """No consistent set nearby explains the torque better, at its distance to the prior."""
    impossible = truth.copy()
    impossible[[10, 24]] = -20.0
    problem = problem_of(robot, impossible, known_prior(robot, truth), noise=0.05)
    system, sizes = problem.system, problem.sizes
    found = with_least_loss(problem, minimum_norm(system))
    assert problem.eigenvalues(found).min() > 0.99 * MARGIN
    assert problem.active(found, MARGIN)
    weight, target = problem.distance_rows()

    def cost(values):
        loss = (system.matrix @ values - system.right) / problem.noise
        return loss @ loss + np.sum((weight * (values / sizes - target)) ** 2)

    rng = np.random.default_rng(24)
    others = [random_values(rng, robot)[robot.standard_indices] for _ in range(100)]
    others = [values for values in others if problem.eigenvalues(values).min() > MARGIN]
    assert len(others) > 20
    for other in others:  # on the way to any other consistent set the cost rises
        for step in (1e-4, 1e-2, 1.0):
            assert cost(found + step * (other - found)) >= cost(found) * (1.0 - 1e-9)


def test_conditions_of_couplings_are_those_of_the_rotors():
    robot = random_robot(np.random.default_rng(25), 2, coupled_wrist())
    names = robot.all_parameter_names
    values = np.zeros(len(names))
    values[names.index("Ia1")], values[names.index("Ia2")] = 5.0, 3.0
    values[names.index("Fv1")], values[names.index("Fv2")] = 0.7, 0.4
    values[names.index("Fvm2")], values[names.index("Fcm2")] = 0.2, 0.1
    found = {(c.kind, c.owner): c.matrix(values).tolist() for c in conditions(robot)}
    assert found["drive inertia", "joint_1, joint_2"] == [[5.0, 3.0], [3.0, 3.0]]
    assert found["viscous friction", "joint_1, joint_2"] == [[0.7, 0.2], [0.2, 0.4]]
    assert found["Coulomb friction", "joint_1, joint_2"] == [[0.1]]
