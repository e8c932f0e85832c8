"""The two clocks by which a moving robot is watched.

Stamps of joint states and of trajectories are ROS time, which may be set back, set forward, or
stand still with a simulation.  How long nothing has come is therefore told by a steady clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.clock import Clock, ClockType, ROSClock

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
        ros: the clock of the node.
    """

    def __init__(self, ros: ROSClock | Clock) -> None:
        self._ros = ros
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)

    def now(self) -> Instant:
        """Return the present moment."""
        simulated = isinstance(self._ros, ROSClock) and self._ros.ros_time_is_active
        for _ in range(_READINGS):
            before = int(self.steady.now().nanoseconds)
            stamp = int(self._ros.now().nanoseconds)
            after = int(self.steady.now().nanoseconds)
            if after - before < _TOGETHER:
                break
        return Instant(stamp, after, simulated, after - before)
