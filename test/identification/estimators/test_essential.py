"""Parameters that the torque can do without are removed, the others estimated again."""

import numpy as np
import pytest
import scipy.stats

from robot_identification.errors import SettingError
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.identification.estimators.essential import EliminationRule, eliminate
from robot_identification.identification.identify import identify
from robot_identification.identification.rows.factor import JointFactor, restrict
from robot_identification.robot.files.loading import load_robot
from shared_data import measured_data, requires

pytestmark = pytest.mark.usefixtures("undiagnosed")

NAMES = ("A", "B", "C", "D", "E")
TRUTH = np.array([5.0, -3.0, 1.0, 0.0, 1e-4])


def factor_of(w, y, joint="joint"):
    return JointFactor(
        joint, np.arange(w.shape[1]), np.linalg.qr(np.column_stack([w, y]), mode="r"), len(w)
    )


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    w = rng.normal(size=(400, 5))
    w[:, 3] += 0.8 * w[:, 0]
    return w, w @ TRUTH + 0.1 * rng.normal(size=400)


def test_what_has_no_effect_goes_and_the_rest_is_estimated_again(rows):
    w, y = rows
    found = eliminate([factor_of(w, y)], NAMES, np.ones(1))
    assert found.kept.tolist() == [True, True, True, False, False]
    assert {removal.name for removal in found.removals} == {"D", "E"}
    alone, *_ = np.linalg.lstsq(w[:, :3], y, rcond=None)
    np.testing.assert_allclose(found.estimate.values, [*alone, 0.0, 0.0], atol=1e-12)
    residual = y - w[:, :3] @ alone
    std = (
        np.linalg.norm(residual)
        / np.sqrt(397)
        * np.sqrt(np.diag(np.linalg.inv(w[:, :3].T @ w[:, :3])))
    )
    np.testing.assert_allclose(found.estimate.std[:3], std)
    error = np.linalg.norm(residual) / np.linalg.norm(y)
    assert found.estimate.relative_error.total == pytest.approx(error)


def significance(w, y, kept):
    """Return how likely noise alone raises the squared residual so much without some columns.

    The textbook's F test of two nested models (Draper and Smith 1998, section 6.2), by SciPy's
    distribution and dense least squares.
    """
    rows, parameters = w.shape
    full, few = (np.linalg.lstsq(own, y, rcond=None)[1].item() for own in (w, w[:, kept]))
    removed = parameters - len(kept)
    freedom = rows - parameters
    return scipy.stats.f.sf((few - full) / removed / (full / freedom), removed, freedom)


@pytest.mark.parametrize("removals", [1, 2])
def test_removals_stop_where_the_f_test_of_the_textbook_says_so(removals):
    """A dozen rows, so that every degree of freedom counts; the level lies just on either side."""
    rng = np.random.default_rng(7)
    w = rng.normal(size=(12, 5))
    y = w @ np.array([5.0, -3.0, 2.0, 0.06, 0.03]) + 0.1 * rng.normal(size=12)
    factors = [factor_of(w, y)]
    every = eliminate(factors, NAMES, np.ones(1), EliminationRule("f-test", 1e-9))
    order = [removal.name for removal in every.removals]
    kept = [i for i, name in enumerate(NAMES) if name not in order[:removals]]
    level = significance(w, y, kept)
    assert 1e-4 < level < 0.99
    for threshold, expected in ((0.999 * level, removals), (1.001 * level, removals - 1)):
        found = eliminate(factors, NAMES, np.ones(1), EliminationRule("f-test", threshold))
        assert [removal.name for removal in found.removals[:removals]] == order[:expected]


def test_the_history_tells_every_step(rows):
    w, y = rows
    found = eliminate([factor_of(w, y)], NAMES, np.ones(1))
    kept = list(range(5))
    full = np.linalg.norm(y - w @ np.linalg.lstsq(w, y, rcond=None)[0])
    for removal in found.removals:
        own = w[:, kept]
        values, *_ = np.linalg.lstsq(own, y, rcond=None)
        spread = np.sqrt(np.diag(np.linalg.inv(own.T @ own)))
        std = np.linalg.norm(y - own @ values) / np.sqrt(400 - len(kept)) * spread
        relative = std / np.abs(values)
        worst = int(np.argmax(relative))
        assert removal.name == NAMES[kept[worst]]
        assert removal.relative_std_percent == pytest.approx(100.0 * relative[worst])
        assert removal.ratio == pytest.approx(relative.max() / relative.min())
        assert removal.ratio > 30.0
        kept.pop(worst)
        left = np.linalg.norm(y - w[:, kept] @ np.linalg.lstsq(w[:, kept], y, rcond=None)[0])
        assert removal.error_growth == pytest.approx(left / full - 1.0, abs=1e-12)
    place = [NAMES.index(removal.name) for removal in found.removals]
    stds = [removal.std for removal in found.removals]
    np.testing.assert_array_equal(found.estimate.std[place], stds)


