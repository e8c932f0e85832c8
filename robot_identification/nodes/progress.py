"""Progress of long work as messages, at a rate that people can follow."""

from __future__ import annotations

import math
import time

from rclpy.node import Node
from rclpy.publisher import Publisher

from robot_identification.msg import Progress

_PERIOD = 0.1


class ProgressReporter:
    """Publishes what long work reports: every new stage, else ten times a second at most.

    Args:
        node: the node, for its clock.
        publisher: publisher of Progress.
        robot: name of the robot.
    """

    def __init__(self, node: Node, publisher: Publisher, robot: str) -> None:
        self._node = node
        self._publisher = publisher
        self._robot = robot
        self._stage = ""
        self._sent = -math.inf

    def __call__(self, stage: str, fraction: float) -> None:
        """Report a stage and the share of the work that is done, 0 to 1."""
        now = time.monotonic()
        if stage == self._stage and fraction < 1.0 and now < self._sent + _PERIOD:
            return
        self._stage, self._sent = stage, now
        message = Progress(
            robot=self._robot,
            stage=stage,
            fraction=float(fraction),
            relative_error_total=math.nan,
            text=f"{stage}: {100.0 * fraction:.0f} %",
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
