"""Sending of commands to the controller, and once more what could not be sent."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from robot_identification.ros.controllers.transport import Transport
from robot_identification.ros.excitation.point_efforts import PointEfforts
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.phases import Command


class CommandSender:
    """Sends the commands of motions, with efforts in their points where these are wanted.

    Args:
        node: the node.
        efforts: puts efforts into the points of what is sent.
        transport: what motions go by until they choose.
        now: returns the present moment.

    Attributes:
        transport: what the last motion goes by.
        unsent: the command that could not be sent yet; None: there is none.
    """

    def __init__(
        self, node: Node, efforts: PointEfforts, transport: Transport, *, now: Callable[[], Instant]
    ) -> None:
        self._node, self._efforts, self._now = node, efforts, now
        self.transport = transport
        self.unsent: Command | None = None

    def send(self, command: Command) -> str:
        """Send a command; return why that is needless, empty where it is not.

        Args:
            command: what to follow, from when on, and whether that is braking.

        Raises:
            Exception: whatever the middleware does not manage; nothing is kept for later.
        """
        needless, sent = "", self._efforts.added(command)
        if sent.braking:
            needless = self.transport.brake(sent, self._now())
        else:
            self.transport.follow(sent)
        self.unsent = None
        return needless

    def send_or_keep(self, command: Command) -> str:
        """Send a command now, or keep it to be tried again; return why that is needless.

        Args:
            command: as for :meth:`send`.
        """
        self.unsent = command
        try:
            return self.send(command)
        except Exception as error:  # noqa: BLE001
            # A braking trajectory that does not go out is tried again with the next look.
            self._node.get_logger().error(
                f"a trajectory could not be published: {error!r}", throttle_duration_sec=1.0
            )
            return ""
