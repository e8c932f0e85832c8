"""Subscription to a driver's topic, whatever reliability the driver offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_policy_name_from_kind
from rclpy.subscription import Subscription

from robot_identification.ros.common import qos


class Listener:
    """Hands on the messages of a topic, and subscribes again with best effort where it has to.

    What is best available is settled when a subscription is made, often before the driver of the
    robot has started.

    Attributes:
        incompatible: what does not fit in the quality of service of a publisher, empty if nothing.
        lost: messages that the middleware lost.

    Args:
        node: the node that subscribes.
        kind: type of the messages.
        topic: their topic.
        callback: given every message.
    """

    def __init__(self, node: Node, kind: Any, topic: str, callback: Callable[[Any], None]) -> None:
        self._node = node
        self._callback = callback
        self._kind = kind
        self._name = topic
        self.incompatible = ""
        self.lost = 0
        self._lossy = False
        self._subscription = self._subscribe(qos.STATES_IN)

    def _subscribe(self, profile: QoSProfile) -> Subscription:
        return self._node.create_subscription(
            self._kind,
            self._name,
            self._callback,
            profile,
            event_callbacks=SubscriptionEventCallbacks(
                incompatible_qos=self._on_incompatible_qos, message_lost=self._on_message_lost
            ),
        )

    @property
    def topic(self) -> str:
        """Topic with namespace and remapping."""
        name: str = self._subscription.topic_name
        return name

    def listen_to_lossy_publishers(self) -> None:
        """Subscribe again, once, if a publisher does not offer reliable messages."""
        if self.incompatible and not self._lossy:
            self._lossy = True
            self._node.destroy_subscription(self._subscription)
            self._subscription = self._subscribe(qos.STATES_IN_LOSSY)
            self.incompatible = ""
            self._node.get_logger().warning(f"{self._name}: subscribed again with best effort")

    def _on_incompatible_qos(self, event: object) -> None:
        kind = event.last_policy_kind  # type: ignore[attr-defined]
        self.incompatible = f"a publisher offers an incompatible {qos_policy_name_from_kind(kind)}"
        self._node.get_logger().error(f"{self._name}: {self.incompatible}")

    def _on_message_lost(self, event: object) -> None:
        self.lost = event.total_count  # type: ignore[attr-defined]
