"""Parameter ``robot`` of a node: a file, or a topic whose description becomes one."""

from __future__ import annotations

import math
from typing import TypeVar

from rclpy.node import Node

from robot_identification.errors import RobotDescriptionError, SettingError
from robot_identification.robot.files.loading import TOPIC
from robot_identification.robot.files.robot_yaml.document import DEFAULTS
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import NodeDiagnostics
from robot_identification.ros.common.parameters.declaration import NodeParameters
from robot_identification.ros.common.parameters.shared import RobotParameters
from robot_identification.ros.robots.descriptions import DescriptionListener

USUAL = "robot_description"
"""Topic on which robot_state_publisher publishes the description of its robot."""

Own = TypeVar("Own", bound=RobotParameters)


class RobotSource:
    """Where the robot of a node is described.

    Args:
        given: parameter ``robot`` of the node.
        listener: to the topic that it names; None: it names a file.

    Attributes:
        given: as given.
        topic: that topic, with its namespace; empty: a file.
    """

    def __init__(self, given: str, listener: DescriptionListener | None = None) -> None:
        self.given = given
        self._listener = listener
        self.topic = "" if listener is None else listener.said.topic

    def refusal(self) -> RobotDescriptionError | None:
        """Return why the robot must not be moved: its topic describes another one by now."""
        if self._listener is None:
            return None
        self._listener.take()
        changed = self._listener.said.changed
        return RobotDescriptionError(changed, path=self.given) if changed else None


def settle_robot(
    node: Node,
    parameters: NodeParameters[Own],
    diagnostics: NodeDiagnostics,
    *,
    patience: float = math.inf,
) -> RobotSource:
    """Find the file that describes the robot of a node, and have the parameters say so.

    Where the parameter ``robot`` names a topic, this waits for a description on it.

    Args:
        node: the node.
        parameters: its parameters; ``robot`` is what a robot can be loaded from afterwards.
        diagnostics: of the node.
        patience: time in s that is waited for a description at most.

    Raises:
        SettingError: the parameters contradict each other, or there is no such topic.
        RobotDescriptionError, UnknownRobotError: what is described is no robot that can be used.
        OutputError: the description cannot be kept as a file.
    """
    _ = parameters.now  # what is missing is told
    # As they were given: of a node that is configured again the file of before is no topic.
    given, defaults = (str(node.get_parameter(name).value) for name in ("robot", DEFAULTS))
    topic = topic_of(node, given)
    if topic is None:
        if defaults:
            raise SettingError(
                DEFAULTS,
                defaults,
                f"completes the description on a topic (robot: {TOPIC}{USUAL}); a robot "
                "file names its URDF itself, by the key urdf",
            )
        return RobotSource(given)
    listener = DescriptionListener(node, topic, defaults)
    diagnostics.add(lambda: listener.report(diagnostics.robot))
    kept = listener.wait(diagnostics.update, diagnostics.period, longest=patience)
    if kept.remark:
        node.get_logger().warning(kept.remark)
    node.get_logger().info(
        f"{listener.said.topic} describes the robot (SHA-256 {kept.digest}); kept as {kept.source}"
    )
    parameters.change({"robot": str(kept.source), DEFAULTS: ""})
    return RobotSource(given, listener)


def topic_of(node: Node, given: str) -> str | None:
    """Return the topic that a parameter ``robot`` names; None where it names a file.

    Only what begins with ``topic:`` is one; a file of such a name is given as ``./topic:...``.

    Raises:
        SettingError: there can be no topic of this name.
    """
    if not given.startswith(TOPIC):
        return None
    topic = given.removeprefix(TOPIC)
    qos.require_topic_name(node, "robot", topic)
    return topic
