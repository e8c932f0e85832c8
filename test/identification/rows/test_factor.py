"""A small triangular factor stands for all rows of a joint."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.errors import ShapeError
from robot_identification.identification.rows.factor import JointFactor, merge, stack
from robot_identification.identification.rows.householder_kernels import fold_rows


def folded(rows: np.ndarray, kept: np.ndarray | None = None, cuts: tuple[int, ...] = ()):
    """Fold the rows of (samples, columns) in pieces and return the triangle."""
    triangle = np.zeros((rows.shape[1], rows.shape[1]))
    keep = np.ones(len(rows), dtype=bool) if kept is None else kept
    for piece, flags in zip(np.split(rows, cuts), np.split(keep, cuts), strict=True):
        fold_rows(triangle, np.ascontiguousarray(piece.T), flags)
    return triangle


def factor_of(rows: np.ndarray, joint: str = "a") -> JointFactor:
    columns = np.arange(rows.shape[1] - 1)
    return JointFactor(joint=joint, columns=columns, triangle=folded(rows), rows=len(rows))


@given(
    samples=st.integers(1, 300),
    columns=st.integers(1, 9),
    seed=st.integers(0, 2**31),
    cut=st.integers(0, 300),
)
def test_the_factor_has_the_gram_matrix_of_all_rows_however_they_are_cut(
    samples, columns, seed, cut
):
    rows = np.random.default_rng(seed).normal(size=(samples, columns))
    triangle = folded(rows, cuts=(min(cut, samples),))
    assert np.allclose(triangle, np.triu(triangle))
    np.testing.assert_allclose(triangle.T @ triangle, rows.T @ rows, atol=1e-11 * samples)


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
@pytest.mark.parametrize("samples", [1, 5, 30])
def test_few_rows_of_many_columns_are_folded_to_numbers(samples, scale):
    rows = scale * np.random.default_rng(4).normal(size=(samples, 60))
    triangle = folded(rows, cuts=(samples // 2,))
    gram = rows.T @ rows
    np.testing.assert_allclose(triangle.T @ triangle, gram, rtol=0, atol=1e-13 * gram.max())


def test_rows_that_are_not_kept_leave_no_trace():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(200, 5))
    kept = rng.random(200) < 0.5
    spoilt = np.where(kept[:, None], rows, 1e6)
    np.testing.assert_array_equal(np.abs(folded(spoilt, kept)), np.abs(folded(rows, kept)))
    gram = folded(rows, kept).T @ folded(rows, kept)
    np.testing.assert_allclose(gram, rows[kept].T @ rows[kept], atol=1e-11)


@pytest.mark.parametrize("left_out", [1, 4, 200])
@pytest.mark.parametrize("span", [255, 256, 257, 512])
def test_rows_left_out_of_the_middle_leave_no_trace_whatever_the_span(span, left_out):
    """The rows that are kept reach over as many samples as are reflected together, or about."""
    rng = np.random.default_rng(0)
    rows, kept = rng.normal(size=(600, 5)), np.zeros(600, dtype=bool)
    kept[20 : 20 + span] = True
    kept[20 + rng.choice(np.arange(1, span - 1), left_out, replace=False)] = False
    triangle = folded(rows, kept)
    np.testing.assert_allclose(triangle.T @ triangle, rows[kept].T @ rows[kept], atol=1e-9)


def test_folding_is_as_accurate_as_an_orthogonal_factorisation_at_bad_conditioning():
    """Normal equations would lose every digit of the smallest direction here."""
    rng = np.random.default_rng(2)
    left, _ = np.linalg.qr(rng.normal(size=(500, 4)))
    right, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    rows = left @ np.diag([1.0, 1e-4, 1e-8, 1e-11]) @ right
    singular_values = np.linalg.svd(folded(rows), compute_uv=False)
    np.testing.assert_allclose(singular_values, [1.0, 1e-4, 1e-8, 1e-11], rtol=1e-3)


def test_merging_factors_equals_factoring_the_whole():
    rows = np.random.default_rng(3).normal(size=(150, 6))
    whole = factor_of(rows)
    merged = merge([factor_of(rows[:40]), factor_of(rows[40:90]), factor_of(rows[90:])])
    assert merged.rows == whole.rows
    gram = whole.triangle.T @ whole.triangle
    np.testing.assert_allclose(merged.triangle.T @ merged.triangle, gram, rtol=1e-12, atol=1e-12)


def test_factors_of_different_joints_are_not_merged():
    rows = np.random.default_rng(4).normal(size=(20, 3))
    with pytest.raises(ShapeError):
        merge([factor_of(rows, "a"), factor_of(rows, "b")])


def test_residuals_and_norms_come_out_of_the_factor_alone():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(120, 5))
    values = rng.normal(size=4)
    factor = factor_of(rows)
    assert factor.effort_norm == pytest.approx(np.linalg.norm(rows[:, -1]))
    expected = np.linalg.norm(rows[:, -1] - rows[:, :-1] @ values)
    assert factor.residual_norm(values) == pytest.approx(expected)


def test_own_fit_of_dependent_columns_counts_their_rank():
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(100, 4))
    rows[:, 2] = rows[:, 0] - 2.0 * rows[:, 1]
    norm, rank = factor_of(rows).own_fit
    fit = rows[:, :3] @ np.linalg.lstsq(rows[:, :3], rows[:, 3], rcond=None)[0]
    assert rank == 2
    assert norm == pytest.approx(np.linalg.norm(rows[:, 3] - fit))


def test_stacking_places_the_columns_of_every_joint():
    rng = np.random.default_rng(7)
    first, second = rng.normal(size=(50, 3)), rng.normal(size=(60, 3))
    factors = [
        JointFactor("a", np.array([0, 2]), folded(first), 50),
        JointFactor("b", np.array([1, 2]), folded(second), 60),
    ]
    dense = np.zeros((110, 4))
    dense[:50][:, [0, 2, 3]] = 2.0 * first
    dense[50:][:, [1, 2, 3]] = 0.5 * second
    triangle = stack(factors, 3, [2.0, 0.5])
    np.testing.assert_allclose(triangle.T @ triangle, dense.T @ dense, atol=1e-10)


def test_a_triangle_of_another_size_is_refused():
    with pytest.raises(ShapeError):
        JointFactor("a", np.array([0, 1]), np.eye(2), 5)
