"""A participant of DDS that clients in the process of the tests share, and that stays.

Fast DDS may wait for ever, with Python's lock held, where a participant is destroyed while others
come and go, as nodes of tests do all the time.  A client that waits so is ended with its process
after half a minute, which here would be that of the tests.
"""

import os

import rclpy

_READ_BY_A_PARTICIPANT = ("ROS_", "RMW_", "FAST")
_READ_BY_LOGS = ("ROS_HOME", "ROS_LOG_DIR")


def _environment():
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_READ_BY_A_PARTICIPANT) and name not in _READ_BY_LOGS
    }


class _StayingContext(rclpy.Context):
    """A context that clients do not shut down."""

    def try_shutdown(self):
        pass


class SharedParticipant:
    """Contexts of clients: the same for all in the environment of now, a new one in any other.

    Args:
        enter: makes the context of a client in a domain, None for that of the environment.
    """

    def __init__(self, enter):
        self._enter = enter
        self._environment = _environment()
        self._context = self._node = None

    def enter(self, domain=None):
        """Return the context of one more client."""
        if domain is not None or _environment() != self._environment:
            return self._enter(domain)
        if self._context is None:
            self._context = _StayingContext()
            rclpy.init(context=self._context)
            self._node = rclpy.create_node("tests", context=self._context, enable_rosout=False)
        return self._context

    def close(self):
        """Destroy the participant, when all others have gone."""
        if self._context is not None:
            self._node.destroy_node()
            super(_StayingContext, self._context).try_shutdown()
