"""Condition numbers, equilibrium, and both examples of the appendix of Gautier and Khalil 1992."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.errors import SettingError
from robot_identification.excitation.objective.criterion import (
    Criterion,
    Measure,
    condition,
    equilibrium,
)
from robot_identification.excitation.objective.smooth_criterion import smooth

A1 = np.array([[4.1, 2.8], [9.7, 6.6]])


def system(seed, rows=30, columns=8):
    return np.random.default_rng(seed).normal(size=(rows, columns)) * np.geomspace(1, 20, columns)


@given(seed=st.integers(0, 1000), sharpness=st.floats(0.25, 32.0), weight=st.floats(0.0, 1.0))
def test_gradient_of_the_surrogate_is_exact(seed, sharpness, weight):
    W = system(seed)
    W[3, 2] = 0.0
    _, slope = smooth(W, sharpness, weight)
    way = np.random.default_rng(seed + 1).normal(size=W.shape) * np.minimum(1e-3, np.abs(W))
    h = 1e-4
    expected = (
        smooth(W + h * way, sharpness, weight)[0] - smooth(W - h * way, sharpness, weight)[0]
    ) / (2 * h)
    assert (slope * way).sum() == pytest.approx(expected, rel=1e-4, abs=1e-8)


@given(seed=st.integers(0, 1000))
def test_the_surrogate_approaches_the_criterion_from_above(seed):
    W = system(seed)
    wanted = np.log(condition(W)) + 0.3 * np.log(equilibrium(W))
    values = [smooth(W, p, 0.3)[0] for p in (2.0, 8.0, 64.0, 512.0)]
    assert all(np.diff(values) <= 1e-12)
    assert wanted - 1e-9 <= values[-1] <= wanted + 0.02


def test_frobenius_is_at_least_the_number_of_columns():
    assert condition(np.eye(8), Measure.FROBENIUS) == pytest.approx(8.0)
    assert condition(3.0 * np.eye(8)) == pytest.approx(1.0)
    assert condition(3.0 * np.eye(8), Measure.QR) == pytest.approx(1.0)


@pytest.mark.parametrize("measure", list(Measure))
def test_a_dependent_column_is_infinitely_badly_conditioned(measure):
    W = system(0)
    W[:, 3] = 0.0
    assert condition(W, measure) == np.inf
    assert condition(system(0, rows=4), measure) == np.inf


def test_equilibrium_leaves_zeros_out():
    assert equilibrium(np.array([[0.0, -2.0], [0.5, 1.0]])) == 4.0
    assert equilibrium(np.zeros((2, 2))) == np.inf


def test_criterion_weighs_both():
    W = system(1)
    assert Criterion(Measure.SVD, 2.0, 0.5).value(W) == pytest.approx(
        2.0 * condition(W) + 0.5 * equilibrium(W)
    )
    with pytest.raises(SettingError):
        Criterion(Measure.named("trace"))
    with pytest.raises(SettingError):
        Criterion(condition_weight=0.0)


def test_first_example_of_the_appendix():
    """Equality in the bound 12: cond_1 = 2249.4, a relative error of 7e-4 becomes 1.63."""
    y, dy = np.array([4.1, 9.7]), np.array([0.01, 0.0])
    x = np.linalg.solve(A1, y)
    dx = np.linalg.solve(A1, y + dy) - x
    np.testing.assert_allclose(x, [1.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(x + dx, [0.34, 0.97], atol=1e-9)
    number = np.linalg.cond(A1, 1)
    assert number == pytest.approx(2249.4, abs=1e-6)
    relative_dy = np.abs(dy).sum() / np.abs(y).sum()
    assert relative_dy == pytest.approx(7.246e-4, rel=1e-3)
    assert np.abs(dx).sum() / np.abs(x).sum() == pytest.approx(number * relative_dy, rel=1e-9)


def test_second_example_of_the_appendix():
    """Without scaling the condition number says little: 1e6, and one error is harmless."""
    A, y = np.diag([1.0, 1e-6]), np.array([1.0, 1e-6])
    assert condition(A) == pytest.approx(1e6)
    for dy, expected in (([1e-6, 0.0], 1e-6 / np.sqrt(2)), ([0.0, 1e-6], 1.0 / np.sqrt(2))):
        x = np.linalg.solve(A, y)
        error = np.linalg.norm(np.linalg.solve(A, y + dy) - x) / np.linalg.norm(x)
        assert error == pytest.approx(expected, rel=1e-6)
        assert error <= condition(A) * np.linalg.norm(dy) / np.linalg.norm(y)
    scaled = np.diag([1.0, 1e6]) @ A
    assert condition(scaled) == pytest.approx(1.0)


@given(seed=st.integers(0, 10_000), size=st.integers(2, 12), k=st.floats(1e-6, 1e-2))
def test_bound_12_on_errors_of_the_right_hand_side(seed, size, k):
    rng = np.random.default_rng(seed)
    W, x, dy = rng.normal(size=(size, size)), rng.normal(size=size), k * rng.normal(size=size)
    y = W @ x
    dx = np.linalg.solve(W, y + dy) - x
    bound = condition(W) * np.linalg.norm(dy) / np.linalg.norm(y)
    assert np.linalg.norm(dx) / np.linalg.norm(x) <= bound * (1 + 1e-6) + 1e-9


@given(seed=st.integers(0, 10_000), size=st.integers(2, 12), k=st.floats(1e-6, 1e-2))
def test_bound_13_on_errors_of_the_system(seed, size, k):
    rng = np.random.default_rng(seed)
    W, x, dW = (
        rng.normal(size=(size, size)),
        rng.normal(size=size),
        k * rng.normal(size=(size, size)),
    )
    perturbed = np.linalg.solve(W + dW, W @ x)
    bound = condition(W) * np.linalg.norm(dW, 2) / np.linalg.norm(W, 2)
    assert np.linalg.norm(perturbed - x) / np.linalg.norm(perturbed) <= bound * (1 + 1e-6) + 1e-9
