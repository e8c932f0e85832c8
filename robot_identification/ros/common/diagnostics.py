"""Statuses on /diagnostics in one form: name of the node and its part, robot, values."""

from __future__ import annotations

from collections.abc import Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from robot_identification.ros.common import qos

OK, WARN = DiagnosticStatus.OK, DiagnosticStatus.WARN
ERROR, STALE = DiagnosticStatus.ERROR, DiagnosticStatus.STALE


def status_of(
    node: Node,
    level: bytes,
    message: str,
    values: Mapping[str, object],
    *,
    part: str = "",
    robot: str = "",
) -> DiagnosticStatus:
    """Return the status of a node, or of a part of it.

    Args:
        node: whose status it is.
        level: :data:`OK`, :data:`WARN`, :data:`ERROR` or :data:`STALE`.
        message: for people.
        values: by name, for programs.
        part: of the node, such as ``joint states``; the whole node where it is empty.
        robot: its name, the hardware to which the status belongs.
    """
    name = node.get_fully_qualified_name()
    return DiagnosticStatus(
        level=level,
        name=f"{name}: {part}" if part else name,
        hardware_id=robot,
        message=message,
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
    )


class DiagnosticsPublisher:
    """Publishes on /diagnostics.

    Args:
        node: that publishes.
    """

    def __init__(self, node: Node) -> None:
        self._clock = node.get_clock()
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.STATUS)

    def publish(self, *statuses: DiagnosticStatus) -> None:
        """Publish statuses in one message, stamped now by the clock of the node."""
        report = DiagnosticArray(status=statuses)
        report.header.stamp = self._clock.now().to_msg()
        self._publisher.publish(report)

    def wait_until_read(self) -> None:
        """Wait for readers that are still there, as a node does before it ends."""
        self._publisher.wait_for_all_acked(qos.ARRIVED_WITHIN)
