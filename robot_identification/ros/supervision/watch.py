"""Joint states as the excitation node watches them: taken in batches, whenever it looks.

To be woken by every state would cost half a core at 1 kHz.  The node looks after a motion two
hundred times a second, forty times where nothing moves, and takes in then what has come since.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState

from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common import qos
from robot_identification.ros.common.graph import publishers_of
from robot_identification.ros.common.joint_states import (
    NANOSECONDS,
    JointStateReader,
    stamp_of,
)
from robot_identification.ros.common.polled_subscription import PolledSubscription
from robot_identification.ros.supervision.clock import Instant, MotionClock
from robot_identification.ros.supervision.driver import (
    DriverView,
    at_effort_limits,
    usual_timeout,
)
from robot_identification.ros.supervision.states import (
    MotionStates,
    PhysicalMotion,
    Reading,
    Refusal,
)
from robot_identification.ros.supervision.watch_diagnostics import WatchDiagnostics

_PAUSE = 0.02
_PATIENCE = 0.2
_SHOWN = 64
"""Number of the last messages that tell what efforts the driver sends."""
_JUDGED = 256
"""Number of the last messages whose positions tell whether one driver alone sends them."""
_ERROR_SHARE = 0.5
"""Share of the limit of the tracking error by which a position may jump and still be believed."""


class MotionWatch:
    """Takes in joint states and knows how old they are.

    Args:
        node: the node that watches.
        robot: the robot.
        timeout: age of the newest state at which it counts as stale, in s; 0: as follows from the
            rate and the jitter of the states before a motion begins.
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
        self._robot = robot
        self.clock = MotionClock(node)
        self.states = MotionStates(robot.joint_names)
        self._diagnostics = WatchDiagnostics(node, robot.name)
        self._waiting = PolledSubscription(node, JointState, "joint_states", qos.STATES_WATCHED)
        self._messages: deque[Any] = deque(maxlen=_SHOWN)
        self._held: dict[str, float] = {}
        self._disputed: deque[bool] = deque(maxlen=_JUDGED)
        self._node = node
        self._moving = self._paused = False
        self.judge(timeout, tracking_error)
        self._newer: Any = None  # future of the first state from after ``_since``
        self._since = self.now()

    def judge(self, timeout: float, tracking_error: Array) -> None:
        """Set from when on a state is stale, and which positions are possible; see the class."""
        self._timeout = timeout
        if timeout:
            self.states.timeout = timeout
        self._follow_rate()
        self.states.physical = PhysicalMotion(self._speed, _ERROR_SHARE * tracking_error)

    def now(self) -> Instant:
        """Return the present moment."""
        return self.clock.now()

    def take(self, *, moving: bool = False) -> None:
        """Take in the states that have come.

        Args:
            moving: whether a motion is under way; otherwise the driver may begin anew.
        """
        come = list(self._waiting.take(qos.STATES_WATCHED.depth))
        self.clock.catch_up()  # after that: no state is from later than the clock
        for message in come:
            for name in self._robot.fixed_joints:
                if (stands := JointStateReader.position_of(message, name)) is not None:
                    self._held[name] = stands
            if not self.states.concerns(message):
                continue
            now = self.now()
            self.states.add(message, now, anew=not moving)
            self._diagnostics.observe(stamp_of(message), now, self.states)
            self._messages.append(message)
            self._disputed.append(self.states.refusal is Refusal.POSITION)

    def look(self, *, moving: bool = False) -> bool:
        """Take in the states that have come; return whether the motion can be judged by them.

        After a pause of the node in motion it cannot, once: states on their way go first.

        Args:
            moving: as for :meth:`take`.
        """
        pause = self._diagnostics.watched(self.now())
        self._moving = moving
        self.take(moving=moving)
        self._paused = moving and pause > _PAUSE and not self._paused
        if self._paused:
            return False
        if self._newer is not None:
            now = self.now()
            waited = now.seconds_since(self._since)
            if self._newer_has_come(now) or waited > max(_PATIENCE, 2.0 * self.states.timeout):
                self.wait_no_longer()
        return True

    def _newer_has_come(self, now: Instant) -> bool:
        """Tell whether there is a state from after the request that is still young.

        To take in all that have come while the node was busy takes time, in which the newest of
        them grows old.
        """
        latest = self.states.latest
        come = latest is not None and latest.stamp > self._since.stamp
        return come and self.states.age(now) < 0.5 * self.states.timeout

    async def newer(self) -> None:
        """Wait for a state from after this call, or until none is to be expected.

        Several may wait at once; the last of them decides from when on a state is new.
        """
        self.clock.catch_up()
        self._since = self.now()
        if self._newer is None:
            self._newer = Future()
        waited = self._newer
        try:
            await waited
        finally:
            if self._newer is waited:
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

    @property
    def topic(self) -> str:
        """Topic of the joint states, with its namespace."""
        return self._waiting.topic

    def report(self, lifecycle: str) -> DiagnosticStatus:
        """Return what was seen since the last report.

        Args:
            lifecycle: state of the node.
        """
        told = self._diagnostics.report(self.problem(), self.states.timeout, lifecycle)
        self._follow_rate()
        return told

    def seen(self) -> DriverView:
        """Return what the states that have come lately show of the driver."""
        self._follow_rate()
        stamps = self._diagnostics.stamps()
        return DriverView(
            topic=self.topic,
            period=stamps.period / NANOSECONDS,
            jitter=stamps.jitter * stamps.period / NANOSECONDS,
            delays=np.array([one.delay for one in self.states.recent(1.0, 2)]) / NANOSECONDS,
            messages=tuple(self._messages),
            timeout=self.states.timeout,
            timeout_given=self._timeout > 0.0,
            held=dict(self._held),
            disputed=sum(self._disputed) / max(len(self._disputed), 1),
            publishers=publishers_of(self._node, self.topic),
        )

    def limited(self) -> str:
        """Return which joints could not follow for their effort limits, and what to do about it."""
        names = at_effort_limits(tuple(self._messages), self._robot)
        if not names:
            return ""
        return (
            f"; {', '.join(names)} was at the effort limit: plans keep below it with a prior "
            "(parameters_file), or move more slowly (speed)"
        )

    def _follow_rate(self) -> None:
        """Have the timeout follow the states, where nobody has given one; never in motion."""
        if not self._timeout and not self._moving:
            stamps = self._diagnostics.stamps()
            self.states.timeout = usual_timeout(stamps.period / NANOSECONDS, stamps.jitter)
