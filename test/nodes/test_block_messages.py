import math

import numpy as np
import pytest

from robot_identification import msg
from robot_identification.errors import RecordingError
from robot_identification.nodes.block_messages import block_message, raw_block
from robot_identification.nodes.recorder import Block, Counts
from robot_identification.robot.loading import load_robot
from robot_identification.signals.recording import RawSamples
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


def test_a_block_with_too_few_values_is_an_error():
    block = msg.SampleBlock(joint_names=["a"], stamps=[1, 2], position=[0.0], effort=[0.0, 0.0])
    with pytest.raises(RecordingError, match="cannot be unnamed"):
        raw_block(block)
    block.effort_meaning = "current"
    with pytest.raises(RecordingError, match="1 values in a block of 2 samples"):
        raw_block(block)
