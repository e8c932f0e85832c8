"""Subscriptions without an executor, whose messages are taken in batches on demand.

A wake-up of an executor of rclpy costs more than what is done with a joint state.  Where messages
are worked on in blocks anyway, they may as well wait in the queue of the middleware.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile

from robot_identification.ros.common import qos


class PolledSubscription:
    """Messages of a topic, kept by the middleware until they are taken.

    Args:
        node: the node that subscribes.
        kind: type of the messages.
        topic: their topic.
        profile: its quality of service, which parameters override; the depth must last from one
            ``take`` to the next.
    """

    def __init__(self, node: Node, kind: Any, topic: str, profile: QoSProfile) -> None:
        self._subscription = qos.create_subscription(
            node, kind, topic, _never, profile, callback_group=_Unwatched()
        )

    @property
    def topic(self) -> str:
        """Topic with namespace and remapping."""
        name: str = self._subscription.topic_name
        return name

    def take(self, most: int) -> Iterator[Any]:
        """Give out the messages that have come, oldest first.

        Args:
            most: number at which to stop, so that the caller gets to work on a busy topic too.
        """
        handle = self._subscription.handle
        kind, raw = self._subscription.msg_type, self._subscription.raw
        with handle:
            for _ in range(most):
                taken = handle.take_message(kind, raw)
                if taken is None:
                    return
                yield taken[0]


class _Unwatched(CallbackGroup):
    """Keeps its entities out of every executor."""

    def can_execute(self, _entity: Any) -> bool:
        return False

    def beginning_execution(self, _entity: Any) -> bool:
        return False

    def ending_execution(self, _entity: Any) -> None:
        return


def _never(_message: Any) -> None:
    return
