"""Responses of services that their clients do not get at once are sent again.

A client may ask before the middleware of the node has found where the client takes responses.  The
middleware waits a tenth of a second for that, which is not always enough on a busy machine or in a
wireless network; after that the response is lost, and rclpy only warns (issue 842 of rmw_fastrtps).
The client would wait for ever.  Sent again, the response arrives.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

_LOST = "failed to send response (timeout)"
_WAITS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
"""Times in s between attempts; each of these may take a tenth of a second."""
_GONE = (rclpy_implementation.InvalidHandle, rclpy_implementation.RCLError)
"""The service, or all that the process has of ROS, is no more."""
_ONE_AT_A_TIME = threading.RLock()
"""What is warned of is told by the process, not by the thread."""


class KeptAnswers:
    """Sends what services of a node answer until it arrives, or its client is long gone.

    Args:
        node: the node; services that it is given later are left as they are.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._group = ReentrantCallbackGroup()
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)
        for service in node.services:
            name = node.resolve_service_name(service.srv_name)
            service.send_response = partial(self._send, name, service.send_response)

    def _send(
        self,
        name: str,
        send: Callable[[Any, Any], None],
        response: Any,
        header: Any,
        attempt: int = 0,
    ) -> None:
        """Send a response, and again a little later where it is lost."""
        if _arrives(partial(send, response, header)):
            return
        if attempt == len(_WAITS):
            self._node.get_logger().warning(
                f"{name}: the client of a request cannot be reached; its response is lost"
            )
            return
        again = partial(self._send, name, send, response, header, attempt + 1)

        def once() -> None:
            timer.cancel()
            self._node.destroy_timer(timer)
            with suppress(*_GONE):
                again()

        timer = self._node.create_timer(_WAITS[attempt], once, self._group, self._clock)


def _arrives(send: Callable[[], None]) -> bool:
    """Send, and return whether the middleware knows where to; other warnings are passed on."""
    with _ONE_AT_A_TIME:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            send()
        others = [one for one in told if _LOST not in str(one.message)]
    for one in others:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return len(others) == len(told)
