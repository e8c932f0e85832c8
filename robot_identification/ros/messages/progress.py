"""Progress of long work as messages, at a rate that people can follow."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher

from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.msg import Progress

_PERIOD = 0.1


class ProgressReporter:
    """Publishes what long work reports: every new stage, else ten times a second at most.

    Args:
        node: the node, for its clock.
        publisher: publisher of Progress.
        robot: name of the robot.
        joint_names: joints of the errors that iterations report.
        listener: told every message as well; for whoever has given the work.
    """

    def __init__(
        self,
        node: Node,
        publisher: Publisher,
        robot: str,
        joint_names: Sequence[str] = (),
        listener: Callable[[Progress], Any] = lambda _: None,
    ) -> None:
        self._node = node
        self._publisher = publisher
        self._robot = robot
        self._joint_names = list(joint_names)
        self._listener = listener
        self._stage = ""
        self._sent = -math.inf

    def __call__(self, stage: str, fraction: float) -> None:
        """Report a stage and the share of the work that is done, 0 to 1."""
        now = time.monotonic()
        if stage == self._stage and fraction < 1.0 and now < self._sent + _PERIOD:
            return
        self._stage, self._sent = stage, now
        self._publish(
            Progress(
                stage=stage,
                fraction=float(fraction),
                relative_error_total=math.nan,
                text=f"{stage}: {100.0 * fraction:.0f} %",
            )
        )

    def iteration(
        self, stage: str, fraction: float, *, number: int, error: RelativeError, text: str
    ) -> None:
        """Report an iteration, whenever it comes.

        Args:
            stage: what is being done.
            fraction: share of the work that is done, 0 to 1.
            number: of the iteration.
            error: torque error that it has reached.
            text: one line for people.
        """
        self._stage = stage
        self._publish(
            Progress(
                stage=stage,
                iteration=number,
                fraction=float(fraction),
                joint_names=self._joint_names,
                relative_error=error.joints.tolist(),
                relative_error_total=error.total,
                text=text,
            )
        )

    def _publish(self, message: Progress) -> None:
        message.robot = self._robot
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
        self._listener(message)
