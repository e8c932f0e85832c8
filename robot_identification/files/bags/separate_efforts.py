"""Efforts out of bags that have a topic of their own.

They are joint states (sensor_msgs/JointState), whose stamps count, or arrays without stamps and
names (std_msgs/Float64MultiArray), for which the time of recording counts, as it does for joint
states all of whose stamps are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_identification.errors import BagError, MissingSignalError, TopicError
from robot_identification.files.bags.cdr.messages import read_array
from robot_identification.files.bags.cdr.values import LITTLE_ENDIAN
from robot_identification.files.bags.files import Bag, foreign_errors, open_bag
from robot_identification.files.bags.joint_states.columns import collected
from robot_identification.files.bags.joint_states.refusals import Refusals
from robot_identification.files.cancelling import Cancelled
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.signals.efforts.separate import (
    EffortSamples,
    EffortSource,
    MergeCounts,
    merge_efforts,
)
from robot_identification.signals.raw_samples import RawSamples

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
        SampleError: more than half of the efforts are NaN or infinite.
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
            efforts = _states(bag, names, source, delay_needed=delay_needed)
        refusals = Refusals(f"{bag.path}: {source.topic}", names, "efforts")
        kept = refusals.kept({"effort": efforts.effort})
        bag.warnings += refusals.told()
        if refusals.count:
            efforts = EffortSamples(efforts.stamps[kept], efforts.effort[kept])
        return efforts, tuple(bag.warnings[known:])


def _states(
    bag: Bag, names: tuple[str, ...], source: EffortSource, *, delay_needed: bool
) -> EffortSamples:
    """Return the efforts of joint states; those without stamps are read like arrays."""
    topic = source.topic
    if topic not in bag.topics:
        raise TopicError(bag.path, topic, sorted(bag.topics))
    states, recorded = collected(bag, topic, names)
    if recorded and delay_needed:
        source.require_delay()
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
    little = messages[0][:2] == LITTLE_ENDIAN
    if little and all(len(m) == size and m[:begin] == messages[0][:begin] for m in messages):
        table = np.frombuffer(b"".join(messages), dtype=np.uint8).reshape(len(messages), size)
        numbers = np.ascontiguousarray(table[:, begin:]).view("<f8").astype(np.float64)
        if np.array_equal(numbers[0], first, equal_nan=True):
            return numbers
    return np.array([_parsed(bag, topic, message, joints) for message in messages])


def _parsed(bag: Bag, topic: str, message: bytes, joints: int) -> Array:
    with foreign_errors(bag.path):
        values = read_array(message)
    if len(values) != joints:
        raise BagError(
            bag.path,
            f"an array on {topic} has {len(values)} numbers for {joints} joints; say which joints "
            "they are of",
        )
    return values


def with_efforts_of(
    path: str | Path,
    robot: RobotModel,
    samples: RawSamples,
    source: EffortSource,
    delay_needed: bool,
    cancelled: Cancelled | None,
) -> tuple[RawSamples, list[str]]:
    """Return samples with the efforts of a topic of their own, and what there is to be told."""
    efforts, told = read_efforts(
        path, robot.active_names, source, delay_needed=delay_needed, cancelled=cancelled
    )
    merged, counts = merge_efforts(samples, efforts, source.delay, source=str(path))
    return merged, [*told, *_merge_warnings(path, source.topic, counts)]


def _merge_warnings(path: str | Path, topic: str, counts: MergeCounts) -> list[str]:
    lines = []
    if counts.without_effort:
        lines.append(
            f"{path}: {counts.without_effort} joint states have no effort on {topic} and were left "
            f"out; the efforts have {counts.gaps} gaps"
        )
    if counts.duplicates or counts.out_of_order:
        lines.append(
            f"{path}: of {counts.efforts} efforts on {topic}, {counts.duplicates} were duplicates "
            f"and {counts.out_of_order} out of order"
        )
    return lines
