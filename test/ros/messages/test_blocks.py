import math

import numpy as np
import pytest

from robot_identification import msg
from robot_identification.errors import RecordingError, SettingError
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.ros.messages.blocks import block_message, raw_block, why_not_of
from robot_identification.signals.raw_samples import RawSamples
from sent_messages import compare, through_dds


@pytest.fixture(scope="module")
def robot():
    return load_robot("scara")


@pytest.mark.parametrize("velocity", [True, False])
def test_a_block_survives_the_way_through_a_message(robot, velocity):
    values = np.array([[1.0, -0.0], [math.pi, 1e-300], [3.0, 4.0]])
    stamps = np.array([10**18, 10**18 + 1, 10**18 + 2], dtype=np.int64)
    raw = RawSamples(stamps, values, values if velocity else None, 2.0 * values)
    block = Block("r", 4, 100, True, raw, Counts(received=103, lost=2))
    message = through_dds(block_message(block, robot))
    assert message.effort_meaning == robot.effort_meaning.value
    compare(block, raw_block(message))


def test_an_empty_last_block_keeps_its_shape(robot):
    none = np.empty((0, 2))
    block = Block("r", 4, 100, True, RawSamples(np.empty(0, np.int64), none, None, none), Counts())
    assert raw_block(block_message(block, robot)).samples.effort.shape == (0, 2)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"robot": "arm"}, "samples of robot arm ignored: this node is for scara"),
        ({"joint_names": ["a", "b"]}, "they are of a, b, and here it has joint_1, joint_2; start"),
        ({"joint_names": ["a" * 10**6]}, "start all nodes with the same robot file"),
    ],
)
def test_samples_of_another_robot_are_told_by_what_is_other(robot, other, told):
    own = {"robot": "scara", "joint_names": ["joint_1", "joint_2"]}
    assert not why_not_of(robot, msg.SampleBlock(**own))
    found = why_not_of(robot, msg.SampleBlock(**own | other))
    assert told in found
    assert len(found) < 1000


def test_a_block_with_too_few_values_is_an_error():
    block = msg.SampleBlock(
        recording="r", joint_names=["a"], stamps=[1, 2], position=[0.0], effort=[0.0, 0.0]
    )
    with pytest.raises(RecordingError, match="cannot be unnamed"):
        raw_block(block)
    block.effort_meaning = "current"
    with pytest.raises(RecordingError, match="1 values in a block of 2 samples"):
        raw_block(block)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"effort": [0.0, math.nan]}, "effort of a block holds a value that is not finite"),
        ({"position": [math.inf, 0.0]}, "position of a block holds a value that is not finite"),
        ({"velocity": [0.0, math.nan]}, "velocity of a block holds a value that is not finite"),
        ({"velocity": [0.0]}, "velocity: 1 values in a block of 2 samples"),
        ({"reference_position": [0.0] * 3}, "reference_position: 3 values"),
        ({"effort": []}, "effort: 0 values in a block of 2 samples"),
        ({"stamps": [2, 2]}, "stamps of a block must rise"),
        ({"stamps": [2, 1]}, "stamps of a block must rise"),
        ({"stamps": [-1, 1]}, "of no clock"),
        ({"stamps": [1, 2**63 - 1]}, "of no clock"),
        ({"stamps": [], "position": [], "effort": []}, "without samples that is not the last"),
        ({"recording": ""}, "recording of a block cannot be ''"),
        ({"recording": "r" * 256}, "recording of a block cannot be"),
        ({"recording": "a\nb"}, "recording of a block cannot be"),
        ({"effort_topic": "t" * 256}, "effort_topic of a block cannot be"),
    ],
)
def test_a_block_that_no_acquisition_node_sends_is_an_error(change, words):
    fields = {
        "recording": "r",
        "effort_meaning": "current",
        "joint_names": ["a"],
        "stamps": [1, 2],
        "position": [0.0, 1.0],
        "effort": [0.0, 1.0],
    }
    assert len(raw_block(msg.SampleBlock(**fields)).samples.stamps) == 2
    with pytest.raises(RecordingError, match=words):
        raw_block(through_dds(msg.SampleBlock(**fields | change)))


@pytest.mark.parametrize("delay", [math.nan, math.inf, 2.0])
def test_the_delay_of_efforts_lies_within_a_second(robot, delay):
    one = np.zeros((1, 2))
    raw = RawSamples(np.array([1]), one, None, one)
    message = block_message(Block("r", 0, 0, False, raw, Counts()), robot)
    message.effort_delay = delay
    with pytest.raises(SettingError, match="effort_delay"):
        raw_block(message)


def test_a_reference_that_is_no_number_is_none():
    block = msg.SampleBlock(
        recording="r",
        effort_meaning="current",
        joint_names=["a"],
        stamps=[1, 2],
        position=[0.0, 1.0],
        effort=[0.0, 1.0],
        reference_position=[0.0, math.nan],
    )
    found = raw_block(through_dds(block)).samples
    assert found.reference is None
    assert found.position.tolist() == [[0.0], [1.0]]
