import numpy as np
import pytest
from sensor_msgs.msg import JointState

from robot_identification.errors import (
    JointNameError,
    MissingSignalError,
    RecordingError,
    SampleError,
    ShapeError,
)
from robot_identification.ros.common.joint_states import JointStateReader
from robot_identification.ros.messages.common import time_of

NAMES = ("a", "b", "c")


def state(names=NAMES, position=(1.0, 2.0, 3.0), velocity=(), effort=(4.0, 5.0, 6.0), stamp=7):
    message = JointState(
        name=list(names), position=list(position), velocity=list(velocity), effort=list(effort)
    )
    message.header.stamp = time_of(stamp)
    return message


def read(message, number=0):
    return JointStateReader(NAMES, "/joint_states").read(message, number)


def test_joints_are_mapped_by_name_in_every_message():
    reader = JointStateReader(NAMES, "/joint_states")
    straight = reader.read(state(stamp=2_000_000_003), 0)
    other = state(("c", "x", "a", "b"), (3.0, np.nan, 1.0, 2.0), (), (6.0, np.nan, 4.0, 5.0))
    permuted = reader.read(other, 1)
    assert straight.stamp == 2_000_000_003
    np.testing.assert_array_equal(straight.position, permuted.position)
    np.testing.assert_array_equal(straight.effort, permuted.effort)
    np.testing.assert_array_equal(reader.read(state(), 2).effort, straight.effort)


@pytest.mark.parametrize(
    ("message", "error", "text"),
    [
        (state(effort=()), MissingSignalError, "no effort"),
        (state(position=()), MissingSignalError, "no position"),
        (state(effort=(1.0, np.nan, 2.0)), SampleError, "effort of joint b is nan at sample 5"),
        (state(position=(np.inf, 0.0, 0.0)), SampleError, "position of joint a is inf"),
        (state(names=("a", "b", "x")), JointNameError, "joint c of the robot"),
        (state(names=("a", "b", "c", "a"), position=(0.0,) * 4), RecordingError, "named twice"),
        (state(effort=(1.0, 2.0)), ShapeError, "one per name"),
    ],
)
def test_what_is_of_no_use_is_refused_with_a_reason(message, error, text):
    with pytest.raises(error, match=text):
        read(message, 5)


@pytest.mark.parametrize("velocity", [(), (1.0,), (1.0, np.nan, 2.0)])
def test_velocity_is_optional(velocity):
    assert read(state(velocity=velocity)).velocity is None
    np.testing.assert_array_equal(read(state(velocity=(1.0, 2.0, 3.0))).velocity, [1.0, 2.0, 3.0])


def test_a_gripper_with_states_of_its_own_does_not_concern_the_robot_and_tells_where_it_stands():
    reader = JointStateReader(NAMES, "/joint_states")
    reader.read(state(), 0)
    gripper = state(("finger", "pad"), (0.03, 0.0), (), ())
    assert not reader.concerns(gripper)
    assert reader.concerns(state())
    assert reader.position_of(gripper, "finger") == 0.03
    assert reader.position_of(gripper, "lift") is None
    assert reader.position_of(state(("finger", "pad"), (), (), ()), "finger") is None
