import numpy as np

from robot_identification.calibration.running_payload.noise import (
    NoiseState,
    ResidualNoise,
    learned_noise,
    whitened,
)

NOISE = ResidualNoise(np.array([1.3, 0.2]), np.array([0.7, 2.0]), np.array([0.8, 0.5]))


def covariance(rows, joint):
    """Return the covariance of rows: white noise through the triangle, and coloured noise."""
    apart = np.abs(np.subtract.outer(np.arange(rows), np.arange(rows)))
    white = NOISE.white[joint] * ((apart == 0) + 0.25 * (apart == 1))
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
    for joint in range(2):
        # A sum of many rows has the deviation that the covariance says.
        other = ResidualNoise(found.white, found.coloured, found.correlation)
        low = 1.5 * other.white[joint] + other.coloured[joint] * (
            (1.0 + other.correlation[joint]) / (1.0 - other.correlation[joint])
        )
        assert low == np.float64(low)
        true = 1.5 * NOISE.white[joint] + NOISE.coloured[joint] * (
            (1.0 + NOISE.correlation[joint]) / (1.0 - NOISE.correlation[joint])
        )
        assert 0.6 < low / true < 1.6
