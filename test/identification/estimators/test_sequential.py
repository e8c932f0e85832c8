"""Sequential least squares gives the estimate of all rows together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.errors import NotExcitedError, SampleError, SettingError, ShapeError
from robot_identification.identification.estimators.sequential import SequentialEstimator

NAMES = ("A", "B", "C", "D")


@given(seed=st.integers(0, 10_000), block=st.integers(1, 70))
def test_row_by_row_is_all_at_once(seed, block):
    rng = np.random.default_rng(seed)
    W, Y = rng.normal(size=(90, 4)), rng.normal(size=90)
    std = rng.uniform(0.1, 3.0, 90)
    estimator = SequentialEstimator(NAMES)
    for i in range(0, 90, block):
        estimator.update(W[i : i + block], Y[i : i + block], std[i : i + block])
    expected = np.linalg.lstsq(W / std[:, None], Y / std, rcond=None)[0]
    np.testing.assert_allclose(estimator.values, expected, rtol=1e-9, atol=1e-12)
    scaled = W / std[:, None]
    np.testing.assert_allclose(estimator.covariance, np.linalg.inv(scaled.T @ scaled), rtol=1e-7)
    assert estimator.rows == 90
    assert estimator.factor.rows == 90


def test_ill_conditioned_rows_keep_their_digits():
    """Normal equations would lose all of them: the condition number is 1e8."""
    rng = np.random.default_rng(0)
    u, _ = np.linalg.qr(rng.normal(size=(60, 4)))
    v, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    W = u * np.geomspace(1.0, 1e-8, 4) @ v.T
    truth = np.array([1.0, -2.0, 3.0, -4.0])
    estimator = SequentialEstimator(NAMES)
    for row, y in zip(W, W @ truth, strict=True):
        estimator.update(row, y)
    np.testing.assert_allclose(estimator.values, truth, rtol=1e-6)


def test_memory_forgets_what_is_old():
    rng = np.random.default_rng(1)
    W = rng.normal(size=(400, 4))
    first, second = np.array([1.0, 1, 1, 1]), np.array([2.0, 3, 4, 5])
    estimator = SequentialEstimator(NAMES, memory=0.9)
    for truth in (first, second):
        for row in W:
            estimator.update(row, row @ truth)
    np.testing.assert_allclose(estimator.values, second, rtol=1e-6)


def test_bad_rows_are_refused_and_change_nothing():
    estimator = SequentialEstimator(NAMES)
    estimator.update(np.eye(4)[:3], np.ones(3))
    with pytest.raises(NotExcitedError):
        _ = estimator.values
    before = estimator.factor.triangle
    with pytest.raises(SampleError, match="right-hand side"):
        estimator.update(np.ones((1, 4)), [np.nan])
    with pytest.raises(SampleError):
        estimator.update(np.ones((1, 4)), [1.0], 0.0)
    with pytest.raises(ShapeError):
        estimator.update(np.ones((1, 3)), [1.0])
    with pytest.raises(SettingError):
        SequentialEstimator(NAMES, memory=0.0)
    np.testing.assert_array_equal(estimator.factor.triangle, before)
