"""Efforts of a topic of their own on their way into the recordings of the acquisition node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_identification.errors import InputError, SampleError, SettingError, ShapeError
from robot_identification.files.bags.separate_efforts import ARRAY_TYPE
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import ERROR, OK, STALE, WARN, status_of
from robot_identification.ros.common.joint_states import (
    DriverSubscription,
    JointStateReader,
    stamp_of,
)
from robot_identification.ros.common.stamps import GracePeriod, StampStatistics
from robot_identification.signals.efforts.buffer import EffortBuffer
from robot_identification.signals.efforts.separate import EffortSource

JOINT_STATE_TYPE = "sensor_msgs/msg/JointState"
TYPES = (JOINT_STATE_TYPE, ARRAY_TYPE)
_REPEAT = 10.0
_STUCK = 10  # efforts with one stamp: nobody says when they were measured
_OTHER_CLOCK = 10.0
"""Time in s by which efforts and states that come together differ at most, unless they have two
clocks: what is late waits in queues for some seconds."""
_KINDS: dict[str, Any] = {JOINT_STATE_TYPE: JointState, ARRAY_TYPE: Float64MultiArray}


class SeparateEfforts:
    """Receives efforts and keeps them until the joint states that they belong to are there.

    Joint states count by their stamps, arrays, which have none, by the time at which they come.

    Attributes:
        source: topic, delay and joints.
        buffer: what has come since the recording began.
        listener: the subscription.
        type: type of the messages.

    Args:
        node: the node that subscribes.
        robot: the robot.
        source: topic, delay and joints.
        kind: type of the messages, one of ``TYPES``.
        callback: given every message; it hands them to ``add``.

    Raises:
        SettingError: their topic can be none, efforts without stamps have no delay, or the clock of
            the node is simulated.
        JointNameError: a joint of the robot is not among those of an array.
    """

    def __init__(
        self,
        node: Node,
        robot: RobotModel,
        source: EffortSource,
        kind: str,
        callback: Callable[[Any], None],
    ) -> None:
        qos.require_topic_name(node, "effort_topic", source.topic)
        self._node = node
        self._is_array = kind == ARRAY_TYPE
        self._robot = robot
        if self._is_array:
            source.require_delay()
            if node.get_parameter("use_sim_time").value:
                raise SettingError(
                    "use_sim_time", True, f"efforts on {source.topic} carry no stamps, and come "
                    "by the clock of the system"
                )  # fmt: skip
        self._columns = source.columns(robot.joint_names)
        self._count = len(source.joint_names or robot.joint_names)
        self.type = kind
        self.source = source
        self.listener = DriverSubscription(node, _KINDS[kind], source.topic, callback)
        self._reader = JointStateReader(robot.joint_names, self.listener.topic)
        self._grace = GracePeriod()
        self.buffer = self.begin()
        self._statistics = StampStatistics()
        self._stamps: list[int] = []
        self._received = self._refused = 0
        self._stuck = 0
        self._before = (0, 0)
        self._newest: int | None = None  # of the joint states, at the report before
        self._reason = ""

    def begin(self) -> EffortBuffer:
        """Begin another recording: efforts from before have no part in it, as in a bag of it."""
        self.buffer = EffortBuffer(len(self._robot.joints), self.source.delay)
        self._grace.renew()
        return self.buffer

    def add(self, message: Any, received: int, *, keep: bool) -> None:
        """Take in a message; one that is of no use is refused and counted.

        Args:
            message: of the type of this topic.
            received: when it came, in ns of the system's clock.
            keep: whether it has a part in a recording.
        """
        if not self._is_array and not self._reader.concerns(message):
            return
        self._received += 1
        self._grace.renew()
        try:
            stamp, effort = self._read(message, received)
        except InputError as error:
            self._refused += 1
            self._reason = str(error)
            self._node.get_logger().warning(
                f"efforts refused: {error}", throttle_duration_sec=_REPEAT
            )
            return
        stuck = bool(self._stamps) and stamp == self._stamps[-1]
        self._stuck = self._stuck + 1 if stuck else 0
        self._stamps.append(stamp)
        if keep:
            self.buffer.add(stamp, effort)

    def _read(self, message: Any, received: int) -> tuple[int, Array]:
        number = self._received - 1
        if not self._is_array:
            return stamp_of(message), self._reader.read_effort(message, number)
        values = np.asarray(message.data, dtype=np.float64)
        if len(values) != self._count:
            raise ShapeError("effort", values.shape, f"({self._count},), one per joint")
        effort = values[self._columns]
        if not np.isfinite(effort).all():
            joint = int(np.flatnonzero(~np.isfinite(effort))[0])
            raise SampleError("effort", self._robot.joint_names[joint], number, effort[joint])
        return received, effort

    def are_due(self) -> bool:
        """Tell whether it is worth waiting for more efforts: they come, or came just now."""
        return self._grace.active()

    def status(self, newest: int | None) -> DiagnosticStatus:
        """Return what /diagnostics say of the efforts since the last call.

        Args:
            newest: stamp of the newest joint state in ns; None before the first.
        """
        self.listener.listen_to_lossy_publishers()
        lost = self._statistics.between(self._stamps)
        self._stamps = self._stamps[-1:]
        behind = (newest - self._stamps[-1]) / 1e9 if newest and self._stamps else float("nan")
        come, self._newest = newest != self._newest, newest
        level, text = self._verdict(lost, behind if come else 0.0)
        values = {
            "topic": self.listener.topic,
            "rate_hz": f"{self._statistics.rate:.3f}",
            "jitter": f"{self._statistics.jitter:.4f}",
            "efforts_received": str(self._received),
            "efforts_refused": str(self._refused),
            "efforts_lost_by_middleware": str(self.listener.lost),
            "last_refusal": self._reason,
            "newest_behind_states_s": f"{behind:.6f}",
            "effort_delay_s": f"{self.source.delay:.6f}",
        }
        return status_of(self._node, level, text, values, part="efforts", robot=self._robot.name)

    def _verdict(self, lost: int, behind: float) -> tuple[bytes, str]:
        """Return level and text.

        Args:
            lost: efforts that were lost since the last report.
            behind: how far the newest is behind the newest joint state, in s; 0 where none came.
        """
        now = (self._received, self._refused)
        received, refused = (new - old for new, old in zip(now, self._before, strict=True))
        self._before = now
        if self.listener.incompatible:
            return ERROR, self.listener.incompatible
        if received == 0:
            return STALE, f"no efforts arrive on {self.listener.topic}"
        if refused > 0:
            return ERROR, f"{refused} efforts refused: {self._reason}"
        if self._stuck >= _STUCK:
            return ERROR, self._why_stuck()
        if abs(behind) > _OTHER_CLOCK:
            side = "before" if behind > 0.0 else "after"
            return ERROR, (
                f"efforts are stamped {abs(behind):.3f} s {side} the joint states that come with "
                "them: both need the same clock; states without efforts are left out"
            )
        if lost > 0:
            return WARN, "efforts are being lost"
        return OK, "receiving"

    def _why_stuck(self) -> str:
        if self._stamps[-1]:
            return f"the stamps of the efforts on {self.listener.topic} do not rise"
        return (
            f"the efforts on {self.listener.topic} carry no stamps: who publishes them has to say "
            "in header.stamp when they were measured, or send arrays, which count when they come"
        )
