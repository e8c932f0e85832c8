"""Subscriptions that no executor looks at: their messages are taken in batches, when it suits.

A wake-up of an executor of rclpy costs more than what is done with a joint state.  Where messages
are worked on in blocks anyway, they may as well wait in the queue of the middleware.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription


class Raw(NamedTuple):
    """A serialised message, and when it was sent, in ns since the epoch of the system's clock."""

    message: bytes
    sent: int


class PolledSubscription:
    """Messages of a topic, kept by the middleware until they are taken.

    Events of the subscription, such as an incompatible quality of service, are still seen by a
    single-threaded or multi-threaded executor.  An events executor takes messages by itself, and
    does not go with this.

    Args:
        node: the node that subscribes.
        kind: type of the messages.
        topic: their topic.
        profile: its quality of service; the depth must last from one ``take`` to the next.
        raw: whether messages are given out as they are serialised, by ``take_raw``.
        events: called when something happens to the subscription.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        topic: str,
        profile: QoSProfile,
        *,
        raw: bool = False,
        events: SubscriptionEventCallbacks | None = None,
    ) -> None:
        self._node = node
        self._subscription = node.create_subscription(
            kind,
            topic,
            _never,
            profile,
            callback_group=_Unwatched(),
            event_callbacks=events,
            raw=raw,
        )

    @property
    def topic_name(self) -> str:
        """Topic with namespace and remapping."""
        name: str = self._subscription.topic_name
        return name

    def destroy(self) -> None:
        """Subscribe no longer."""
        self._node.destroy_subscription(self._subscription)

    def take(self, most: int) -> Iterator[Any]:
        """Give out the messages that have come, oldest first.

        Args:
            most: number at which to stop, so that the caller gets to work on a busy topic too.
        """
        for message, _ in self._take(most):
            yield message

    def take_raw(self, most: int) -> Iterator[Raw]:
        """Give out the messages that have come as they are serialised, oldest first.

        Args:
            most: number at which to stop.
        """
        for message, info in self._take(most):
            yield Raw(message, info["source_timestamp"])

    def _take(self, most: int) -> Iterator[Any]:
        handle = self._subscription.handle
        kind, raw = self._subscription.msg_type, self._subscription.raw
        with handle:
            for _ in range(most):
                taken = handle.take_message(kind, raw)
                if taken is None:
                    return
                yield taken


class _Unwatched(CallbackGroup):
    """Keeps subscriptions, but not their events, out of every executor."""

    def can_execute(self, entity: Any) -> bool:
        return not isinstance(entity, Subscription)

    def beginning_execution(self, entity: Any) -> bool:
        return not isinstance(entity, Subscription)

    def ending_execution(self, _entity: Any) -> None:
        return


def _never(_message: Any) -> None:
    return
