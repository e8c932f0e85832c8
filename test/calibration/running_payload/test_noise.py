import numpy as np

from robot_identification.calibration.running_payload.noise import (
    NoiseState,
    ResidualNoise,
    learned_noise,
    whitened,
)

NOISE = ResidualNoise(*map(np.array, ([1.3, 0.2], [0.7, 2.0], [0.8, 0.5], [0.25, -0.15])))


def covariance(rows, joint):
    """Return the covariance of rows: noise of sensors, a moving average, and coloured noise."""
    apart = np.abs(np.subtract.outer(np.arange(rows), np.arange(rows)))
    white = NOISE.white[joint] * ((apart == 0) + NOISE.common[joint] * (apart == 1))
    return white + NOISE.coloured[joint] * NOISE.correlation[joint] ** apart


def test_white_rows_are_those_of_the_inverse_root_of_the_covariance():
    rng = np.random.default_rng(0)
    rows, kept = rng.normal(size=(40, 2, 3)), rng.random((40, 2)) > 0.3
    begins = np.arange(40) == 0
    white, _ = whitened(NOISE, NoiseState.fresh(NOISE, 3), rows, kept, begins)
    for joint in range(2):
        seen = kept[:, joint]
        root = np.linalg.cholesky(covariance(40, joint)[np.ix_(seen, seen)])
        np.testing.assert_allclose(white[seen, joint], np.linalg.solve(root, rows[seen, joint]))
    assert not white[~kept].any()


def test_rows_in_parts_and_behind_gaps():
    rng = np.random.default_rng(1)
    rows, kept = rng.normal(size=(30, 2, 2)), np.ones((30, 2), dtype=bool)
    begins = np.isin(np.arange(30), (0, 17))
    whole, _ = whitened(NOISE, NoiseState.fresh(NOISE, 2), rows, kept, begins)
    first, state = whitened(NOISE, NoiseState.fresh(NOISE, 2), rows[:11], kept[:11], begins[:11])
    second, _ = whitened(NOISE, state, rows[11:], kept[11:], begins[11:])
    np.testing.assert_array_equal(whole, np.concatenate([first, second]))
    alone, _ = whitened(NOISE, NoiseState.fresh(NOISE, 2), rows[17:], kept[17:], begins[17:])
    np.testing.assert_array_equal(whole[17:], alone)


def test_the_colour_is_found():
    rng = np.random.default_rng(2)
    residual = np.column_stack(
        [np.linalg.cholesky(covariance(1500, joint)) @ rng.normal(size=1500) for joint in range(2)]
    )
    kept = rng.random(residual.shape) > 0.1
    found = learned_noise(residual, kept, np.arange(1500) == 0)
    np.testing.assert_allclose(found.std, NOISE.std, rtol=0.15)
    # A sum of many rows has the deviation that the covariance says.
    ratios = variance_of_sums(found) / variance_of_sums(NOISE)
    assert ((ratios > 0.6) & (ratios < 1.6)).all()


def test_noise_of_positions_adds_nothing_to_sums_of_rows():
    """It enters as a second difference: what it adds to a row, the next ones take away."""
    rng = np.random.default_rng(3)
    efforts, positions = rng.normal(size=(2, 6001)), 0.15 * rng.normal(size=(2, 6002))
    average = 2.0 - np.sqrt(3.0)  # neighbours have a quarter in common
    of_efforts = efforts[:, 1:] + average * efforts[:, :-1]
    residual = (of_efforts + np.diff(positions, 2, axis=1)).T
    found = learned_noise(residual, np.ones((6000, 2), dtype=bool), np.arange(6000) == 0)
    np.testing.assert_allclose(variance_of_sums(found), (1.0 + average) ** 2, rtol=0.1)


def variance_of_sums(noise):
    """Return the variance of a sum of many rows, over their number."""
    slow = noise.coloured * (1.0 + noise.correlation) / (1.0 - noise.correlation)
    return noise.white * (1.0 + 2.0 * noise.common) + slow
