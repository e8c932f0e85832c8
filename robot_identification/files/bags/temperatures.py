"""Temperatures of joints out of bags: messages of their own, or interfaces of the joints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from robot_identification.errors import JointNameError
from robot_identification.files.bags.cdr.dynamic_states import INTERFACES
from robot_identification.files.bags.cdr.dynamic_states import MESSAGE_TYPE as DYNAMIC_STATE
from robot_identification.files.bags.cdr.messages import read_temperature
from robot_identification.files.bags.files import foreign_errors, open_bag
from robot_identification.files.bags.joint_states.columns import StateCollector
from robot_identification.files.cancelling import Cancelled
from robot_identification.robot.model import RobotModel
from robot_identification.signals.temperature import StampedTemperatures, of_samples, thinned

MESSAGE_TYPE = "sensor_msgs/msg/Temperature"


def read_temperatures(
    path: str | Path, robot: RobotModel, cancelled: Cancelled | None = None
) -> dict[str, StampedTemperatures]:
    """Read the temperatures that the friction of a robot depends on.

    Args:
        path: folder of a rosbag2, or a bare .db3 or .mcap file.
        robot: says which joints have a topic of temperatures.
        cancelled: asked now and then whether to give up.

    Returns:
        name of a joint -> its temperatures, for joints with a topic; stamps are those of the
        headers, or times of recording where a header has none.

    Raises:
        BagError: the bag cannot be read.
        TopicError: there are no temperatures on a topic.
        CancelledError: ``cancelled`` says so.
    """
    found = {}
    for joint in robot.joints:
        if joint.temperature is None or not joint.temperature.topic:
            continue
        topic = joint.temperature.topic
        stamps, values = [], []
        with open_bag(path, cancelled) as bag:
            for recorded, raw in bag.messages(topic, MESSAGE_TYPE):
                with foreign_errors(bag.path):
                    stamp, temperature = read_temperature(raw)
                stamps.append(stamp or recorded)
                values.append(temperature)
        found[joint.name] = StampedTemperatures(
            np.array(stamps, dtype=np.int64), np.array(values, dtype=np.float64)
        )
    return found


def joints_with_interfaces(robot: RobotModel) -> tuple[str, ...]:
    """Return the joints whose friction depends on a temperature that has no topic of its own."""
    return tuple(
        joint.name
        for joint in robot.joints
        if joint.temperature is not None and not joint.temperature.topic
    )


def read_dynamic_temperatures(
    path: str | Path,
    robot: RobotModel,
    topic: str,
    interfaces: Mapping[str, str] = INTERFACES,
    cancelled: Cancelled | None = None,
) -> dict[str, StampedTemperatures]:
    """Read temperatures of joints that are interfaces beside joint states of another type.

    Args:
        path: folder of a rosbag2, or a bare .db3 or .mcap file.
        robot: says which joints need them.
        topic: of the joint states, which are taken from elsewhere.
        interfaces: signal -> name of its interface.
        cancelled: asked now and then whether to give up.

    Returns:
        name of a joint -> its temperatures; of joints that need them and have them in the one
        other topic of control_msgs/DynamicJointState.  Nothing where there are several.

    Raises:
        BagError: the bag cannot be read.
        CancelledError: ``cancelled`` says so.
    """
    names = joints_with_interfaces(robot)
    if not names:
        return {}
    with open_bag(path, cancelled) as bag:
        kinds = bag.topics.items()
        topics = [name for name, kind in kinds if kind == DYNAMIC_STATE and name != topic]
        if len(topics) != 1:
            return {}
        try:
            states = StateCollector(bag, topics[0], names, DYNAMIC_STATE, interfaces).collect()
        except JointNameError:
            return {}  # of another robot
    if states.temperature is None:
        return {}
    own = of_samples(names, states.stamps, states.temperature)
    return {name: thinned(one) for name, one in own.items()}
