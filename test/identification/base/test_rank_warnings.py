"""A rank that hangs on lengths and angles next to nothing is reported as doubtful."""

import numpy as np
import pytest

from random_tables import QUARTER, table_robot
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import RankError
from robot_identification.identification.base.factorisation import factorise
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.base.rank import Decision, leading_independent
from robot_identification.identification.base.report import base_report

FRICTIONLESS = {"viscous_friction": False, "coulomb_friction": False, "offset": False}


def planar(length, angle=0.0):
    return table_robot([{}, {"d": length, "alpha": angle}], **FRICTIONLESS)


def puma(angle=-QUARTER):
    table = [
        {},
        {"alpha": angle},
        {"d": 0.5, "r": 0.2},
        {"alpha": -QUARTER, "d": 0.02, "r": 0.6},
        {"alpha": QUARTER},
        {"alpha": -QUARTER},
    ]
    return table_robot(table, **FRICTIONLESS)


@pytest.mark.parametrize("model", ["dynamic", "simplified", "energy"])
@pytest.mark.parametrize("length", [1e-6, 1e-7, 1e-9])
def test_a_link_of_next_to_nothing_is_named(model, length):
    base = base_parameters(planar(length), model)
    assert base.ambiguous
    assert any(f"d of joint_2 ({length:.3g} m)" in line for line in base.warnings)
    assert any("3 parameters instead of 5" in line for line in base.warnings)
    assert base_report(base).to_json()["ambiguous"] is True


@pytest.mark.parametrize("length", [0.0, 1e-3, 0.5])
def test_a_link_of_ordinary_length_and_none_are_clear(length):
    base = base_parameters(planar(length))
    assert not base.ambiguous
    assert base.rank == (5 if length else 3)


def test_a_right_angle_rounded_to_four_digits_is_named():
    base = base_parameters(puma(-1.5708))
    assert base.rank == 41
    assert base.ambiguous
    assert any("alpha of joint_2 (-3.67e-06 rad off a quarter turn)" in w for w in base.warnings)
    assert not base_parameters(puma(-1.57079632679)).ambiguous


def test_a_small_length_that_decides_nothing_raises_no_doubt():
    table = [{}, {"alpha": QUARTER}, {"alpha": QUARTER, "d": 1e-7}]
    assert not base_parameters(table_robot(table, **FRICTIONLESS)).ambiguous


def test_states_are_chosen_by_the_scaling_strategy_where_the_gap_is_poor():
    base = base_parameters(planar(0.4, 1e-7))
    assert base.scaled
    assert base.ambiguous
    report = base_report(base).to_json()
    assert report["scaled_states"] is True
    assert any("the largest" in line for line in base.warnings)


def test_axes_that_are_parallel_within_rounding_of_the_rank_are_refused_with_the_values():
    with pytest.raises(RankError, match="nearly zero: alpha of joint_2") as caught:
        base_parameters(planar(0.4, 1e-8))
    assert caught.value.singular_values


def test_doubtful_base_parameters_still_give_the_same_efforts():
    robot = planar(1e-7)
    base = base_parameters(robot)
    rng = np.random.default_rng(0)
    full = np.zeros(len(robot.all_parameter_names))
    full[base.columns] = rng.normal(size=len(base.columns))
    only_base = np.zeros_like(full)
    only_base[base.base_columns] = base.values(full[base.columns])
    states = rng.normal(size=(3, 10, 2))
    np.testing.assert_allclose(
        inverse_dynamics(robot, only_base, *states), inverse_dynamics(robot, full, *states)
    )


def test_the_decision_is_two_sided():
    decision = Decision.of([1e-15, 3.0, 1e-3], rows=100)
    assert decision.rank == 2
    assert decision.last_accepted == 1e-3
    assert decision.first_rejected == 1e-15
    assert decision.gap == pytest.approx(1e12)
    assert decision.tolerance == pytest.approx(100 * 2.22e-16 * 3.0, rel=1e-2)
    assert decision.is_clear
    assert not Decision.of([1.0, 1e-7], rows=10).is_clear
    assert not Decision.of([1.0, 1e-13, 1e-15], rows=100, amplification=1.0).is_clear
    assert Decision.of([], rows=10).rank == 0
    assert Decision.of([2.0], rows=10).gap == np.inf


def test_rounding_that_scaling_amplified_is_not_taken_for_rank():
    values = [1.0, 0.5, 5e-13, 6e-14, 1e-16]
    assert Decision.of(values, rows=200, amplification=1e5).rank == 2
    assert Decision.of(values, rows=200).rank == 4


def test_columns_are_chosen_from_the_first():
    rng = np.random.default_rng(0)
    first = rng.normal(size=(20, 3))
    w = np.column_stack([first[:, :2], first[:, :2] @ [1.0, 2.0], first[:, 2], first.sum(axis=1)])
    found = factorise(w)
    assert list(found.qr.independent) == list(found.svd.independent) == [0, 1, 3]
    np.testing.assert_allclose(found.qr.beta, [[1, 1], [2, 1], [0, 1]], atol=1e-12)
    np.testing.assert_allclose(found.svd.beta, found.qr.beta, atol=1e-12)
    assert leading_independent(w, 4, 1e-9) is None


def test_columns_without_effect_are_set_aside():
    rng = np.random.default_rng(0)
    w = np.column_stack([rng.normal(size=(20, 2)), np.zeros(20), 1e-16 * rng.normal(size=20)])
    found = factorise(w)
    assert list(found.zero) == [2, 3]
    assert found.rank == 2
    assert factorise(np.zeros((5, 2))).rank == 0


def test_factorisations_that_disagree_are_an_error_with_the_singular_values():
    rng = np.random.default_rng(3)
    u, _ = np.linalg.qr(rng.normal(size=(40, 8)))
    v, _ = np.linalg.qr(rng.normal(size=(8, 8)))
    sigma = 10.0 ** -np.array([0.0, 1, 2, 5, 9, 11, 12.6, 13.4])
    with pytest.raises(RankError, match="cut") as caught:
        factorise(u * sigma @ v)
    assert len(caught.value.singular_values) == 8
