import dataclasses
import math
import tracemalloc

import numpy as np
import pytest

from robot_identification.errors import MessageError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.diagnosis.finding import Finding, Severity
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.essential import EliminationRule, eliminate
from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.identification.friction.law import FrictionLaw
from robot_identification.identification.friction.selection import Tried
from robot_identification.identification.friction.shapes import EstimatedShape
from robot_identification.identification.regrouping import Regrouping
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.source import Source
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.messages.received_results import result_of
from robot_identification.ros.messages.results import result_message
from sent_messages import compare, through_dds


@pytest.fixture(scope="module")
def robot():
    return load_robot("scara")


def made(robot, held_out):
    base = base_parameters(robot)
    rng = np.random.default_rng(1)
    size = base.rank + 1
    factors = tuple(
        JointFactor(
            name, np.arange(base.rank), np.triu(rng.normal(size=(size, size))) + np.eye(size), 50
        )
        for name in robot.joint_names
    )
    estimate = least_squares.weighted(factors, base.names)
    return IdentificationResult(
        robot=robot.name,
        robot_digest="12ab",
        joint_names=robot.joint_names,
        sources=(Source("bag", "34cd", 1000, 9.5), Source("live-1", "", 10, 0.1)),
        method="wls",
        settings={"cutoff_hz": {"value": 20.0, "reason": "option"}, "ends": {"value": "cut"}},
        regrouping=Regrouping.of(base),
        estimate=estimate,
        factors=factors,
        held_out=held_out,
        seconds=0.25,
        warnings=("look here",),
    )


def law(robot):
    """A law with everything that one can have."""
    shape = EstimatedShape("Fs1.speed", 0.1, 0.01, 0.4)
    tried = Tried(
        joint=0,
        term="Fs",
        shape=(0.1, 1.0),
        replaces="",
        gain=0.4,
        gain_std=0.1,
        value_over_std=9.0,
        step=1,
        chosen=True,
        reason="",
    )
    terms = ({"Fv": (), "Fs": (0.1, 1.0)}, {"Fv": (), "Fl": ()})
    count = robot.layout.per_joint * len(robot.joints) + 2 * len(robot.joints)
    return FrictionLaw(terms, np.arange(float(count)), (shape,), (tried,), (0.3, 0.1))


def test_a_friction_law_survives_the_way_through_a_message(robot):
    result = dataclasses.replace(made(robot, None), friction=law(robot))
    back = result_of(through_dds(result_message(result, robot, stamp=5)))
    compare(result.friction, back.friction)
    assert back.model_of(robot) == result.model_of(robot)


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        '{"robot": "another"}',
        '{"friction": 3}',
        '{"friction": {"joints": {}, "shapes": []}}',
    ],
)
def test_a_message_whose_friction_is_no_law_is_refused(robot, text):
    message = result_message(made(robot, None), robot, stamp=5)
    message.friction = text
    with pytest.raises(MessageError):
        result_of(message)


@pytest.mark.parametrize("held_out", [None, RelativeError(0.2, np.array([0.1, 0.3]))])
def test_a_result_survives_the_way_through_a_message(robot, held_out):
    result = made(robot, held_out)
    message = result_message(result, robot, stamp=5_000_000_006)
    back = result_of(through_dds(message))
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (5, 6)
    for field in dataclasses.fields(IdentificationResult):
        compare(getattr(result, field.name), getattr(back, field.name))


def test_factors_of_efforts_as_measured_follow_the_weighted_ones(robot):
    weighted = made(robot, None)
    measured = tuple(
        dataclasses.replace(factor, triangle=2.0 * factor.triangle) for factor in weighted.factors
    )
    result = dataclasses.replace(weighted, measured_factors=measured)
    message = through_dds(result_message(result, robot, stamp=0))
    back = result_of(message)
    assert (back.factors, back.measured_factors) == (result.factors, measured)
    del message.factors[-1]
    with pytest.raises(MessageError, match="measured_factors"):
        result_of(message)


def test_a_message_tells_the_essential_parameters(robot):
    result = made(robot, None)
    every = through_dds(result_message(result, robot, stamp=0))
    assert all(parameter.essential for parameter in every.parameters)
    assert result_of(every).elimination is None
    weights = result.estimate.weights
    found = eliminate(
        result.factors, result.regrouping.names, weights, EliminationRule("ratio", 2.0)
    )
    assert not found.kept.all()
    few = dataclasses.replace(result, estimate=found.estimate, elimination=found)
    message = through_dds(result_message(few, robot, stamp=0))
    assert [parameter.essential for parameter in message.parameters] == found.kept.tolist()
    back = result_of(message)
    np.testing.assert_array_equal(back.elimination.kept, found.kept)
    np.testing.assert_array_equal(back.elimination.estimate.values, found.estimate.values)


def test_a_result_says_how_parameters_are_grouped(robot):
    message = result_message(made(robot, None), robot, stamp=0)
    base = base_parameters(robot)
    for parameter, grouping in zip(message.parameters, base.groupings, strict=True):
        told = {
            parameter.leading: 1.0,
            **dict(zip(parameter.grouping_names, parameter.grouping_coefficients, strict=True)),
        }
        assert told == pytest.approx(grouping)
        assert parameter.unit
    named = {*message.unaffecting_names, *message.regrouped_names}
    named |= {parameter.leading for parameter in message.parameters}
    assert named == set(message.standard_names)


