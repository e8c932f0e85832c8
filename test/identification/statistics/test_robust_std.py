"""Standard deviations for residuals that are not white."""

import dataclasses

import numpy as np
import pytest
import scipy.signal
import yaml

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import ShapeError
from robot_identification.files.results import dump, read_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.identify import identify
from robot_identification.identification.rows.bands import BLOCK, EDGES, BandStream
from robot_identification.identification.rows.factor import JointFactor, triangle_of
from robot_identification.identification.rows.householder_kernels import fold_rows
from robot_identification.identification.statistics.robust_std import (
    robust_std,
)
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.signals.recording import Recording, Segment

pytestmark = pytest.mark.usefixtures("undiagnosed")

NAMES = ("A", "B", "C")
TRUE = np.array([1.0, -2.0, 0.5])
COLUMNS = (np.array([0, 1, 2]), np.array([1, 2]))
LEVELS = np.array([0.1, 0.02])


def coloured(shape, memory, rng):
    """Noise of first order and unit variance."""
    white = rng.standard_normal((*shape[:-1], shape[-1] + 200))
    return scipy.signal.lfilter([np.sqrt(1 - memory**2)], [1.0, -memory], white)[..., 200:]


def rows_of(samples=300, seed=0):
    """Columns of two joints, of slow motions, each followed by its exact effort; rows kept."""
    rng = np.random.default_rng(seed)
    rows = []
    for columns in COLUMNS:
        block = coloured((len(columns), samples), 0.8, rng)
        rows += [block, (TRUE[columns] @ block)[None]]
    kept = np.ones((2, samples), dtype=bool)
    for start in range(20, samples, 60):  # as where a joint turns round
        kept[0, start : start + 10] = False
        kept[1, start + 15 : start + 20] = False
    return np.vstack(rows), kept


def noisy(rows, noise):
    result = rows.copy()
    result[[3, 6]] += LEVELS[:, None] * noise
    return result


def factors_of(rows, kept):
    result = []
    for k, (columns, first) in enumerate(zip(COLUMNS, (0, 4), strict=True)):
        size = len(columns) + 1
        triangle = np.zeros((size, size))
        fold_rows(triangle, np.ascontiguousarray(rows[first : first + size]), kept[k])
        result.append(JointFactor(str(k), columns, triangle, int(kept[k].sum())))
    return result


def bands_of(rows, kept):
    stream = BandStream(COLUMNS)
    stream.add(rows, kept)
    return stream.grams()


def estimate_of(rows, kept):
    factors = factors_of(rows, kept)
    found = least_squares.weighted(factors, NAMES)
    robust = robust_std(bands_of(rows, kept), factors, found.values, found.weights)
    return dataclasses.replace(found, std_robust=robust)


def coverage(memory, runs=400, common=0.0):
    """Return (2, parameters): how often intervals of std and of std_robust hold the truth."""
    rows, kept = rows_of()
    rng = np.random.default_rng(77)
    inside = np.zeros((2, len(TRUE)))
    for _ in range(runs):
        noise = coloured((2, rows.shape[1]), memory, rng)
        noise[1] = common * noise[0] + np.sqrt(1.0 - common**2) * noise[1]
        found = estimate_of(noisy(rows, noise), kept)
        for i, std in enumerate((found.std, found.std_robust)):
            inside[i] += np.abs(found.values - TRUE) < 1.96 * std
    return inside / runs


def test_white_noise_is_covered_by_both_standard_deviations():
    papers, robust = coverage(0.0)
    assert np.all(np.abs(robust - 0.95) < 0.035)
    assert np.all(np.abs(papers - 0.95) < 0.035)


def test_coloured_noise_is_covered_by_the_robust_standard_deviations_alone():
    papers, robust = coverage(0.7)
    assert np.all(np.abs(robust - 0.95) < 0.035)
    assert abs(robust.mean() - 0.95) < 0.02
    assert np.all(papers < 0.87)


def test_noise_that_joints_share_is_covered():
    """As where one motor acts on two joints."""
    _, robust = coverage(0.3, common=0.9)
    assert np.all(np.abs(robust - 0.95) < 0.035)


def fitted(columns, noise):
    """Return errors over robust deviations, and these over the true deviations.

    Args:
        columns: for each joint (samples, parameters); all joints see all parameters, which are 0.
        noise: (joints, samples) white.
    """
    parameters = columns[0].shape[1]
    places = [np.arange(parameters)] * len(columns)
    bread = np.linalg.inv(sum(own.T @ own for own in columns))
    values = bread @ sum(own.T @ e for own, e in zip(columns, noise, strict=True))
    blocks = [np.column_stack([own, e]) for own, e in zip(columns, noise, strict=True)]
    factors = [
        JointFactor(str(k), own, triangle_of(block), len(block))
        for k, (own, block) in enumerate(zip(places, blocks, strict=True))
    ]
    stream = BandStream(places)
    stream.add(np.vstack([b.T for b in blocks]), np.ones((len(blocks), len(blocks[0])), bool))
    std = robust_std(stream.grams(), factors, values, np.ones(len(blocks)))
    return values / std, std / np.sqrt(np.diag(bread))


