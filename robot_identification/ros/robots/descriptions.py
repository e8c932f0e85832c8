"""The description of a robot on a topic: waited for, kept as a file, watched for another one."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from std_msgs.msg import String

from robot_identification.errors import InputError, RobotDescriptionError
from robot_identification.files.descriptions import (
    KeptDescription,
    description_digest,
    keep_description,
)
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import ERROR, OK, STALE, status_of

PART = "robot description"
"""Name of the status on /diagnostics."""

_LOOKS = 0.1  # s between two looks at the topic
_TOLD_EVERY = 10.0  # s


class TopicDescription:
    """What a topic says of a robot: the first description counts, others are told.

    Args:
        topic: its full name.
        defaults: robot file that says what a URDF cannot; empty: none.

    Attributes:
        kept: the first description, as files; None before it has come.
        received: number of descriptions that have come.
    """

    def __init__(self, topic: str, defaults: str = "") -> None:
        self.topic = topic
        self._defaults = defaults
        self.kept: KeptDescription | None = None
        self.received = 0
        self._newest = ""

    def take(self, text: str) -> None:
        """Take in a description.

        Raises:
            InputError: it is the first, and no robot that can be used.
            OutputError: it is the first, and cannot be written to a file.
        """
        self.received += 1
        if self.kept is None:
            self.kept = keep_description(text, self.topic, defaults=self._defaults)
        try:
            self._newest = description_digest(text, self.topic)
        except InputError:
            self._newest = "of no use"

    @property
    def changed(self) -> str:
        """How the newest description is another than the one that counts; empty if it is not."""
        if self.kept is None or self._newest == self.kept.digest:
            return ""
        return (
            f"{self.topic} describes another robot than when this node started (SHA-256 "
            f"{self._newest[:12]}, not {self.kept.digest[:12]}); the node goes on with the first: "
            "restart all nodes, or publish that one again"
        )

    def verdict(self, waited: float, publishers: str) -> tuple[bytes, str]:
        """Return level and message of the status.

        Args:
            waited: time since the topic is listened to, in s.
            publishers: what is known of who publishes there, for people.
        """
        if self.kept is None:
            return STALE, f"waiting for {waited:.0f} s for a robot on {self.topic}: {publishers}"
        return (ERROR, self.changed) if self.changed else (OK, f"described by {self.kept.source}")

    def values(self) -> Mapping[str, object]:
        """Return the values of the status."""
        kept = self.kept
        return {
            "topic": self.topic,
            "sha256": "" if kept is None else kept.digest,
            "file": "" if kept is None else kept.source,
            "newest_sha256": self._newest,
            "descriptions_received": self.received,
        }


class DescriptionListener:
    """Listens to a topic on which a robot is described, as robot_state_publisher does.

    Args:
        node: that listens.
        topic: relative to its namespace.
        defaults: robot file that says what a URDF cannot; empty: none.
        clock: time in s that never jumps.

    Attributes:
        said: what has come.
    """

    def __init__(
        self,
        node: Node,
        topic: str,
        defaults: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node = node
        self._clock, self._since = clock, clock()
        # A callback, for what comes while an executor runs; until then messages are fetched.
        self._come: deque[String] = deque(maxlen=qos.DESCRIPTIONS.depth)
        self._subscription = qos.create_subscription(
            node, String, topic, self._on_description, qos.DESCRIPTIONS
        )
        self.said = TopicDescription(self._subscription.topic_name, defaults)
        self._told = ""

    def _on_description(self, message: String) -> None:
        self._come.append(message)

    def take(self) -> None:
        """Take in what has come.

        Raises:
            InputError, OutputError: as :meth:`TopicDescription.take`.
        """
        while self._come:
            self.said.take(self._come.popleft().data)
        changed = self.said.changed
        if changed and changed != self._told:
            self._node.get_logger().error(changed)
        self._told = changed

    def wait(
        self,
        report: Callable[[], None],
        period: float,
        pause: Callable[[float], None] = time.sleep,
        *,
        longest: float = math.inf,
    ) -> KeptDescription:
        """Wait for the first description, and say so as long as none comes.

        Args:
            report: publishes on /diagnostics.
            period: time between two reports in s.
            pause: waits for a time in s.
            longest: time in s that is waited at most.

        Raises:
            RobotDescriptionError: none has come in that time.
            InputError, OutputError: as :meth:`TopicDescription.take`.
            ExternalShutdownException: ROS has been shut down meanwhile.
        """
        begun = reported = told = self._clock()
        kept = self._first()
        if kept is None:
            self._node.get_logger().info(f"waiting for a description of the robot on {self._topic}")
        while kept is None:
            if not self._node.context.ok():
                raise ExternalShutdownException
            pause(_LOOKS)
            kept, now = self._first(), self._clock()
            if kept is not None:
                break  # the next report names the robot, which nobody has loaded yet
            if now - reported >= period:
                reported = now
                report()
            if now - begun >= longest:
                waiting = self.said.verdict(*self._waited())[1]
                raise RobotDescriptionError(waiting, path=self._topic)
            if now - told >= _TOLD_EVERY:
                told = now
                self._node.get_logger().warning(self.said.verdict(*self._waited())[1])
        return kept

    def _first(self) -> KeptDescription | None:
        """Take in what has come while no executor runs."""
        handle = self._subscription.handle
        with handle:
            while (taken := handle.take_message(String, False)) is not None:
                self._come.append(taken[0])
        self.take()
        return self.said.kept

    @property
    def _topic(self) -> str:
        return self.said.topic

    def report(self, robot: str) -> DiagnosticStatus:
        """Return what /diagnostics say of the description.

        Args:
            robot: its name; empty as long as nobody knows it.
        """
        if self.said.kept is not None:
            self.take()
        level, message = self.said.verdict(*self._waited())
        return status_of(self._node, level, message, self.said.values(), part=PART, robot=robot)

    def _waited(self) -> tuple[float, str]:
        known = self._node.get_publishers_info_by_topic(self._topic)
        return self._clock() - self._since, publishers_told(known)


def publishers_told(publishers: list[Any]) -> str:
    """Return what is to be said of the publishers of a topic from which nothing has come.

    Args:
        publishers: their ``TopicEndpointInfo``.
    """
    if not publishers:
        return "nobody publishes there: start robot_state_publisher, or name another topic"
    kinds = {one.topic_type for one in publishers} - {"std_msgs/msg/String"}
    if kinds:
        return f"it is of type {', '.join(sorted(kinds))}, not std_msgs/msg/String"
    if any(one.qos_profile.durability.name == "VOLATILE" for one in publishers):
        return (
            "its publisher does not latch (durability volatile): have it publish transient local, "
            "or set the override of the durability (qos_overrides) and publish again"
        )
    return "its publisher has sent nothing that has arrived"