def test_robust_deviations_are_not_a_number_where_there_are_none(robot):
    without = made(robot, None)
    robust = 2.0 * without.estimate.std
    estimate = dataclasses.replace(without.estimate, std_robust=robust)
    having = dataclasses.replace(without, estimate=estimate)
    message = result_message(without, robot, stamp=0)
    assert all(math.isnan(parameter.std_robust) for parameter in message.parameters)
    assert result_of(through_dds(message)).estimate.std_robust is None
    message = result_message(having, robot, stamp=0)
    assert [parameter.std_robust for parameter in message.parameters] == robust.tolist()
    back = result_of(through_dds(message)).estimate.std_robust
    np.testing.assert_array_equal(back, robust)


def test_good_enough_is_judged_by_the_worst_parameter(robot):
    result = made(robot, None)
    worst = float(result.estimate.relative_std_percent.max()) / 100.0
    for factor, verdict in ((1.01, True), (0.99, False)):
        message = result_message(result, robot, stamp=0, good_enough_std=factor * worst)
        assert message.good_enough is verdict


@pytest.mark.parametrize("text", ["3", "{}", "[" * 100_000, '{"threshold": null}'])
def test_a_damaged_result_is_refused(robot, text):
    message = result_message(made(robot, None), robot, stamp=0)
    message.robust = text
    with pytest.raises(ValueError, match="the message is damaged"):
        result_of(through_dds(message))


def set_columns(columns, triangle=None):
    def change(message):
        message.factors[0].columns = columns
        if triangle is not None:
            message.factors[0].triangle = triangle

    return change


def change_value(message):
    message.parameters[0].value = math.nan


def change_triangle(message):
    message.factors[1].triangle[3] = math.inf


HOSTILE = {
    "four hundred thousand columns": (set_columns([0] * 400_000, []), "0 numbers for 400000"),
    "more columns than parameters": (
        set_columns([*range(500)], [0.0] * (501 * 502 // 2)),
        "more columns than there are parameters",
    ),
    "a column twice": (lambda m: m.factors[0].columns.__setitem__(0, 1), "do not exist, or twice"),
    "a column that is not there": (
        lambda m: m.factors[0].columns.__setitem__(-1, 2**32 - 1),
        "do not exist, or twice",
    ),
    "a triangle that is too short": (lambda m: m.factors[0].triangle.pop(), "numbers for"),
    "no factors": (lambda m: m.factors.clear(), "factors of no joint"),
    "a factor missing": (lambda m: m.factors.pop(), "there must be one"),
    "factors of other joints": (lambda m: m.factors.reverse(), "there must be one"),
    "a value that is no number": (change_value, "value holds a value that is not finite"),
    "a triangle that is infinite": (change_triangle, "triangle holds a value that is not finite"),
    "an error that is no number": (
        lambda m: m.relative_error.__setitem__(0, math.nan),
        "relative_error holds a value that is not finite",
    ),
    "weights of other joints": (lambda m: m.weights.append(1.0), "weights has 3 entries"),
    "rows of other joints": (lambda m: m.rows.append(1), "rows has 3 values for 2 joints"),
    "a joint twice": (lambda m: m.joint_names.__setitem__(0, "joint_2"), "named twice: 'joint_2'"),
    "a parameter twice": (
        lambda m: setattr(m.parameters[1], "name", m.parameters[0].name),
        "a parameter is named twice",
    ),
    "a parameter that nobody knows": (
        lambda m: setattr(m.parameters[0], "leading", "XX9"),
        "XX9 is not among the standard",
    ),
    "beta of another size": (lambda m: m.beta.append(1.0), "beta has"),
    "settings that are no JSON": (
        lambda m: setattr(m.settings[0], "value", "{"),
        "Expecting property name",
    ),
    "settings of another type": (
        lambda m: setattr(m.settings[0], "value", "7"),
        "not a mapping",
    ),
    "settings that are deep": (
        lambda m: setattr(m.settings[0], "value", "[" * 60 + "]" * 60),
        "nested too deeply",
    ),
    "more than any result": (
        lambda m: m.error_history.extend([0.0] * 1_000_000),
        "more than 1000000 entries",
    ),
}


@pytest.mark.parametrize("damage", HOSTILE)
def test_a_message_that_nobody_means_well_is_refused_before_anything_is_made_of_it(robot, damage):
    change, words = HOSTILE[damage]
    message = result_message(made(robot, None), robot, stamp=0)
    change(message)
    sent = through_dds(message)
    tracemalloc.start()
    try:
        with pytest.raises(MessageError, match=words):
            result_of(sent)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_what_is_wrong_stands_first_among_the_warnings_of_a_message(robot):
    finding = Finding(Severity.MISTAKE, "effort sign", ("joint_2",), "they are negated", "turn it")
    result = dataclasses.replace(made(robot, None), findings=(finding,))
    message = through_dds(result_message(result, robot, stamp=0))
    assert list(message.warnings) == [
        "mistake: joint_2: effort sign: they are negated; turn it",
        "look here",
    ]
