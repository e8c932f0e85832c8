"""Temperatures of joints out of bags (sensor_msgs/Temperature)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_identification.files.bags.cdr.messages import read_temperature
from robot_identification.files.bags.files import foreign_errors, open_bag
from robot_identification.files.cancelling import Cancelled
from robot_identification.robot.model import RobotModel
from robot_identification.signals.temperature import StampedTemperatures

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
