"""Diagnostics of the excitation node about the joint states that it watches.

A robot is watched as well as its states come in: how old they are when they are taken in, how many
never were, and how long the watching itself pauses.
"""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.common.stamps import StampStatistics
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.states import MotionStates


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
        self._received = self._lost = self._refused = self._told = 0
        self._fault = ""  # the last one, since the last report
        self._pause = 0.0
        self._watched: Instant | None = None

    def observe(self, stamp: int, now: Instant, states: MotionStates) -> None:
        """Take note of a joint state.

        Args:
            stamp: its stamp in ns.
            now: when it was taken in.
            states: what it was taken into.
        """
        self._received += 1
        self._stamps.append(stamp)
        self._ages.append(now.stamp - stamp)
        self._refused, self._fault = states.refused, states.fault or self._fault

    def watched(self, now: Instant) -> float:
        """Note a look at the motion; return how long ago the last was, in s."""
        pause = 0.0 if self._watched is None else now.seconds_since(self._watched)
        self._pause, self._watched = max(self._pause, pause), now
        return pause

    def publish(self, problem: str) -> None:
        """Publish what was seen since the last call.

        Args:
            problem: what is wrong with the states; empty if nothing is.
        """
        lost = self._statistics.between(self._stamps)
        self._lost += lost
        level, message = DiagnosticStatus.OK, "watching"
        if problem:
            level, message = DiagnosticStatus.STALE, problem
        elif self._refused > self._told:
            count = self._refused - self._told
            level, message = DiagnosticStatus.WARN, f"{count} joint states refused: {self._fault}"
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
        self._stamps, self._ages, self._pause = self._stamps[-1:], [], 0.0
        self._told, self._fault = self._refused, ""

    def _values(self) -> dict[str, str]:
        ages = sorted(self._ages)
        return {
            "rate_hz": f"{self._statistics.rate:.3f}",
            "messages_received": str(self._received),
            "messages_lost": str(self._lost),
            "messages_refused": str(self._refused),
            "age_median_s": _seconds(ages[len(ages) // 2]) if ages else "",
            "age_max_s": _seconds(ages[-1]) if ages else "",
            "longest_pause_s": f"{self._pause:.6f}",
        }


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / NANOSECONDS:.6f}"
