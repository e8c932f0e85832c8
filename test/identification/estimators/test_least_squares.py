"""Ordinary and weighted least squares, checked against the dense textbook formulas."""

import numpy as np
import pytest

from robot_identification.errors import NotExcitedError
from robot_identification.identification.estimators.choice import fit
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.estimators.least_squares import (
    ordinary,
    relative_error,
    weighted,
)
from robot_identification.identification.rows.bands import BandStream
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.groups import GroupedRows
from robot_identification.identification.rows.householder_kernels import fold_rows
from robot_identification.identification.rows.source import FoldedRows

NAMES = ("A", "B", "C")
TRUE = np.array([2.0, -1.0, 0.5])


def system(seed: int = 0, samples: int = 400, noise: tuple[float, float] = (0.1, 0.01)):
    """Two joints: the first sees all parameters, the second only the last two."""
    rng = np.random.default_rng(seed)
    columns = (np.array([0, 1, 2]), np.array([1, 2]))
    blocks = [rng.normal(size=(samples, len(c))) for c in columns]
    efforts = [
        w @ TRUE[c] + sigma * rng.normal(size=samples)
        for w, c, sigma in zip(blocks, columns, noise, strict=True)
    ]
    return columns, blocks, efforts


def factors_of(columns, blocks, efforts) -> list[JointFactor]:
    result = []
    for k, (c, w, y) in enumerate(zip(columns, blocks, efforts, strict=True)):
        triangle = np.zeros((len(c) + 1, len(c) + 1))
        rows = np.ascontiguousarray(np.column_stack([w, y]).T)
        fold_rows(triangle, rows, np.ones(len(y), dtype=bool))
        result.append(JointFactor(f"joint_{k + 1}", c, triangle, len(y)))
    return result


def dense(columns, blocks, efforts, weights=(1.0, 1.0)):
    w = np.vstack(
        [
            scale * block @ np.eye(3)[c]
            for c, block, scale in zip(columns, blocks, weights, strict=True)
        ]
    )
    y = np.concatenate([scale * e for e, scale in zip(efforts, weights, strict=True)])
    return w, y


def test_ordinary_least_squares_equals_the_dense_solution():
    data = system()
    w, y = dense(*data)
    values, *_ = np.linalg.lstsq(w, y, rcond=None)
    residual = y - w @ values
    variance = residual @ residual / (len(y) - 3)
    estimate = ordinary(factors_of(*data), NAMES)
    np.testing.assert_allclose(estimate.values, values, rtol=1e-10)
    covariance = variance * np.linalg.inv(w.T @ w)
    np.testing.assert_allclose(estimate.std, np.sqrt(np.diag(covariance)), rtol=1e-10)
    assert estimate.condition_number == pytest.approx(np.linalg.cond(w))
    expected = np.linalg.norm(residual) / np.linalg.norm(y)
    assert estimate.relative_error.total == pytest.approx(expected)
    assert estimate.rows == (400, 400)


def test_weighted_least_squares_divides_every_joint_by_its_own_residual():
    columns, blocks, efforts = data = system()
    weights = []
    for w, y in zip(blocks, efforts, strict=True):
        rest = y - w @ np.linalg.lstsq(w, y, rcond=None)[0]
        weights.append(1.0 / np.sqrt(rest @ rest / (len(y) - w.shape[1])))
    w, y = dense(columns, blocks, efforts, weights)
    values, *_ = np.linalg.lstsq(w, y, rcond=None)
    residual = y - w @ values
    covariance = residual @ residual / (len(y) - 3) * np.linalg.inv(w.T @ w)
    estimate = weighted(factors_of(*data), NAMES)
    np.testing.assert_allclose(estimate.weights, weights, rtol=1e-10)
    np.testing.assert_allclose(estimate.values, values, rtol=1e-10)
    np.testing.assert_allclose(estimate.std, np.sqrt(np.diag(covariance)), rtol=1e-10)


def test_the_residual_of_every_joint_is_its_noise():
    estimate = weighted(factors_of(*system(samples=4000)), NAMES)
    np.testing.assert_allclose(estimate.residual_std, [0.1, 0.01], rtol=0.05)


def test_standard_deviations_cover_the_truth_as_often_as_they_claim():
    runs = 400
    inside = np.zeros(3)
    for seed in range(runs):
        estimate = weighted(factors_of(*system(seed, samples=60)), NAMES)
        inside += np.abs(estimate.values - TRUE) < 1.96 * estimate.std
    assert np.all(np.abs(inside / runs - 0.95) < 0.04)


def test_weighting_is_better_where_the_joints_differ_in_noise():
    spread = {
        method: np.std([method(factors_of(*system(s)), NAMES).values for s in range(60)], axis=0)
        for method in (ordinary, weighted)
    }
    assert np.all(spread[weighted][1:] < 0.5 * spread[ordinary][1:])


