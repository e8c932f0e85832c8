"""The formulas of Gautier and Venture 2013, from the factor and from the tall regressor."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from made_up_results import made_up_result, minimum_norm, tall_system
from random_robots import random_robot, random_values
from robot_identification.calibration.standard import (
    StandardSystem,
    decompose,
    prior_gain,
    relative_distance,
    space_gain,
)
from robot_identification.errors import ShapeError

TX40 = yaml.safe_load((Path(__file__).parents[1] / "reference" / "tx40.yaml").read_text())


@pytest.fixture(scope="module")
def robot():
    return random_robot(np.random.default_rng(7), 4)


@pytest.fixture(scope="module")
def truth(robot):
    return random_values(np.random.default_rng(8), robot)[robot.standard_indices]


@pytest.fixture(scope="module")
def exact(robot, truth):
    """The system of torques without noise."""
    result = made_up_result(robot, truth, np.random.default_rng(9), method="ols")
    return StandardSystem.of(result)


@pytest.fixture(scope="module")
def noisy(robot, truth):
    """The system of noisy torques."""
    result = made_up_result(robot, truth, np.random.default_rng(9), noise=0.3, method="ols")
    return StandardSystem.of(result)


def prior_of(truth):
    return truth + 0.3 * np.random.default_rng(10).normal(size=len(truth))


def test_the_published_distances_come_out():
    table = np.array(list(TX40["parameters"].values()))
    prior, base, essential = table.T
    statements = TX40["statements"]
    assert round(relative_distance(essential, prior), 4) == statements["norm_ee_over_ref"] == 0.0416
    assert abs(relative_distance(base, prior) - statements["norm_eb_over_ref"]) < 1e-4


def test_a_distance_leaves_out_what_the_prior_does_not_give():
    known = np.array([True, True, False])
    assert relative_distance([3.0, 4.5, 9.0], [3.0, 4.0, 0.0], known) == pytest.approx(0.1)
    assert np.isnan(relative_distance([1.0, 1.0, 1.0], [0.0, 0.0, 0.0]))
    with pytest.raises(ShapeError):
        relative_distance([1.0], [1.0, 2.0])


def test_the_nearest_matrix_of_lower_rank_leaves_the_rejected_singular_values():
    matrix = np.random.default_rng(1).normal(size=(8, 6))
    split = decompose(matrix, rank=4)
    assert np.linalg.matrix_rank(split.nearest) == 4
    assert np.linalg.norm(matrix - split.nearest) == pytest.approx(np.linalg.norm(split.rejected))
    np.testing.assert_allclose(split.inverse, np.linalg.pinv(split.nearest), atol=1e-12)
    u = np.hstack([split.U1, split.U2])
    np.testing.assert_allclose(u @ u.T, np.eye(8), atol=1e-12)
    with pytest.raises(ShapeError):
        decompose(matrix, rank=7)


def test_the_factor_stands_for_the_tall_regressor(robot, truth):
    w = tall_system(robot, np.random.default_rng(11))
    y = w @ truth + np.random.default_rng(12).normal(size=len(w))
    rank = np.linalg.matrix_rank(w)
    q, r = np.linalg.qr(w)
    system = StandardSystem(
        names=robot.standard_names,
        factor=np.eye(w.shape[1]),
        projection=r,
        right=q.T @ y,
        rest=float(np.linalg.norm(y - q @ (q.T @ y))),
        rows=len(w),
    )
    solution = np.linalg.pinv(w, rcond=1e-10) @ y
    np.testing.assert_allclose(minimum_norm(system), solution, atol=1e-9)
    assert decompose(system.matrix, rows=len(w)).V1.shape == (w.shape[1], rank)
    residual = np.linalg.norm(y - w @ solution)
    assert system.residual_norm(solution) == pytest.approx(residual)
    # the thin U of the tall regressor would leave out most of the residual (eq. 25)
    u, _, _ = np.linalg.svd(w, full_matrices=False)
    assert np.linalg.norm(u[:, rank:].T @ y) < 0.7 * residual


def test_the_shortest_solution_has_no_part_in_the_null_space(noisy):
    chi = minimum_norm(noisy)
    silent = decompose(noisy.matrix).V2
    np.testing.assert_allclose(silent.T @ chi, 0.0, atol=1e-9)
    longer = chi + silent @ np.ones(silent.shape[1])
    assert noisy.residual_norm(longer) == pytest.approx(noisy.residual_norm(chi))
    assert np.linalg.norm(longer) > np.linalg.norm(chi)


def test_eq_30_recovers_what_the_torque_shows_and_keeps_the_prior_of_the_rest(exact, truth):
    prior = prior_of(truth)
    chi = exact.corrected(prior, prior_gain(exact))
    silent = decompose(exact.matrix, rows=exact.rows).V2
    np.testing.assert_allclose(exact.projection @ chi, exact.projection @ truth, atol=1e-7)
    np.testing.assert_allclose(silent.T @ chi, silent.T @ prior, atol=1e-7)
    np.testing.assert_allclose(chi, truth + silent @ (silent.T @ (prior - truth)), atol=1e-7)


def test_eq_30_is_the_least_squares_solution_nearest_to_the_prior(noisy, truth):
    prior = prior_of(truth)
    chi = noisy.corrected(prior, prior_gain(noisy))
    best = noisy.residual_norm(minimum_norm(noisy))
    assert noisy.residual_norm(chi) == pytest.approx(best, rel=1e-9)
    silent = decompose(noisy.matrix, rows=noisy.rows).V2
    rng = np.random.default_rng(13)
    for _ in range(20):
        other = chi + silent @ rng.normal(scale=0.1, size=silent.shape[1])
        assert np.linalg.norm(other - prior) > np.linalg.norm(chi - prior)


def test_parameters_without_a_prior_are_left_out_of_the_distance(noisy, truth):
    prior = prior_of(truth)
    known = np.random.default_rng(14).random(len(truth)) < 0.6
    chi = noisy.corrected(np.where(known, prior, 0.0), prior_gain(noisy, known))
    best = noisy.residual_norm(minimum_norm(noisy))
    assert noisy.residual_norm(chi) == pytest.approx(best, rel=1e-9)
    # The optimum of the problem with a negligible weight on the free parameters is the same.
    weight = np.where(known, 1.0, 1e-4)
    silent = decompose(noisy.projection).V2
    start = minimum_norm(noisy)
    move, *_ = np.linalg.lstsq(
        silent * weight[:, None], weight * (np.where(known, prior, 0.0) - start), rcond=None
    )
    np.testing.assert_allclose(chi, start + silent @ move, atol=1e-5)


def test_without_any_prior_eq_30_is_eq_26(noisy, truth):
    nothing = np.zeros(len(truth), dtype=bool)
    np.testing.assert_allclose(
        prior_gain(noisy, nothing) @ noisy.right, minimum_norm(noisy), atol=1e-8
    )


def test_eq_32_is_nearest_in_the_weighted_norm_where_no_weight_is_zero(noisy, truth):
    prior = prior_of(truth)
    weights = np.random.default_rng(15).uniform(0.5, 2.0, size=len(truth))
    chi = noisy.corrected(prior, space_gain(noisy, weights))
    assert noisy.residual_norm(chi) == pytest.approx(noisy.residual_norm(minimum_norm(noisy)))
    silent = decompose(noisy.projection).V2
    # optimality: the weighted deviation is normal to every move that no torque shows
    np.testing.assert_allclose(silent.T @ ((chi - prior) / weights**2), 0.0, atol=1e-7)
    signs = np.random.default_rng(16).choice([-1.0, 1.0], size=len(truth))
    np.testing.assert_allclose(
        noisy.corrected(prior, space_gain(noisy, signs * weights)), chi, atol=1e-8
    )


def test_eq_32_keeps_the_prior_where_the_weight_is_zero_and_its_values_cancel(noisy, truth):
    prior = prior_of(truth)
    leading = [int(np.argmax(row == 1.0)) for row in noisy.projection]
    kept = leading[::2]
    weights = np.zeros(len(truth))
    weights[kept] = np.random.default_rng(17).uniform(0.01, 5.0, size=len(kept))
    chi = noisy.corrected(prior, space_gain(noisy, weights))
    others = np.setdiff1d(np.arange(len(truth)), kept)
    np.testing.assert_array_equal(chi[others], prior[others])
    correction, *_ = np.linalg.lstsq(
        noisy.matrix[:, kept], noisy.right - noisy.matrix @ prior, rcond=None
    )
    np.testing.assert_allclose(chi[kept], prior[kept] + correction, atol=1e-8)


def test_eq_32_recovers_the_truth_where_the_prior_is_right_off_the_kept_columns(exact, truth):
    leading = [int(np.argmax(row == 1.0)) for row in exact.projection]
    prior = truth.copy()
    prior[leading] += 1.0
    weights = np.zeros(len(truth))
    weights[leading] = truth[leading]
    np.testing.assert_allclose(exact.corrected(prior, space_gain(exact, weights)), truth, atol=1e-7)