@pytest.mark.parametrize(("samples", "parameters"), [(60, 20), (120, 40)])
def test_what_the_fit_has_taken_from_the_noise_is_given_back(samples, parameters):
    """A third of the degrees of freedom is taken, and the residual is so much smaller."""
    rng = np.random.default_rng(4)
    motion = [rng.standard_normal((samples, parameters))]
    ratios = [fitted(motion, rng.standard_normal((1, samples)))[1] for _ in range(60)]
    assert np.median(np.sqrt(np.mean(np.square(ratios), axis=0))) == pytest.approx(1.0, abs=0.1)


def test_a_fit_that_both_joints_share_is_not_taken_for_noise_that_they_share():
    """Their residuals are correlated, because the same parameters have followed both noises."""
    rng = np.random.default_rng(5)
    motion = [rng.standard_normal((400, 200))] * 2
    ratios = [fitted(motion, rng.standard_normal((2, 400)))[1] for _ in range(8)]
    assert np.median(np.sqrt(np.mean(np.square(ratios), axis=0))) == pytest.approx(1.0, abs=0.08)


def test_a_slow_motion_that_leaves_its_band_no_freedom_is_covered():
    rng = np.random.default_rng(0)
    band = scipy.signal.butter(4, 0.12, output="sos")
    motion = [scipy.signal.sosfiltfilt(band, rng.standard_normal((400, 40)), axis=0)]
    inside = [np.abs(fitted(motion, rng.standard_normal((1, 400)))[0]) < 1.96 for _ in range(200)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)


def test_long_white_recordings_give_the_papers_standard_deviations():
    rows, kept = rows_of(samples=20000)
    found = estimate_of(noisy(rows, np.random.default_rng(1).standard_normal((2, 20000))), kept)
    np.testing.assert_allclose(found.std_robust, found.std, rtol=0.06)


def test_the_sandwich_is_that_of_the_covariance_matrix_of_the_noise():
    """Against the dense formula with the true covariance matrix; what is left is its estimate."""
    samples, memory = 6 * BLOCK, 0.6
    rows, kept = rows_of(samples)
    rng = np.random.default_rng(2)
    rows = noisy(rows, coloured((2, samples), memory, rng))
    found = estimate_of(rows, kept)
    chosen = [np.where(kept[k], rows[first : first + 3], 0.0) for k, first in ((0, 0), (1, 4))]
    weighted = [np.zeros((samples, 3)), np.zeros((samples, 3))]
    for k, columns in enumerate(COLUMNS):
        weighted[k][:, columns] = found.weights[k] * chosen[k][: len(columns)].T
    bread = np.linalg.inv(sum(w.T @ w for w in weighted))
    meat = np.zeros((3, 3))
    for k, w in enumerate(weighted):
        # Sigma w, for Sigma(t, s) = memory^|t - s|: once forward, once backward
        forward = scipy.signal.lfilter([1.0], [1.0, -memory], w, axis=0)
        backward = scipy.signal.lfilter([1.0], [1.0, -memory], w[::-1], axis=0)[::-1]
        meat += (found.weights[k] * LEVELS[k]) ** 2 * w.T @ (forward + backward - w)
    expected = np.sqrt(np.diag(bread @ meat @ bread))
    np.testing.assert_allclose(found.std_robust, expected, rtol=0.1)
    assert np.all(found.std < 0.8 * expected)


@pytest.mark.parametrize("samples", [1, 300, BLOCK, 2 * BLOCK + 77])
def test_the_bands_together_hold_the_rows_that_count(samples):
    rows, kept = rows_of(samples)
    bands = bands_of(rows, kept)
    used = rows * np.repeat(kept, [4, 3], axis=0)
    np.testing.assert_allclose(bands.grams.sum(axis=0), used @ used.T, atol=1e-9 * samples)
    assert bands.shares.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(np.diag(bands.common), kept.sum(axis=1))
    np.testing.assert_allclose(bands.mixing.sum(axis=(1, 2)), kept.sum(axis=1), rtol=1e-9)


def test_the_size_of_the_bands_does_not_depend_on_the_recording():
    shapes = {bands_of(*rows_of(samples)).grams.shape for samples in (50, 5 * BLOCK)}
    assert shapes == {(len(EDGES) - 1, 7, 7)}


