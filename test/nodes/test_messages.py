import dataclasses
import math

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message

from robot_identification import msg
from robot_identification.errors import RecordingError
from robot_identification.identification import least_squares
from robot_identification.identification.base import base_parameters
from robot_identification.identification.essential import eliminate
from robot_identification.identification.factor import JointFactor
from robot_identification.identification.least_squares import RelativeError
from robot_identification.identification.result import IdentificationResult, Regrouping, Source
from robot_identification.nodes import messages
from robot_identification.nodes.recorder import Block, Counts
from robot_identification.robot.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import RawSamples


@pytest.fixture(scope="module")
def robot():
    return load_robot("scara")


def through_dds(message):
    return deserialize_message(serialize_message(message), type(message))


def result_of(robot, held_out):
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


@pytest.mark.parametrize("held_out", [None, RelativeError(0.2, np.array([0.1, 0.3]))])
def test_a_result_survives_the_way_through_a_message(robot, held_out):
    result = result_of(robot, held_out)
    message = messages.result_message(result, robot, stamp=5_000_000_006)
    back = messages.result_of(through_dds(message))
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (5, 6)
    for field in dataclasses.fields(IdentificationResult):
        compare(getattr(result, field.name), getattr(back, field.name))


def compare(one, other):
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            compare(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            compare(a, b)
    else:
        assert one == other


def test_a_message_tells_the_essential_parameters(robot):
    result = result_of(robot, None)
    every = through_dds(messages.result_message(result, robot, stamp=0))
    assert all(parameter.essential for parameter in every.parameters)
    assert messages.result_of(every).elimination is None
    weights = result.estimate.weights
    found = eliminate(result.factors, result.regrouping.names, weights, threshold=2.0)
    assert not found.kept.all()
    few = dataclasses.replace(result, estimate=found.estimate, elimination=found)
    message = through_dds(messages.result_message(few, robot, stamp=0))
    assert [parameter.essential for parameter in message.parameters] == found.kept.tolist()
    back = messages.result_of(message)
    np.testing.assert_array_equal(back.elimination.kept, found.kept)
    np.testing.assert_array_equal(back.elimination.estimate.values, found.estimate.values)


def test_a_result_says_how_parameters_are_grouped(robot):
    message = messages.result_message(result_of(robot, None), robot, stamp=0)
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
    without = result_of(robot, None)
    robust = 2.0 * without.estimate.std
    estimate = dataclasses.replace(without.estimate, std_robust=robust)
    having = dataclasses.replace(without, estimate=estimate)
    message = messages.result_message(without, robot, stamp=0)
    assert all(math.isnan(parameter.std_robust) for parameter in message.parameters)
    assert messages.result_of(through_dds(message)).estimate.std_robust is None
    message = messages.result_message(having, robot, stamp=0)
    assert [parameter.std_robust for parameter in message.parameters] == robust.tolist()
    back = messages.result_of(through_dds(message)).estimate.std_robust
    np.testing.assert_array_equal(back, robust)


def test_good_enough_is_judged_by_the_worst_parameter(robot):
    result = result_of(robot, None)
    worst = float(result.estimate.relative_std_percent.max()) / 100.0
    for factor, verdict in ((1.01, True), (0.99, False)):
        message = messages.result_message(result, robot, stamp=0, good_enough_std=factor * worst)
        assert message.good_enough is verdict


@pytest.mark.parametrize("text", ["3", "{}", "[" * 100_000, '{"threshold": null}'])
def test_a_damaged_result_is_refused(robot, text):
    message = messages.result_message(result_of(robot, None), robot, stamp=0)
    message.robust = text
    with pytest.raises(ValueError, match="the message is damaged"):
        messages.result_of(through_dds(message))


@pytest.mark.parametrize("velocity", [True, False])
def test_a_block_survives_the_way_through_a_message(robot, velocity):
    values = np.array([[1.0, -0.0], [math.pi, 1e-300], [3.0, 4.0]])
    stamps = np.array([10**18, 10**18 + 1, 10**18 + 2], dtype=np.int64)
    raw = RawSamples(stamps, values, values if velocity else None, 2.0 * values)
    block = Block("r", 4, 100, True, raw, Counts(received=103, lost=2))
    message = through_dds(messages.block_message(block, robot))
    assert message.effort_meaning == robot.effort_meaning.value
    compare(block, messages.raw_block(message))


def test_an_empty_last_block_keeps_its_shape(robot):
    none = np.empty((0, 2))
    block = Block("r", 4, 100, True, RawSamples(np.empty(0, np.int64), none, None, none), Counts())
    assert messages.raw_block(messages.block_message(block, robot)).samples.effort.shape == (0, 2)


def test_a_block_with_too_few_values_is_an_error():
    block = msg.SampleBlock(joint_names=["a"], stamps=[1, 2], position=[0.0], effort=[0.0, 0.0])
    with pytest.raises(RecordingError, match="cannot be unnamed"):
        messages.raw_block(block)
    block.effort_meaning = "current"
    with pytest.raises(RecordingError, match="1 values in a block of 2 samples"):
        messages.raw_block(block)


def test_settings_that_are_not_said_stay_open():
    assert messages.processing_of(msg.ProcessingSettings()) == ProcessingSettings()
    stated = msg.ProcessingSettings(
        cutoff_hz=5.0,
        filter_order=4,
        difference_order=2,
        rate_hz=50.0,
        velocity_threshold=[0.0],
        velocity_threshold_window=0.5,
        velocity_threshold_scope="sample",
        drop_start=0,
        drop_end=7,
        ends="keep",
        residual_divisor="rows-1",
    )
    told = messages.processing_of(stated)
    for name in stated.get_fields_and_field_types():
        value = getattr(stated, name)
        if name != "difference_order":
            assert getattr(told, name) == (tuple(value) if name == "velocity_threshold" else value)
