"""Verdicts on base parameters: whether they hold, and whether the reasons are the true ones."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_results import made_up_result
from robot_identification.identification.estimators.essential import EliminationRule, eliminate
from robot_identification.identification.estimators.least_squares import weighted
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.statistics import reliability
from robot_identification.identification.statistics.reliability import (
    Reliability,
    excitation,
    parameter_reliability,
)
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values

ROBOT = load_robot("scara")
TRUTH = load_values("scara", ROBOT)
MADE = made_up_result(ROBOT, TRUTH, np.random.default_rng(0))


def result_of(columns, effort, names):
    """Return a result of one joint from the columns of a regressor."""
    triangle = np.linalg.qr(np.column_stack([columns, effort]), mode="r")
    factor = JointFactor("joint_1", np.arange(len(names)), triangle, len(effort))
    regrouping = replace(
        MADE.regrouping, standard_names=names, names=names, leading=names, regrouped=(),
        beta=np.zeros((len(names), 0)),
    )  # fmt: skip
    return replace(
        MADE,
        joint_names=("joint_1",),
        regrouping=regrouping,
        factors=(factor,),
        estimate=weighted([factor], names),
    )


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_what_is_known_well_is_good_and_needs_no_reason(rng):
    result = made_up_result(ROBOT, TRUTH, rng, samples=4000, noise=0.01)
    for parameter, std in zip(parameter_reliability(result), result.estimate.std, strict=True):
        if std <= 0.05 * abs(parameter.value):
            assert parameter.verdict is Reliability.GOOD
            assert parameter.reason == ""
    assert any(p.verdict is Reliability.GOOD for p in parameter_reliability(result))


def test_the_interval_holds_the_truth_in_95_of_100_cases(rng):
    inside = []
    for _ in range(150):
        columns = rng.normal(size=(80, 3))
        true = np.array([1.0, -2.0, 0.5])
        result = result_of(columns, columns @ true + rng.normal(size=80), ("a1", "b1", "c1"))
        for parameter, value in zip(parameter_reliability(result), true, strict=True):
            lower, upper = parameter.interval
            inside.append(lower <= value <= upper)
    assert 0.92 <= np.mean(inside) <= 0.98


def test_the_larger_standard_deviation_counts(rng):
    columns = rng.normal(size=(400, 2))
    result = result_of(columns, columns @ [1.0, 1.0] + 0.1 * rng.normal(size=400), ("a1", "b1"))
    robust = np.array([10.0, 1e-9])
    both = replace(result, estimate=replace(result.estimate, std_robust=robust))
    first, second = parameter_reliability(both)
    assert first.std == 10.0
    assert first.verdict is Reliability.NOT_IDENTIFIED
    assert second.std == result.estimate.std[1]
    assert second.verdict is Reliability.GOOD


def test_two_that_move_together_are_named_as_each_other_s_company(rng):
    first = rng.normal(size=500)
    columns = np.column_stack([first, first + 0.01 * rng.normal(size=500), rng.normal(size=500)])
    effort = columns @ [1.0, 1.0, 1.0] + 0.5 * rng.normal(size=500)
    a, b, c = parameter_reliability(result_of(columns, effort, ("a1", "b1", "c1")))
    assert a.verdict is b.verdict is Reliability.NOT_IDENTIFIED
    assert [name for name, _ in a.entangled] == ["b1"]
    assert a.entangled[0][1] == pytest.approx(-1.0, abs=1e-3)
    assert "hard to distinguish from b1 (-1.00)" in a.reason
    assert c.verdict is Reliability.GOOD
    assert c.inflation == pytest.approx(1.0, abs=0.05)
    # alone, it would be known as many times better
    alone = result_of(columns[:, ::2], effort, ("a1", "c1")).estimate.std[0]
    assert a.inflation == pytest.approx(a.std / alone, rel=0.3)


def test_what_causes_hardly_any_effort_is_said_to(rng):
    columns = rng.normal(size=(300, 2)) * [1.0, 1e-3]
    effort = columns @ [1.0, 1.0] + 0.1 * rng.normal(size=300)
    _, faint = parameter_reliability(result_of(columns, effort, ("a1", "b1")))
    assert faint.verdict is Reliability.NOT_IDENTIFIED
    assert faint.is_faint
    assert not faint.is_entangled
    share = abs(faint.value) * np.linalg.norm(columns[:, 1]) / np.linalg.norm(effort)
    assert faint.effect == pytest.approx(share)


def test_removed_parameters_have_no_interval(rng):
    columns = rng.normal(size=(300, 3)) * [1.0, 1.0, 1e-4]
    effort = columns @ [1.0, 1.0, 1.0] + 0.1 * rng.normal(size=300)
    full = result_of(columns, effort, ("a1", "b1", "c1"))
    found = eliminate(
        full.factors, full.regrouping.names, full.estimate.weights, EliminationRule("ratio", 10.0)
    )
    result = replace(full, elimination=found, estimate=found.estimate)
    verdicts = [p.verdict for p in parameter_reliability(result)]
    assert verdicts == [Reliability.GOOD, Reliability.GOOD, Reliability.REMOVED]
    removed = parameter_reliability(result)[2]
    assert removed.interval is None
    assert removed.value == 0.0
    assert excitation(result).places == (0, 1)


def test_singular_values_are_those_of_the_scaled_regressor(rng):
    columns = rng.normal(size=(100, 3)) @ np.diag([1.0, 1e3, 1e-3])
    result = result_of(columns, rng.normal(size=100), ("a1", "b1", "c1"))
    expected = np.linalg.svd(columns / np.linalg.norm(columns, axis=0), compute_uv=False)
    motion = excitation(result)
    np.testing.assert_allclose(motion.singular_values, expected, rtol=1e-9)
    condition = motion.singular_values[0] / motion.singular_values[-1]
    assert condition == pytest.approx(result.estimate.scaled_condition_number)


def test_without_enough_rows_nothing_is_said_of_the_motion(rng):
    columns = rng.normal(size=(50, 2))
    columns = np.column_stack([columns, columns[:, 0]])
    good = result_of(columns[:, :2], rng.normal(size=50), ("a1", "b1"))
    triangle = np.linalg.qr(np.column_stack([columns, rng.normal(size=50)]), mode="r")
    factor = JointFactor("joint_1", np.arange(3), triangle, 50)
    names = ("a1", "b1", "c1")
    estimate = replace(
        good.estimate, values=np.ones(3), std=np.full(3, 0.01), singular_values=np.ones(3)
    )
    regrouping = replace(
        good.regrouping, standard_names=names, names=names, leading=names, beta=np.zeros((3, 0))
    )
    result = replace(good, regrouping=regrouping, factors=(factor,), estimate=estimate)
    assert excitation(result) is None
    assert all(np.isnan(p.effect) and not p.entangled for p in parameter_reliability(result))


def with_factor(result, columns):
    """Return a result of other columns, as of a method that does with less than full rank."""
    rows, count = columns.shape
    triangle = np.linalg.qr(np.column_stack([columns, np.ones(rows)]), mode="r")
    return replace(result, factors=(JointFactor("joint_1", np.arange(count), triangle, rows),))


def test_where_a_parameter_moves_nothing_or_none_is_kept_nothing_is_said_of_the_motion(rng):
    columns = rng.normal(size=(50, 2))
    result = result_of(columns, rng.normal(size=50), ("a1", "b1"))
    assert excitation(with_factor(result, columns)) is not None
    assert excitation(with_factor(result, columns * [1.0, 0.0])) is None
    found = eliminate(
        result.factors,
        result.regrouping.names,
        result.estimate.weights,
        EliminationRule("ratio", 1.0),
    )
    none = replace(found, kept=np.zeros(2, dtype=np.bool_))
    assert excitation(replace(result, elimination=none)) is None


def test_among_many_that_are_alike_two_that_differ_by_rounding_are_not_told_apart(rng):
    """A hundred columns, nearly parallel: rounding is that of their sum, ten times as long."""
    names = tuple(f"a{i}" for i in range(100))
    columns = 1.0 + 0.3 * rng.normal(size=(300, 100))
    result = result_of(columns, rng.normal(size=300), names)
    for apart_by, known in ((1e-10, True), (5e-14, False)):
        columns[:, -1] = columns[:, 0] + apart_by * rng.normal(size=300)
        assert (excitation(with_factor(result, columns)) is not None) == known


def test_what_no_robot_has_is_said(rng):
    columns = rng.normal(size=(300, 3))
    effort = columns @ [-1.0, -1.0, 1.0] + 0.01 * rng.normal(size=300)
    inertia, moment, friction = parameter_reliability(
        result_of(columns, effort, ("Ia1", "MX1", "Fv1"))
    )
    assert inertia.verdict is Reliability.GOOD
    assert inertia.impossible
    assert "below zero" in inertia.reason
    assert not moment.impossible  # a moment may be negative
    assert not friction.impossible


def result_with(covariance, values, std, names=None):
    """Return a result whose estimates have a covariance matrix, up to a factor."""
    count = len(covariance)
    root = np.linalg.cholesky(np.linalg.inv(covariance))
    columns = np.linalg.qr(np.random.default_rng(3).normal(size=(60, count)))[0] @ root.T
    names = names or tuple(f"{'abcdefghijklmn'[i]}1" for i in range(count))
    result = result_of(columns, columns @ values, names)
    estimate = replace(result.estimate, values=np.array(values), std=np.array(std))
    return replace(result, estimate=estimate)


def apart(values, std, names=None):
    """Return the verdicts on parameters that have nothing to do with each other."""
    return parameter_reliability(result_with(np.eye(len(values)), values, std, names))


def test_verdicts_change_at_5_and_at_30_percent():
    found = apart([1.0, -1.0, 1.0, -1.0, 0.0], [0.05, 0.0501, 0.30, 0.3001, 0.001])
    assert [p.verdict for p in found] == [
        Reliability.GOOD, Reliability.WEAK, Reliability.WEAK, Reliability.NOT_IDENTIFIED,
        Reliability.NOT_IDENTIFIED,
    ]  # fmt: skip
    assert found[3].relative_std == pytest.approx(0.3001)
    assert found[4].relative_std == np.inf
    assert apart([-4.0], [1.0])[0].relative_std == 0.25
    assert found[0].interval == pytest.approx((1.0 - 1.96 * 0.05, 1.0 + 1.96 * 0.05))


def test_the_sign_is_uncertain_where_the_interval_holds_zero():
    sure, unsure = apart([1.0, -1.0], [0.51, 0.511])
    assert sure.reason.startswith("the residual is large beside the 71 % of the effort that it")
    assert unsure.reason == "even its sign is uncertain"
    (touching,) = apart([1.96], [1.0])
    assert touching.interval == (0.0, 3.92)
    assert touching.reason == "even its sign is uncertain"


@pytest.mark.parametrize(
    ("name", "never"),
    [*((f"{kind}1", True) for kind in ("XX", "YY", "ZZ", "M", "Ia", "Fv", "Fc")),
     *((f"{kind}1", False) for kind in ("XY", "XZ", "YZ", "MX", "MY", "MZ"))],
)  # fmt: skip
def test_what_cannot_be_negative_is_impossible_below_its_interval(name, never):
    assert apart([-1.0], [0.5], (name,))[0].impossible == never
    assert not apart([-1.0], [0.52], (name,))[0].impossible
    assert not apart([-1.96], [1.0], (name,))[0].impossible, "its interval holds zero"
    assert not apart([1.0], [0.1], (name,))[0].impossible


def test_a_parameter_grouped_with_others_may_be_negative():
    result = result_with(np.eye(1), [-1.0], [0.1], ("ZZ1",))
    grouping = replace(
        result.regrouping, standard_names=("ZZ1", "Ia1"), regrouped=("Ia1",), beta=np.ones((1, 1))
    )
    assert not parameter_reliability(replace(result, regrouping=grouping))[0].impossible


@pytest.mark.parametrize(("correlation", "told"), [(0.79, False), (0.81, True), (-0.81, True)])
def test_two_are_hard_to_tell_apart_from_a_correlation_of_80_percent(correlation, told):
    covariance = np.array([[1.0, correlation], [correlation, 1.0]])
    result = result_with(covariance, [1.0, 1.0], [0.1, 0.1])
    np.testing.assert_allclose(excitation(result).correlation, covariance, atol=1e-9)
    first, second = parameter_reliability(result)
    assert first.is_entangled == second.is_entangled == told
    assert first.inflation == pytest.approx(1.0 / np.sqrt(1.0 - correlation**2))
    if told:
        assert first.entangled == (("b1", pytest.approx(correlation)),)
        assert second.reason == f"hard to distinguish from a1 ({correlation:+.2f}) in this motion"
    else:
        assert first.reason.startswith("the residual is large")


def test_the_two_worst_are_named_the_worse_first():
    load = np.array([0.90, 0.99, 0.93, 0.96])
    covariance = np.outer(load, load)
    np.fill_diagonal(covariance, 1.0)
    found = parameter_reliability(result_with(covariance, [1.0] * 4, [0.1] * 4))
    assert [name for name, _ in found[0].entangled] == ["b1", "d1"]
    assert [name for name, _ in found[1].entangled] == ["d1", "c1"]
    assert found[1].entangled[0][1] == pytest.approx(0.99 * 0.96)
    assert "from d1 (+0.95) and c1 (+0.92) in" in found[1].reason


@pytest.mark.parametrize(("inflation", "told"), [(2.99, False), (3.01, True)])
def test_several_that_imitate_one_together_are_told(inflation, told):
    share = np.sqrt((1.0 - 1.0 / inflation**2) / 12)
    covariance = np.eye(13)
    covariance[0, 1:] = covariance[1:, 0] = share
    found = parameter_reliability(result_with(covariance, [1.0] * 13, [0.1] * 13))[0]
    assert found.inflation == pytest.approx(inflation)
    assert not found.entangled
    assert found.is_entangled == told
    expected = "several others together imitate it; they make its deviation 3.0 times larger"
    assert (found.reason == expected) == told


@pytest.mark.parametrize(("share", "told"), [(0.0099, True), (0.0101, False)])
def test_one_percent_of_the_effort_is_hardly_any(share, told):
    rest = np.sqrt(1.0 - share**2)
    faint, strong = apart([share, rest], [0.1 * share, 0.1])
    assert faint.effect == pytest.approx(share)
    assert faint.is_faint == told
    assert (faint.reason == "it causes only 0.99 % of the effort") == told
    assert not strong.is_faint
    assert strong.effect == pytest.approx(rest)


def test_where_there_is_no_effort_no_share_of_it_is_told():
    result = result_with(np.eye(1), [0.0], [0.1])
    result = replace(result, estimate=replace(result.estimate, values=np.array([1.0])))
    (found,) = parameter_reliability(result)
    assert np.isnan(found.effect)
    assert found.reason == "the residual is large beside it"


def test_without_factors_nothing_is_said_of_the_motion():
    assert excitation(replace(MADE, factors=None)) is None


def test_what_the_motion_tells_is_that_of_the_weighted_regressor():
    """Two joints whose rows count 1 and 10 times; a method with other weights counts them once."""
    rng = np.random.default_rng(4)
    blocks = rng.normal(size=(2, 30, 3))
    factors = tuple(
        JointFactor(f"joint_{k}", np.arange(2), np.linalg.qr(block, mode="r"), 30)
        for k, block in enumerate(blocks)
    )
    one = result_with(np.eye(2), [1.0, 1.0], [0.1, 0.1])
    for given, used in (
        ([1.0, 10.0], [1.0, 10.0]),
        ([1.0, 2.0, 3.0], [1.0, 1.0]),
        ([2.0], [1.0, 1.0]),
    ):
        estimate = replace(one.estimate, weights=np.array(given))
        found = excitation(replace(one, factors=factors, estimate=estimate))
        rows = np.vstack([weight * block for weight, block in zip(used, blocks, strict=True)])
        covariance = np.linalg.inv(rows[:, :2].T @ rows[:, :2])
        deviations = np.sqrt(np.diag(covariance))
        np.testing.assert_allclose(found.norms, np.linalg.norm(rows[:, :2], axis=0))
        assert found.effort_norm == pytest.approx(np.linalg.norm(rows[:, 2]))
        np.testing.assert_allclose(found.correlation, covariance / np.outer(deviations, deviations))
        np.testing.assert_allclose(found.inflation, deviations * found.norms)


@pytest.mark.parametrize(
    ("effect", "inflation", "company", "faint", "entangled"),
    [
        (0.0099, 1.0, (), True, False), (0.01, 2.99, (), False, False),
        (0.5, 3.0, (), False, True), (0.5, 1.0, (("b1", 0.9),), False, True),
        (np.nan, np.nan, (), False, False),
    ],
)  # fmt: skip
def test_a_parameter_is_faint_below_1_percent_and_entangled_from_threefold_deviation(
    effect, inflation, company, faint, entangled
):
    about = {"effect": effect, "inflation": inflation, "entangled": company}
    (found,) = apart([1.0], [0.1])
    found = replace(found, **about)
    assert (found.is_faint, found.is_entangled) == (faint, entangled)


def test_the_share_of_the_effort_is_told_in_percent_of_two_digits():
    first, second = apart([0.6, 0.8], [0.2, 0.2])
    assert first.reason == "the residual is large beside the 60 % of the effort that it causes"
    assert second.reason == "the residual is large beside the 80 % of the effort that it causes"
    share = 0.005
    faint, _ = apart([share, np.sqrt(1.0 - share**2)], [0.1 * share, 0.001])
    assert faint.reason == "it causes only 0.5 % of the effort"


@pytest.mark.parametrize(("correlation", "told"), [(0.8, True), (-0.8, True), (0.7999, False)])
def test_a_correlation_of_just_80_percent_is_named(monkeypatch, correlation, told):
    result = result_with(np.eye(2), [1.0, 1.0], [0.1, 0.1])
    told_by_motion = replace(
        excitation(result), correlation=np.array([[1.0, correlation], [correlation, 1.0]])
    )
    monkeypatch.setattr(reliability, "excitation", lambda _: told_by_motion)
    first, _ = parameter_reliability(result)
    assert first.entangled == ((("b1", correlation),) if told else ())


@pytest.mark.parametrize(
    ("norm", "inflation", "reason"),
    [
        (0.01, 1.0, "the residual is large beside the 1 % of the effort that it causes"),
        (0.0099, 1.0, "it causes only 0.99 % of the effort"),
        (0.5, 3.0, "several others together imitate it; they make its deviation 3.0 times larger"),
        (0.5, 2.99, "the residual is large beside the 50 % of the effort that it causes"),
    ],
)
def test_reasons_change_at_just_1_percent_and_just_threefold_deviation(
    monkeypatch, norm, inflation, reason
):
    result = result_with(np.eye(1), [1.0], [0.1])
    told_by_motion = replace(
        excitation(result),
        norms=np.array([norm]),
        effort_norm=1.0,
        inflation=np.array([inflation]),
    )
    monkeypatch.setattr(reliability, "excitation", lambda _: told_by_motion)
    assert parameter_reliability(result)[0].reason == reason
