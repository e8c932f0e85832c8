"""The message types of ROS 2, for bags."""

from __future__ import annotations

from functools import cache
from typing import Any

from rosbags.typesys import Stores, get_typestore

JOINT_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"


@cache
def message_types() -> Any:
    """Return the types of ROS 2 Jazzy: one store for all, which compiles each reader once."""
    return get_typestore(Stores.ROS2_JAZZY)
