"""Diagnostics of the joint states that the excitation node watches: rate, age, losses, refusals.

A robot is watched as well as its states come in: how old they are when they are taken in, how many
never were, and how long the watching itself pauses.
"""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from robot_identification.ros.common.diagnostics import OK, STALE, WARN, status_of
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.common.stamps import StampStatistics
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.states import MotionStates


class WatchDiagnostics:
    """Counts joint states and their ages and reports on them.

    Args:
        node: the node that watches.
        robot: name of the robot.
    """

    def __init__(self, node: Node, robot: str) -> None:
        self._node = node
        self._robot = robot
        self._statistics = StampStatistics()
        self._stamps: list[int] = []
        self._ages: list[int] = []
        self._received = self._lost = self._refused = 0
        self._told_lost = self._told_refused = 0
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

    def stamps(self) -> StampStatistics:
        """Return the statistics of the stamps of all states so far."""
        self._lost += self._statistics.between(self._stamps)
        self._stamps = self._stamps[-1:]
        return self._statistics

    def report(self, problem: str, timeout: float, lifecycle: str) -> DiagnosticStatus:
        """Return what was seen since the last call.

        Args:
            problem: what is wrong with the states; empty if nothing is.
            timeout: age in s at which a state counts as stale.
            lifecycle: state of the node.
        """
        self.stamps()
        lost = self._lost - self._told_lost
        level, message = OK, "watching"
        if problem:
            level, message = STALE, problem
        elif self._refused > self._told_refused:
            count = self._refused - self._told_refused
            level, message = WARN, f"{count} joint states refused: {self._fault}"
        elif lost:
            level, message = WARN, f"{lost} joint states were lost"
        values = self._values() | {"state_timeout_s": f"{timeout:g}", "lifecycle": lifecycle}
        status = status_of(
            self._node, level, message, values, part="joint states", robot=self._robot
        )
        self._ages, self._pause, self._fault = [], 0.0, ""
        self._told_lost, self._told_refused = self._lost, self._refused
        return status

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
