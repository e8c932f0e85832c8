"""Names of the interfaces of controllers, and what is said where one of them is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from robot_identification.errors import SettingError

AUTO, ACTION, TOPIC = INTERFACES = ("auto", "action", "topic")

FOLLOWED = "followed_trajectory"
"""Topic of the trajectories that a controller has accepted by its action."""


_Loaded = TypeVar("_Loaded")


def if_wanted(interface: str, load: Callable[[], _Loaded]) -> _Loaded | None:
    """Load what needs control_msgs; None where the action is not wanted, or cannot be served.

    Args:
        interface: one of :data:`INTERFACES`.
        load: imports it.

    Raises:
        SettingError: the action is asked for, and control_msgs is missing.
    """
    if interface == TOPIC:
        return None
    try:
        return load()
    except ModuleNotFoundError as error:
        if interface == ACTION:
            raise SettingError(
                "interface",
                interface,
                "needs the interfaces of control_msgs, which are not installed: apt-get install "
                "ros-$ROS_DISTRO-control-msgs, and source that ROS; or choose topic",
            ) from error
        return None
