"""The two clocks by which a moving robot is watched.

Stamps of joint states and of trajectories are ROS time, which may be set back, set forward, or
stand still with a simulation.  How long nothing has come is therefore told by a steady clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.clock import Clock, ClockType, ROSClock
from rclpy.node import Node
from rclpy.time_source import CLOCK_TOPIC

from robot_identification.ros.common.joint_states import NANOSECONDS

_STEP = 20_000_000
"""Difference in ns that no clock shows that is slewed."""

_TOGETHER = 1_000_000  # ns
_READINGS = 3
"""Number of times that both clocks are read again where the process was paused between them."""


@dataclass(frozen=True)
class Instant:
    """One moment on both clocks.

    Attributes:
        stamp: ROS time in ns.
        steady: time in ns of a clock that never jumps and never stands still.
        simulated: whether ROS time is that of a simulation, which runs at a speed of its own.
        apart: time in ns between the readings of both: a busy machine may pause a process between
            them.
    """

    stamp: int
    steady: int
    simulated: bool = False
    apart: int = 0

    def jump_since(self, before: Instant) -> int:
        """Return by how much ROS time was set in ns since an earlier moment; 0 if it was not."""
        told = self.stamp - before.stamp
        if self.simulated:
            return min(told, 0)
        jump = told - (self.steady - before.steady)
        return jump if abs(jump) > _STEP + self.apart + before.apart else 0

    def seconds_since(self, before: Instant) -> float:
        """Return the time since an earlier moment in s, on the steady clock."""
        return (self.steady - before.steady) / NANOSECONDS


class MotionClock:
    """Tells the time on both clocks.

    Args:
        node: the node whose clock is ROS time.
    """

    def __init__(self, node: Node) -> None:
        self._node, self._ros = node, node.get_clock()
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)

    @property
    def _simulated(self) -> bool:
        return isinstance(self._ros, ROSClock) and self._ros.ros_time_is_active

    def catch_up(self) -> None:
        """Take in the newest time of a simulation.

        It comes as messages, which wait for as long as the node does something else: a clock that
        is behind by that would have joint states come from the future.
        """
        if not self._simulated:
            return
        topic = self._node.resolve_topic_name(CLOCK_TOPIC)
        for one in [one for one in self._node.subscriptions if one.topic_name == topic]:
            with one.handle:
                while (taken := one.handle.take_message(one.msg_type, one.raw)) is not None:
                    one.callback(taken[0])

    def now(self) -> Instant:
        """Return the present moment."""
        for _ in range(_READINGS):
            before = int(self.steady.now().nanoseconds)
            stamp = int(self._ros.now().nanoseconds)
            after = int(self.steady.now().nanoseconds)
            if after - before < _TOGETHER:
                break
        return Instant(stamp, after, self._simulated, after - before)
