"""Densities of residuals band by band: degrees of freedom, mixing, joints together."""

import dataclasses

import numpy as np
import pytest

from robot_identification.identification.rows.bands import BandGrams
from robot_identification.identification.rows.factor import JointFactor, triangle_of
from robot_identification.identification.statistics.robust_std import (
    _densities,
    _starts,
    _with_co_spectra,
    robust_std,
    sandwich_std,
)


def even_bands(count, rows, parameters=1, joints=1):
    """Return bands of equal width of white rows, all kept, whose Gram matrices are unit ones."""
    size = joints * (parameters + 1)
    shares = np.full(count, 1.0 / count)
    return BandGrams(
        columns=(np.arange(parameters),) * joints,
        grams=np.repeat(np.eye(size)[None] * rows / count, count, axis=0),
        shares=shares,
        common=np.full((joints, joints), float(rows)),
        mixing=np.repeat(np.diag(shares * rows)[None], joints, axis=0),
    )


def test_one_band_of_white_noise_gives_the_papers_formula():
    """Variance of the residual over the degrees of freedom left, times (W^T W)^-1."""
    rng = np.random.default_rng(11)
    rows, parameters = 50, 3
    w = rng.normal(size=(rows, parameters))
    effort = w @ [1.0, 2.0, 3.0] + 0.3 * rng.normal(size=rows)
    block = np.column_stack([w, effort])
    values = np.linalg.lstsq(w, effort, rcond=None)[0]
    bands = dataclasses.replace(even_bands(1, rows, parameters), grams=(block.T @ block)[None])
    factor = JointFactor("one", np.arange(parameters), triangle_of(block), rows)
    variance = np.sum((effort - w @ values) ** 2) / (rows - parameters)
    inverse = np.linalg.inv(w.T @ w)
    expected = np.sqrt(variance * np.diag(inverse))
    for weight in (1.0, 7.0):
        found = robust_std(bands, [factor], values, np.array([weight]))
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    half = robust_std(bands, [factor], values, np.ones(1), efficiency=np.array([0.5]))
    np.testing.assert_allclose(half, 2.0 * expected, err_msg="each row moves it half as much")
    louder = dataclasses.replace(bands, grams=4.0 * bands.grams)
    found = robust_std(bands, [factor], values, np.ones(1), meat=louder)
    np.testing.assert_allclose(found, 2.0 * expected)
    taken = dataclasses.replace(bands, grams=2.0 * bands.grams)
    found = robust_std(bands, [factor], values, np.ones(1), fitted=taken)
    freedom = np.sqrt((rows - parameters) / (rows - 2 * parameters))
    np.testing.assert_allclose(found, freedom * expected, err_msg="the fit has taken twice as much")


@pytest.mark.parametrize(
    ("rows", "bands", "starts"),
    [
        (64, 8, [0, 1, 2, 3, 4, 5, 6, 7]),  # eight degrees of freedom in each band
        (60, 8, [0, 2, 4, 6]),  # 7.5
        (32, 8, [0, 2, 4, 6]),
        (31, 8, [0, 3]),  # 3.9: two would not do, and the last two are too few
        (7, 4, [0]),
        (18, 3, [0]),  # 6: the last is too little for a band of its own
        (24, 2, [0, 1]),
    ],
)
def test_bands_keep_eight_degrees_of_freedom(rows, bands, starts):
    made = even_bands(bands, rows)
    assert _starts(made, np.zeros((2, 2))) == starts


def test_degrees_of_freedom_that_the_fit_takes_do_not_count():
    made = even_bands(8, 64)
    leverage = np.diag([1.0 / 64.0, 0.0])  # one parameter: an eighth in each band
    assert _starts(made, leverage) == [0, 2, 4, 6]
    two = even_bands(8, 64, joints=2)
    assert _starts(two, np.diag([1.0 / 64.0, 0.0, 0.0, 0.0])) == [0, 2, 4, 6]
    idle = dataclasses.replace(two, common=np.diag([64.0, 0.0]))
    assert _starts(idle, np.zeros((4, 4))) == [0, 1, 2, 3, 4, 5, 6, 7], "a joint without rows"
    single = dataclasses.replace(two, common=np.diag([64.0, 1.0]))
    assert _starts(single, np.zeros((4, 4))) == [0, 2, 4, 6], "a joint with a single row"


def test_densities_are_the_power_over_the_freedom_that_the_fit_leaves():
    made = even_bands(2, 40)
    power = np.array([30.0, 10.0]).reshape(2, 1, 1)
    leverage = np.array([5.0, 0.0]).reshape(2, 1, 1)
    found = _densities(made, power, leverage)
    np.testing.assert_allclose(found.ravel(), [30.0 / 15.0, 10.0 / 20.0])


