"""Temperatures of joints on their way into the recordings of the acquisition node."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from sensor_msgs.msg import Temperature

from robot_identification.errors import InputError, SettingError
from robot_identification.files.bags.cdr.dynamic_states import MESSAGE_TYPE as DYNAMIC_STATE
from robot_identification.files.bags.temperatures import MESSAGE_TYPE, joints_with_interfaces
from robot_identification.robot.model import RobotModel
from robot_identification.ros.acquisition.dynamic_states import (
    TOPIC,
    DynamicStateReader,
    dynamic_joint_state,
)
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import OK, STALE, WARN, status_of
from robot_identification.ros.common.joint_states import DriverSubscription, Sample, stamp_of
from robot_identification.signals.temperature import (
    LONGEST_GAP,
    STEADY_STEP,
    StampedTemperatures,
)

Keep = Callable[[str, str, Any, int], None]
"""Given topic, type, message and time of receipt in ns of all that comes, for a bag."""


class _Measured(NamedTuple):
    stamp: int
    celsius: float


@dataclass
class TemperatureLog:
    """Temperatures of one joint since they were last taken, without those that say nothing new.

    What stays makes the same straight lines, as in :func:`.signals.temperature.thinned`.

    Attributes:
        newest: the last one; None before the first.
    """

    newest: _Measured | None = None
    _waiting: list[_Measured] = field(default_factory=list)
    _told: bool = False  # whether the newest is among those, or was

    def add(self, stamp: int, celsius: float, *, keep: bool) -> None:
        """Take in a temperature.

        Args:
            stamp: in ns.
            celsius: in degrees Celsius.
            keep: whether it has a part in a recording.
        """
        measured, before = _Measured(stamp, celsius), self.newest
        self.newest = measured
        if not keep:
            self._told = False
            return
        if before is not None and not _is_new(before, measured):
            self._told = False
            return
        if before is not None and not self._told:
            self._waiting.append(before)
        self._waiting.append(measured)
        self._told = True

    def begin(self) -> None:
        """Begin another recording: of what went before only the newest has a part in it."""
        self._waiting.clear()
        self._told = False

    def take(self) -> StampedTemperatures | None:
        """Return what has come since the last call, the newest included; None if nothing has."""
        if self.newest is not None and not self._told:
            self._waiting.append(self.newest)
            self._told = True
        if not self._waiting:
            return None
        taken, self._waiting = self._waiting, []
        return StampedTemperatures(
            np.array([one.stamp for one in taken], dtype=np.int64),
            np.array([one.celsius for one in taken]),
        )


def _is_new(before: _Measured, measured: _Measured) -> bool:
    return (
        measured.celsius != before.celsius
        or measured.stamp // STEADY_STEP != before.stamp // STEADY_STEP
    )


class JointTemperatures:
    """Receives temperatures: those that the robot file wants, and interfaces that come anyway.

    A joint with a topic in the robot file has those of that topic; others have the interface of
    their joint in `dynamic_joint_states`.

    Args:
        node: the node that subscribes.
        robot: the robot.
        interfaces: signal -> name of its interface.
        states: whether joint states have interfaces; their temperatures are handed to
            :meth:`add_state` then, and otherwise subscribed to where they are needed.
        keep: given all that comes, for a bag.
        recording: tells whether a recording runs.
        clock: time in s that never jumps.

    Raises:
        SettingError: a topic of the robot file can be none.
    """

    def __init__(
        self,
        node: Node,
        robot: RobotModel,
        interfaces: Mapping[str, str],
        *,
        states: bool,
        keep: Keep,
        recording: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node, self._robot, self._clock = node, robot, clock
        self._keep, self._recording = keep, recording
        names = robot.joint_names
        self._logs = {name: TemperatureLog() for name in names}
        self._come: dict[str, float] = {}
        self._received = self._refused = 0
        self._reason = ""
        self._since = clock()
        self.needed = tuple(joint.name for joint in robot.joints if joint.temperature is not None)
        self._newest: dict[str, tuple[str, str, Any, int]] = {}
        own = {j.name: j.temperature.topic for j in robot.joints if j.temperature is not None}
        self._by_topic = {name: topic for name, topic in own.items() if topic}
        for topic in self._by_topic.values():
            qos.require_topic_name(node, "temperature", topic)
        self._listeners = [
            DriverSubscription(node, Temperature, topic, self._taker(topic))
            for topic in dict.fromkeys(self._by_topic.values())
        ]
        self._problem = ""
        self._wanted = joints_with_interfaces(robot)
        if self._wanted and not states:
            self._listen_to_interfaces(interfaces)

    def _listen_to_interfaces(self, interfaces: Mapping[str, str]) -> None:
        try:
            kind = dynamic_joint_state("temperature", f"of {', '.join(self._wanted)}")
        except SettingError as error:
            self._problem = str(error)
            self._node.get_logger().warning(self._problem)
            return
        listener = DriverSubscription(self._node, kind, TOPIC, self._on_states)
        self._reader = DynamicStateReader(self._wanted, listener.topic, interfaces)
        self._listeners.append(listener)

    @property
    def newest(self) -> tuple[tuple[str, str, Any, int], ...]:
        """Topic, type, message and time of receipt of the last ones, for a bag that begins."""
        return tuple(self._newest.values())

    def begin(self) -> None:
        """Begin another recording."""
        for log in self._logs.values():
            log.begin()

    def next_clock(self) -> None:
        """Forget temperatures whose stamps are those of a clock that was set back."""
        self._logs = {name: TemperatureLog() for name in self._logs}
        self._newest.clear()

    def take(self) -> dict[str, StampedTemperatures]:
        """Return what has come since the last call, by joint."""
        taken = {name: log.take() for name, log in self._logs.items()}
        return {name: one for name, one in taken.items() if one is not None}

    def add_state(self, sample: Sample) -> None:
        """Take in the temperatures of a joint state, as far as it has any."""
        if sample.temperature is None:
            return
        for name, value in zip(self._robot.joint_names, sample.temperature.tolist(), strict=True):
            if name not in self._by_topic and not math.isnan(value):
                self._add(name, sample.stamp, value)

    def _taker(self, topic: str) -> Callable[[Temperature], None]:
        def take(message: Temperature) -> None:
            received = time.time_ns()
            self._note(topic, MESSAGE_TYPE, message, received)
            stamp = stamp_of(message) or received
            for name, own in self._by_topic.items():
                if own == topic:
                    self._add(name, stamp, float(message.temperature))

        return take

    def _on_states(self, message: Any) -> None:
        if not self._reader.concerns(message):
            return
        try:
            found = self._reader.temperatures(message)
        except InputError as error:
            self._refuse(str(error))
            return
        self._note(TOPIC, DYNAMIC_STATE, message, time.time_ns())
        for name, value in zip(self._wanted, found.tolist(), strict=True):
            if not math.isnan(value):
                self._add(name, stamp_of(message), value)

    def _note(self, topic: str, kind: str, message: Any, received: int) -> None:
        noted = (self._node.resolve_topic_name(topic), kind, message, received)
        self._newest[topic] = noted
        self._keep(*noted)

    def _add(self, joint: str, stamp: int, celsius: float) -> None:
        if not math.isfinite(celsius):
            self._refuse(f"temperature of {joint} is {celsius}")
            return
        self._received += 1
        self._come[joint] = self._clock()
        self._logs[joint].add(stamp, celsius, keep=self._recording())

    def _refuse(self, reason: str) -> None:
        self._refused += 1
        self._reason = reason

    def report(self) -> DiagnosticStatus:
        """Return what /diagnostics say of the temperatures."""
        for listener in self._listeners:
            listener.listen_to_lossy_publishers()
        now = self._clock()
        missing = [n for n in self.needed if now - self._come.get(n, self._since) > LONGEST_GAP]
        absent = [n for n in self.needed if n not in self._come]
        level, text = OK, "receiving" if self._come else "no temperatures"
        if self._problem:
            level, text = WARN, self._problem
        elif missing:
            level = WARN if self._come else STALE
            text = (
                f"no temperature of {', '.join(missing)} for more than {LONGEST_GAP:g} s: friction "
                "that depends on it cannot be identified"
            )
        elif absent:
            level, text = STALE, f"no temperature of {', '.join(absent)} yet"
        values: dict[str, object] = {
            "topics": ", ".join(listener.topic for listener in self._listeners),
            "temperatures_received": self._received,
            "temperatures_refused": self._refused,
            "last_refusal": self._reason,
        }
        told = {f"celsius_{n}": f"{one.celsius:.2f}" for n, one in self._told()}
        return status_of(
            self._node, level, text, values | told, part="temperatures", robot=self._robot.name
        )

    def _told(self) -> Iterator[tuple[str, _Measured]]:
        for name, log in self._logs.items():
            if log.newest is not None:
                yield name, log.newest
