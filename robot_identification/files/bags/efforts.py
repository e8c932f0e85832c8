"""Efforts that a bag holds on a topic of their own.

They are joint states (sensor_msgs/JointState), whose stamps count, or arrays without stamps and
names (std_msgs/Float64MultiArray), for which the time of recording counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_identification.errors import BagError, MissingSignalError, TopicError
from robot_identification.files.bags import joint_state_cdr
from robot_identification.files.bags.files import Bag, foreign_errors, open_bag
from robot_identification.files.bags.joint_state_columns import StateCollector
from robot_identification.files.bags.joint_states import check_finite
from robot_identification.files.bags.message_types import message_types
from robot_identification.files.cancelling import Cancelled
from robot_identification.robot.model import Array
from robot_identification.signals.efforts.separate import EffortSamples, EffortSource

ARRAY_TYPE = "std_msgs/msg/Float64MultiArray"


def read_efforts(
    path: str | Path,
    joint_names: Sequence[str],
    source: EffortSource,
    *,
    delay_needed: bool = True,
    cancelled: Cancelled | None = None,
) -> tuple[EffortSamples, tuple[str, ...]]:
    """Read separate efforts of a robot from a bag.

    Args:
        path: folder of a rosbag2, or a bare file.
        joint_names: joints of the robot, in the order wanted.
        source: their topic, and the joints of arrays without names.
        delay_needed: whether efforts without stamps need a delay.
        cancelled: asked now and then whether to give up.

    Returns:
        The efforts in the order of the bag, on the side where they were measured; warnings.

    Raises:
        BagError: the bag cannot be read, or an array is not one of the joints.
        TopicError: there are no efforts on the topic.
        JointNameError: a joint of the robot is missing.
        MissingSignalError: joint states have no effort.
        SampleError: an effort is NaN or infinite.
        SettingError: efforts have neither stamps nor a delay.
        CancelledError: ``cancelled`` says so.
    """
    names = tuple(joint_names)
    with open_bag(path, cancelled) as bag:
        known = len(bag.warnings)
        if bag.topics.get(source.topic) == ARRAY_TYPE:
            if delay_needed:
                source.require_delay()
            efforts = _arrays(bag, names, source)
        else:
            efforts = _states(bag, names, source.topic)
        check_finite("effort", efforts.effort, names)
        return efforts, tuple(bag.warnings[known:])


def _states(bag: Bag, names: tuple[str, ...], topic: str) -> EffortSamples:
    if topic not in bag.topics:
        raise TopicError(bag.path, topic, sorted(bag.topics))
    states = StateCollector(bag, topic, names).collect()
    if states.effort is None:
        raise MissingSignalError("effort", f"{bag.path}: {topic}")
    return EffortSamples(states.stamps, states.effort)


def _arrays(bag: Bag, names: tuple[str, ...], source: EffortSource) -> EffortSamples:
    columns = source.columns(names)
    joints = len(source.joint_names or names)
    messages = list(bag.messages(source.topic, ARRAY_TYPE))
    stamps = np.array([time for time, _ in messages], dtype=np.int64)
    values = _values(bag, source.topic, [message for _, message in messages], joints)
    return EffortSamples(stamps, values[:, columns])


def _values(bag: Bag, topic: str, messages: Sequence[bytes], joints: int) -> Array:
    """Return (messages, joints) the numbers of arrays.

    Messages that begin like the first one, up to the numbers, which are the last thing in them,
    are read together.
    """
    first = _parsed(bag, topic, messages[0], joints)
    size = len(messages[0])
    begin = size - 8 * joints
    little = messages[0][:2] == joint_state_cdr.LITTLE_ENDIAN
    if little and all(len(m) == size and m[:begin] == messages[0][:begin] for m in messages):
        table = np.frombuffer(b"".join(messages), dtype=np.uint8).reshape(len(messages), size)
        numbers = np.ascontiguousarray(table[:, begin:]).view("<f8").astype(np.float64)
        if np.array_equal(numbers[0], first, equal_nan=True):
            return numbers
    return np.array([_parsed(bag, topic, message, joints) for message in messages])


def _parsed(bag: Bag, topic: str, message: bytes, joints: int) -> Array:
    with foreign_errors(bag.path):
        parsed = message_types().deserialize_cdr(message, ARRAY_TYPE)
        values: Array = np.array(parsed.data, dtype=np.float64)
    if len(values) != joints:
        raise BagError(
            bag.path,
            f"an array on {topic} has {len(values)} numbers for {joints} joints; say which joints "
            "they are of",
        )
    return values
