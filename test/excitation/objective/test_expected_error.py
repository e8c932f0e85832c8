"""The error to expect of the estimate, against drawn noise and against finite differences."""

import numpy as np
import pytest

from robot_identification.errors import SettingError
from robot_identification.excitation.objective.criterion import Criterion, expected_error
from robot_identification.excitation.objective.smooth_criterion import smooth, smooth_error

RNG = np.random.default_rng(5)
W = RNG.normal(size=(20, 6)) * np.array([1.0, 3.0, 0.2, 5.0, 1.0, 0.5])
X = RNG.normal(size=6)


def test_it_is_the_root_mean_square_of_drawn_errors():
    Y, k = W @ X, 1e-3
    noise = RNG.normal(size=(20_000, 20)) * k * np.abs(Y).max()
    errors = np.linalg.norm(noise @ np.linalg.pinv(W).T, axis=1) / np.linalg.norm(X)
    drawn = np.sqrt(np.mean(errors**2))
    assert k * expected_error(W, X) == pytest.approx(drawn, rel=0.02)


def test_it_depends_on_the_size_of_neither_system_nor_parameters():
    assert expected_error(7.0 * W, 0.3 * X) == pytest.approx(expected_error(W, X))


def test_a_system_of_lower_rank_tells_nothing():
    assert expected_error(W[:, [0, 1, 2, 3, 4, 4]], X) == np.inf
    assert expected_error(W[:5], X) == np.inf


@pytest.mark.parametrize("degree", [4.0, 16.0])
def test_the_smooth_estimate_has_its_exact_gradient(degree):
    value, slope = smooth_error(W, X, degree)
    step = 1e-6
    for i, j in ((0, 0), (3, 4), (19, 5)):
        moved = [W.copy(), W.copy()]
        moved[0][i, j] += step
        moved[1][i, j] -= step
        up, down = (smooth_error(other, X, degree)[0] for other in moved)
        assert slope[i, j] == pytest.approx((up - down) / (2.0 * step), rel=1e-5, abs=1e-6)
    assert value >= np.log(expected_error(W, X))
    assert smooth_error(W, X, 200.0)[0] == pytest.approx(np.log(expected_error(W, X)), abs=0.02)


def test_the_criterion_counts_it_with_a_prior_only():
    without, with_prior = Criterion(), Criterion(prior=X, error_weight=2.0)
    more = with_prior.value(W) - without.value(W)
    assert more == pytest.approx(2.0 * expected_error(W, X))
    plain, informed = smooth(W, 4.0, 0.2)[0], smooth(W, 4.0, 0.2, X)[0]
    assert plain != pytest.approx(informed)


def test_a_prior_that_says_nothing_is_refused():
    for wrong in (np.zeros(6), np.array([1.0, np.nan])):
        with pytest.raises(SettingError, match="prior"):
            Criterion(prior=wrong)
    with pytest.raises(SettingError, match="error_weight"):
        Criterion(prior=X, error_weight=-1.0)
