"""Verdicts on base parameters: whether they hold, and whether the reasons are the true ones."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_results import made_up_result
from robot_identification.identification.estimators.essential import EliminationRule, eliminate
from robot_identification.identification.estimators.least_squares import weighted
from robot_identification.identification.rows.factor import JointFactor
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
