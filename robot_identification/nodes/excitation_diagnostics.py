"""What the excitation node says on /diagnostics about the joint states that it watches.

A robot is watched as well as its states come in: how old they are when they are taken in, how many
never were, and how long the watching itself pauses.
"""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from robot_identification.nodes import qos
from robot_identification.nodes.joint_states import NANOSECONDS
from robot_identification.nodes.stamps import StampStatistics


class WatchDiagnostics:
    """Counts joint states and their ages and reports on them.

    Args:
        node: the node that publishes.
        robot: name of the robot.
    """

    def __init__(self, node: Node, robot: str) -> None:
        self._node = node
        self._robot = robot
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.STATUS)
        self._statistics = StampStatistics()
        self._stamps: list[int] = []
        self._ages: list[int] = []
        self._received = self._lost = self._watched = self._pause = 0

    def observe(self, stamp: int, now: int) -> None:
        """Take note of a joint state; stamp and time in ns."""
        self._received += 1
        self._stamps.append(stamp)
        self._ages.append(now - stamp)

    def watched(self, now: int) -> float:
        """Note a look at the motion at a time in ns; return how long ago the last was, in s."""
        pause = now - self._watched if self._watched else 0
        self._pause, self._watched = max(self._pause, pause), now
        return pause / NANOSECONDS

    def publish(self, problem: str) -> None:
        """Publish what was seen since the last call.

        Args:
            problem: what is wrong with the states; empty if nothing is.
        """
        steps = [b - a for a, b in zip(self._stamps, self._stamps[1:], strict=False) if b > a]
        lost = self._statistics.add(steps)
        self._lost += lost
        level, message = DiagnosticStatus.OK, "watching"
        if problem:
            level, message = DiagnosticStatus.STALE, problem
        elif lost:
            level, message = DiagnosticStatus.WARN, f"{lost} joint states were lost"
        report = DiagnosticArray(
            status=[
                DiagnosticStatus(
                    level=level,
                    name=f"{self._node.get_fully_qualified_name()}: joint states",
                    hardware_id=self._robot,
                    message=message,
                    values=[KeyValue(key=key, value=text) for key, text in self._values().items()],
                )
            ]
        )
        report.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(report)
        self._stamps, self._ages, self._pause = self._stamps[-1:], [], 0

    def _values(self) -> dict[str, str]:
        ages = sorted(self._ages)
        return {
            "rate_hz": f"{self._statistics.rate:.3f}",
            "messages_received": str(self._received),
            "messages_lost": str(self._lost),
            "age_median_s": _seconds(ages[len(ages) // 2]) if ages else "",
            "age_max_s": _seconds(ages[-1]) if ages else "",
            "longest_pause_s": _seconds(self._pause),
        }


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / NANOSECONDS:.6f}"