def test_a_large_ratio_keeps_all_and_a_small_one_few(rows):
    w, y = rows
    assert eliminate(
        [factor_of(w, y)], NAMES, np.ones(1), EliminationRule("ratio", 1e12)
    ).kept.all()
    assert (
        eliminate([factor_of(w, y)], NAMES, np.ones(1), EliminationRule("ratio", 1.0)).kept.sum()
        == 1
    )


def test_the_f_test_stops_before_the_error_grows(rows):
    w, y = rows
    found = eliminate([factor_of(w, y)], NAMES, np.ones(1), EliminationRule("f-test"))
    assert found.kept.tolist() == [True, True, True, False, False]
    assert found.removals[-1].error_growth < 0.01


def test_the_f_test_removes_a_needed_parameter_as_often_as_its_level_says():
    rng = np.random.default_rng(2)
    kept = 0
    for _ in range(300):
        w = rng.normal(size=(60, 3))
        y = w[:, :2] @ [50.0, 40.0] + rng.normal(size=60)
        kept += eliminate([factor_of(w, y)], NAMES[:3], np.ones(1), EliminationRule("f-test")).kept[
            2
        ]
    assert 0.01 < kept / 300 < 0.10


def test_weights_count(rows):
    w, y = rows
    halves = [factor_of(w[:200], y[:200], "one"), factor_of(w[200:], y[200:], "two")]
    weights = np.array([1.0, 3.0])
    scale = np.repeat(weights, 200)
    joined = eliminate([factor_of(w * scale[:, None], y * scale)], NAMES, np.ones(1))
    apart = eliminate(halves, NAMES, weights)
    np.testing.assert_allclose(apart.estimate.values, joined.estimate.values, atol=1e-12)
    np.testing.assert_allclose(apart.estimate.std, joined.estimate.std, atol=1e-12)


def test_a_factor_without_some_columns_is_that_of_the_other_columns(rows):
    w, y = rows
    few = restrict(factor_of(w, y), [4, 0, 2])
    other = factor_of(w[:, [4, 0, 2]], y)
    assert few.columns.tolist() == [0, 1, 2]
    np.testing.assert_allclose(np.abs(few.triangle), np.abs(other.triangle), atol=1e-10)
    absent = JointFactor("joint", np.array([1, 3]), np.triu(np.ones((3, 3))), 9)
    assert restrict(absent, [0, 3]).columns.tolist() == [1]


@pytest.mark.parametrize(
    ("rule", "threshold", "words"),
    [
        ("aic", None, "must be one of ratio, f-test"),
        ("ratio", 0.5, "at least 1"),
        ("f-test", 1.5, "between 0 and 1"),
    ],
)
def test_impossible_rules_are_refused(rule, threshold, words):
    with pytest.raises(SettingError, match=words):
        EliminationRule(rule, threshold)


@requires("tx40")
def test_the_tx40_has_about_thirty_essential_parameters():
    robot = load_robot("tx40")
    recordings = read_recordings([measured_data("tx40") / "bag"], robot)
    result = identify(robot, recordings, essential=EliminationRule())
    count = int(result.elimination.kept.sum())
    assert 25 <= count <= 31
    names = [
        n for n, kept in zip(result.regrouping.names, result.elimination.kept, strict=True) if kept
    ]
    assert {"ZZ1R", "ZZ2R", "MX2R", "MY3R", "Ia4", "Fvm6", "Fcm6"} <= set(names)
    assert (result.estimate.values[~result.elimination.kept] == 0.0).all()
    assert (result.estimate.std_robust > 0.0).all()
    assert result.estimate.relative_error.total < 0.053
