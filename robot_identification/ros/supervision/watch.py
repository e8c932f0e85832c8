"""Joint states as the excitation node watches them: taken in batches, whenever it looks.

To be woken by every state would cost half a core at 1 kHz.  The node looks after the motion two
hundred times a second and takes in then what has come since.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState

from robot_identification.robot.model import Array, RobotModel
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.common.polled_subscription import PolledSubscription
from robot_identification.ros.excitation.diagnostics import WatchDiagnostics
from robot_identification.ros.supervision.clock import Instant, MotionClock
from robot_identification.ros.supervision.states import MotionStates, PhysicalMotion, Reading

_PAUSE = 0.02
_PATIENCE = 0.2
_ERROR_SHARE = 0.5
"""Share of the limit of the tracking error by which a position may jump and still be believed."""


class MotionWatch:
    """Takes in joint states and knows how old they are.

    Args:
        node: the node that watches.
        robot: the robot.
        timeout: age of the newest state at which it counts as stale, in s.
        tracking_error: (joints,) at which error a motion is stopped, rad or m.

    Attributes:
        states: what was taken in.
        clock: tells the time.
    """

    def __init__(
        self, node: Node, robot: RobotModel, *, timeout: float, tracking_error: Array
    ) -> None:
        self._speed = np.array(
            [np.inf if j.limits.velocity is None else j.limits.velocity for j in robot.joints]
        )
        self.clock = MotionClock(node.get_clock())
        self.states = MotionStates(robot.joint_names)
        self.judge(timeout, tracking_error)
        self._diagnostics = WatchDiagnostics(node, robot.name)
        self._waiting = PolledSubscription(node, JointState, "joint_states", qos.STATES_WATCHED)
        self._paused = False
        self._newer: Any = None  # future of the first state from after ``_since``
        self._since = self.now()

    def judge(self, timeout: float, tracking_error: Array) -> None:
        """Set from when on a state is stale, and which positions are possible; see the class."""
        self.states.timeout = timeout
        self.states.physical = PhysicalMotion(self._speed, _ERROR_SHARE * tracking_error)

    def now(self) -> Instant:
        """Return the present moment."""
        return self.clock.now()

    def take(self, *, moving: bool = False) -> None:
        """Take in the states that have come.

        Args:
            moving: whether a motion is under way; otherwise the driver may begin anew.
        """
        for message in self._waiting.take(qos.STATES_WATCHED.depth):
            now = self.now()
            self.states.add(message, now, anew=not moving)
            self._diagnostics.observe(stamp_of(message), now, self.states)

    def look(self, *, moving: bool = False) -> bool:
        """Take in the states that have come; return whether the motion can be judged by them.

        After a pause of the node it cannot, once: states that were on their way go first.

        Args:
            moving: as for :meth:`take`.
        """
        pause = self._diagnostics.watched(self.now())
        self.take(moving=moving)
        self._paused = pause > _PAUSE and not self._paused
        if self._paused:
            return False
        if self._newer is not None:
            waited = self.now().seconds_since(self._since)
            latest = self.states.latest
            come = latest is not None and latest.stamp > self._since.stamp
            if come or waited > max(_PATIENCE, 2.0 * self.states.timeout):
                self.wait_no_longer()
        return True

    async def newer(self) -> None:
        """Wait for a state from after this call, or until none is to be expected."""
        self._since, self._newer = self.now(), Future()
        try:
            await self._newer
        finally:
            self._newer = None

    def wait_no_longer(self) -> None:
        """End :meth:`newer`."""
        if self._newer is not None and not self._newer.done():
            self._newer.set_result(None)

    def fresh(self) -> Reading:
        """Return the newest reading of a robot that is not moved.

        Raises:
            StaleStateError: there is none, or it is too old or from the future.
        """
        self.take()
        return self.states.fresh(self.now())

    def place(self) -> Array | None:
        """Return the (joints,) position of the robot, None if it is not known."""
        self.take()
        latest = self.states.latest
        return None if latest is None or self.problem() else latest.position

    def problem(self) -> str:
        """Return what is wrong with the newest state; empty if nothing is."""
        return self.states.problem(self.now())

    def report(self) -> None:
        """Publish what was seen since the last report on /diagnostics."""
        self._diagnostics.publish(self.problem())
