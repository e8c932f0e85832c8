"""Participants of DDS that clients and nodes in the process of the tests share, and that stay.

Fast DDS may wait for ever, with Python's lock held, where a participant is destroyed while others
come and go, as nodes of tests do all the time.  A client that waits so is ended with its process
after half a minute, which here would be that of the tests; a node would keep them from ending.
"""

import os

import rclpy

from robot_identification.ros.common.middleware import use_own_profiles

_READ_BY_A_PARTICIPANT = ("ROS_", "RMW_", "FAST")
_READ_BY_LOGS = ("ROS_HOME", "ROS_LOG_DIR")


def _environment():
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_READ_BY_A_PARTICIPANT) and name not in _READ_BY_LOGS
    }


class _StayingContext(rclpy.Context):
    """A context that clients and nodes do not shut down."""

    def try_shutdown(self):
        pass


class SharedParticipants:
    """Contexts of clients: the same for all in one environment and domain."""

    def __init__(self):
        self._made = {}

    def enter(self, domain=None):
        """Return the context of one more client or node, None for the domain of the environment."""
        use_own_profiles()
        key = (domain, *sorted(_environment().items()))
        if key not in self._made:
            context = _StayingContext()
            rclpy.init(args=[], context=context, domain_id=domain)
            node = rclpy.create_node("tests", context=context, enable_rosout=False)
            self._made[key] = context, node
        return self._made[key][0]

    def close(self):
        """Destroy the participants, when all others have gone."""
        for context, node in self._made.values():
            node.destroy_node()
            super(_StayingContext, context).try_shutdown()
        self._made.clear()


SHARED = SharedParticipants()