def test_a_parameter_that_the_motion_does_not_excite_is_named():
    columns, blocks, efforts = system()
    blocks[0][:, 0] = 0.0
    with pytest.raises(NotExcitedError) as caught:
        ordinary(factors_of(columns, blocks, efforts), NAMES)
    assert caught.value.parameters == ("A",)


def test_parameters_that_only_act_together_are_named():
    columns, blocks, efforts = system()
    blocks[0][:, 2] = blocks[0][:, 1]
    blocks[1][:, 1] = blocks[1][:, 0]
    with pytest.raises(NotExcitedError) as caught:
        weighted(factors_of(columns, blocks, efforts), NAMES)
    assert caught.value.parameters == ("B", "C")
    assert caught.value.condition_number > 1e12


def nearly_alike(condition, samples=1000):
    """Return the factor of three parameters, two of which act nearly alike, and their values."""
    rng = np.random.default_rng(3)
    first, apart, third = np.linalg.qr(rng.normal(size=(samples, 3)))[0].T
    w = np.column_stack([first, first + 2.0 / condition * apart, third])
    return factors_of([np.arange(3)], [w], [w @ TRUE])


@pytest.mark.parametrize("condition", [1e3, 1e5, 1e7, 1e9, 1e11, 1e12])
def test_a_poor_motion_is_solved_as_long_as_the_numbers_tell_its_parameters(condition):
    """Rows of exact efforts are no reason to refuse: that is for the standard deviations to say."""
    estimate = ordinary(nearly_alike(condition), NAMES)
    assert estimate.scaled_condition_number == pytest.approx(condition, rel=0.01)
    np.testing.assert_allclose(estimate.values, TRUE, atol=100.0 * np.finfo(float).eps * condition)


@pytest.mark.parametrize("condition", [1e13, 1e15])
def test_a_motion_whose_parameters_are_told_by_rounding_alone_is_refused(condition):
    with pytest.raises(NotExcitedError) as caught:
        ordinary(nearly_alike(condition), NAMES)
    assert caught.value.parameters == ("A", "B")
    assert caught.value.condition_number > 1e12


def test_the_noise_of_few_rows_is_not_taken_for_smaller_than_it_is():
    """Ten rows for the three and two parameters of the joints: what the fit has taken counts."""
    columns, blocks, exact = system(samples=10, noise=(0.0, 0.0))
    w, _ = dense(columns, blocks, exact)
    spread = np.sqrt(np.diag(np.linalg.inv(w.T @ w)))
    deviations = []
    for noise in 0.1 * np.random.default_rng(0).normal(size=(4000, 2, 10)):
        estimate = ordinary(factors_of(columns, blocks, exact + noise), NAMES)
        deviations.append((estimate.std / spread) ** 2)
    np.testing.assert_allclose(np.sqrt(np.mean(deviations, axis=0)), 0.1, rtol=0.01)
    columns, blocks, efforts = system(1, samples=10)
    factors = factors_of(columns, blocks, efforts)
    estimate = ordinary(factors, NAMES)
    bands = BandStream(columns)
    rows = [np.column_stack([w, y]).T for w, y in zip(blocks, efforts, strict=True)]
    bands.add(np.vstack(rows), np.ones((2, 10), dtype=bool))
    kept = GroupedRows((tuple(factors),), (bands.grams(),))
    source = FoldedRows(None, NAMES, "rows-parameters", "bags", ("bag",), ("bag",), kept)
    whole = fit(Choice("ols"), source).estimate
    np.testing.assert_array_equal(whole.residual_std, estimate.residual_std)
    for joint, (w, y, own) in enumerate(zip(blocks, efforts, columns, strict=True)):
        rest = np.linalg.norm(y - w @ estimate.values[own])
        assert estimate.residual_std[joint] == pytest.approx(rest / np.sqrt(10 - len(own)))


def test_fewer_rows_than_parameters_are_refused():
    columns, blocks, efforts = system()
    short = factors_of(columns, [w[:1] for w in blocks], [e[:1] for e in efforts])
    with pytest.raises(NotExcitedError):
        ordinary(short, NAMES)


def test_the_divisor_of_published_results_is_a_setting():
    factors = factors_of(*system())
    ratio = ordinary(factors, NAMES, "rows-1").std / ordinary(factors, NAMES).std
    np.testing.assert_allclose(ratio, np.sqrt((800 - 3) / (800 - 1)), rtol=1e-12)


def test_the_error_on_other_data_uses_their_own_efforts():
    columns, blocks, efforts = data = system(seed=9)
    w, y = dense(*data)
    error = relative_error(factors_of(*data), TRUE)
    assert error.total == pytest.approx(np.linalg.norm(y - w @ TRUE) / np.linalg.norm(y))
    rest = efforts[1] - blocks[1] @ TRUE[columns[1]]
    assert error.joints[1] == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(efforts[1]))