def test_the_mixing_of_frequencies_is_undone_but_for_a_tenth_of_the_power():
    mixing = np.array([[[15.0, 5.0], [5.0, 15.0]]])
    made = dataclasses.replace(even_bands(2, 40), mixing=mixing)
    none = np.zeros((2, 1, 1))
    mild = _densities(made, np.array([35.0, 25.0]).reshape(2, 1, 1), none)
    np.testing.assert_allclose(mild.ravel(), np.linalg.solve(mixing[0], [35.0, 25.0]))
    # all of it in the first band would leave less than nothing for the second
    steep = _densities(made, np.array([30.0, 8.0]).reshape(2, 1, 1), none)
    np.testing.assert_allclose(steep.ravel(), [410.0 / 200.0, 0.1 * 8.0 / 20.0])


def test_a_power_that_rounding_makes_negative_is_none():
    power, leverage = np.array([-1e-3, 10.0]).reshape(2, 1, 1), np.zeros((2, 1, 1))
    np.testing.assert_allclose(_densities(even_bands(2, 40), power, leverage).ravel(), [0.0, 0.5])


def test_a_joint_without_rows_has_no_density():
    made = even_bands(1, 40, joints=2)
    made = dataclasses.replace(made, common=np.diag([40.0, 0.0]))
    power, none = np.diag([20.0, 0.0])[None], np.zeros((1, 2, 2))
    np.testing.assert_array_equal(_densities(made, power, none), [[[0.5, 0.0], [0.0, 0.0]]])


@pytest.mark.parametrize(("deviations", "believed"), [(2.9, False), (3.1, True), (-3.1, True)])
def test_co_spectra_count_from_three_standard_deviations_on(deviations, believed):
    own, freedom = np.array([4.0, 1.0]), np.full((2, 2), 100.0)
    power = np.full((2, 2), deviations * 2.0 * 10.0)  # level 2, a tenth of it as deviation
    found = _with_co_spectra(own, power, np.zeros((2, 2)), freedom)
    np.testing.assert_allclose(np.diag(found), own)
    assert found[0, 1] == found[1, 0] == pytest.approx(0.2 * deviations if believed else 0.0)


def test_what_the_fit_makes_common_is_added_to_the_co_spectra():
    own, freedom = np.array([4.0, 1.0]), np.full((2, 2), 100.0)
    power, leverage = np.full((2, 2), 60.0), np.full((2, 2), 20.0)
    found = _with_co_spectra(own, power, leverage, freedom)
    assert found[0, 1] == pytest.approx((60.0 + 20.0 * 2.0) / 100.0)
    # rows of the two joints that are hardly ever kept together say nothing
    few = _with_co_spectra(own, np.full((2, 2), 2.0), np.zeros((2, 2)), np.full((2, 2), 0.25))
    np.testing.assert_array_equal(few, np.diag(own))


@pytest.mark.parametrize("freedom", [0.25, 1.0])
def test_less_than_one_common_row_counts_as_one(freedom):
    """Four deviations of it are a co-spectrum of 8, cut to what densities of 4 and 1 allow."""
    own, some = np.array([4.0, 1.0]), np.full((2, 2), freedom)
    found = _with_co_spectra(own, np.full((2, 2), 8.0), np.zeros((2, 2)), some)
    values, vectors = np.linalg.eigh([[4.0, 8.0], [8.0, 1.0]])
    np.testing.assert_allclose(found, values[1] * np.outer(vectors[:, 1], vectors[:, 1]))


def test_common_rows_of_a_band_are_its_share_of_all_common_rows():
    made = even_bands(2, 200, joints=2)  # a hundred in each
    power = np.repeat(np.array([[100.0, 50.0], [50.0, 100.0]])[None], 2, axis=0)
    found = _densities(made, power, np.zeros((2, 2, 2)))
    np.testing.assert_allclose(found, power / 100.0)


def test_a_variance_that_rounding_makes_negative_is_none():
    made, none = even_bands(1, 40), np.zeros((2, 2))
    meat = dataclasses.replace(made, grams=-1e-18 * made.grams)
    told = sandwich_std(made, np.array([0.0, 1.0]), none, np.array([[1.0], [0.0]]), meat=meat)
    np.testing.assert_array_equal(told, [0.0])


def test_densities_of_joints_together_are_positive_semidefinite():
    own = np.ones(3)
    power = 95.0 * np.array([[1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]])
    found = _with_co_spectra(own, power, np.zeros((3, 3)), np.full((3, 3), 100.0))
    impossible = np.where(np.eye(3) > 0, 1.0, power / 100.0)
    values, vectors = np.linalg.eigh(impossible)
    assert values[0] < 0.0
    np.testing.assert_allclose(found, (vectors * np.maximum(values, 0.0)) @ vectors.T, atol=1e-12)