def test_recordings_are_taken_in_one_after_the_other():
    first, second = rows_of(400, seed=3), rows_of(500, seed=4)
    stream = BandStream(COLUMNS)
    for rows, kept in (first, second):
        stream.add(rows, kept)
    both = stream.grams()
    for name in ("grams", "common", "mixing"):
        expected = getattr(bands_of(*first), name) + getattr(bands_of(*second), name)
        np.testing.assert_allclose(getattr(both, name), expected, atol=1e-9)


def test_rows_without_some_columns():
    rows, kept = rows_of()
    bands = bands_of(rows, kept)
    few = bands.restricted([2, 0])
    assert [columns.tolist() for columns in few.columns] == [[0, 1], [0]]
    entries = np.ix_([2, 0, 3, 5, 6], [2, 0, 3, 5, 6])
    for own, whole in zip(few.grams, bands.grams, strict=True):
        np.testing.assert_array_equal(own, whole[entries])


def test_rows_that_do_not_fit_are_refused():
    rows, kept = rows_of()
    with pytest.raises(ShapeError):
        BandStream(COLUMNS).add(rows[1:], kept)
    with pytest.raises(ShapeError):
        BandStream(COLUMNS).add(rows[:, 1:], kept)


def test_a_joint_that_never_moves_fast_enough_does_no_harm():
    rows, kept = rows_of()
    kept[1] = False
    rows = noisy(rows, np.random.default_rng(6).standard_normal((2, 300)))
    factors = factors_of(rows, kept)
    found = least_squares.ordinary(factors, NAMES)
    robust = robust_std(bands_of(rows, kept), factors, found.values, found.weights)
    np.testing.assert_allclose(robust, found.std, rtol=0.4)


def test_hardly_more_rows_than_parameters():
    rows, kept = rows_of(6)
    rows = noisy(rows, np.random.default_rng(7).standard_normal((2, 6)))
    found = estimate_of(rows, kept)
    assert np.all(np.isfinite(found.std_robust))
    assert np.all(found.std_robust > 0.0)


def recording(robot):
    time = np.arange(0.0, 40.0, 0.005)
    q = np.column_stack(
        [
            np.sin(1.7 * time) + 0.4 * np.sin(3.1 * time),
            np.sin(2.3 * time + 1.0) + 0.5 * np.sin(3.7 * time),
        ]
    )
    effort = q + 0.1 * np.random.default_rng(8).standard_normal(q.shape)
    return Recording(robot.joint_names, 0.005, (Segment(time, q, None, effort),))


@pytest.mark.parametrize("method", ["ols", "wls", "energy"])
def test_every_parameter_of_every_method_has_one_and_files_keep_it(method, tmp_path):
    robot = load_robot("scara")
    result = identify(robot, [recording(robot)], method=method)
    assert result.estimate.std_robust.shape == result.estimate.std.shape
    assert np.all(result.estimate.std_robust > 0.0)
    path = tmp_path / "result.yaml"
    path.write_text(dump(result))
    back = read_result(path).estimate.std_robust
    np.testing.assert_array_equal(back, result.estimate.std_robust)


def test_files_without_them_can_be_read(tmp_path):
    robot = load_robot("scara")
    document = yaml.safe_load(dump(identify(robot, [recording(robot)])))
    for parameter in document["parameters"]:
        del parameter["std_robust"]
    del document["sha256"]
    path = tmp_path / "result.yaml"
    path.write_text(yaml.safe_dump(document))
    assert read_result(path).estimate.std_robust is None


@pytest.mark.parametrize(("memory", "told"), [(0.0, False), (0.99, True)])
def test_coloured_residuals_are_told(memory, told):
    """Noise with a corner of 0.3 Hz, about that of the motion."""
    robot = load_robot("scara")
    exact = recording(robot)
    (segment,) = exact.segments
    base = base_parameters(robot)
    values = load_values("scara", robot)
    q = segment.position
    qd = np.gradient(q, 0.005, axis=0)
    qdd = np.gradient(qd, 0.005, axis=0)
    noise = 0.5 * coloured(q.T.shape, memory, np.random.default_rng(9)).T
    effort = inverse_dynamics(robot, values, q, qd, qdd) + noise
    noisy = dataclasses.replace(segment, effort=effort)
    result = identify(robot, [dataclasses.replace(exact, segments=(noisy,))])
    assert any("coloured" in line for line in result.warnings) is told
    truth = base.values(values[base.columns])
    away = np.abs(result.estimate.values - truth) / result.estimate.std_robust
    assert np.all(away < 4.0)
