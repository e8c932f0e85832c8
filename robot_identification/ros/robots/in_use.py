"""Statements of nodes about the robot that they have, latched on the topic `robots_in_use`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rclpy.node import Node

from robot_identification.msg import RobotInUse
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common import qos
from robot_identification.ros.common.graph import publishers_of
from robot_identification.ros.common.polled_subscription import PolledSubscription
from robot_identification.ros.robots.source import RobotSource

TOPIC = "robots_in_use"
NODES = ("acquisition", "identification", "calibration", "computed_torque")
"""Nodes that work with the robot that `excitation` moves."""

_LONGEST = 1000  # characters of a text that anybody may have published


@dataclass(frozen=True)
class Statement:
    """What a node says of its robot; see RobotInUse.msg.

    Attributes:
        node: full name of the node.
        robot: name of the robot.
        digest: SHA-256 of its description.
        given: parameter ``robot`` of the node.
        file: file that the robot was read from.
        effort_meaning: what efforts are to the node; empty: nobody has said.
        joint_states: topic from which it takes joint states; empty: from none.
    """

    node: str
    robot: str
    digest: str
    given: str = ""
    file: str = ""
    effort_meaning: str = ""
    joint_states: str = ""

    @property
    def name(self) -> str:
        """Name of the node without its namespace."""
        return self.node.rpartition("/")[2]


def say_robot_in_use(
    node: Node, robot: RobotModel, source: RobotSource, *, joint_states: str = ""
) -> Statement:
    """Have a node say for as long as it works with a robot which one that is.

    Args:
        node: the node.
        robot: its robot, with what its parameters say.
        source: where that is described.
        joint_states: topic from which it takes joint states, with its namespace; empty: from none.
    """
    meaning = robot.effort_meaning
    said = Statement(
        node=node.get_fully_qualified_name(),
        robot=robot.name,
        digest=robot.digest,
        given=source.given,
        file=str(robot.file or ""),
        effort_meaning="" if meaning is None else meaning.value,
        joint_states=joint_states,
    )
    message = RobotInUse(
        node=said.node,
        robot=said.robot,
        robot_hash=said.digest,
        given=said.given,
        file=said.file,
        effort_meaning=said.effort_meaning,
        joint_states=said.joint_states,
    )
    message.header.stamp = node.get_clock().now().to_msg()
    node.create_publisher(RobotInUse, TOPIC, qos.LATCHED).publish(message)
    return said


def statement_of(message: RobotInUse) -> Statement:
    """Return what a message says, each text no longer than people read."""
    texts = (
        message.node, message.robot, message.robot_hash, message.given, message.file,
        message.effort_meaning, message.joint_states,
    )  # fmt: skip
    return Statement(*(text[:_LONGEST] for text in texts))


@dataclass(frozen=True)
class NodesInUse:
    """The nodes of a namespace, as far as they have said which robot they have.

    Attributes:
        statements: of those that run.
        silent: full names of nodes of this package that run and have said nothing.
    """

    statements: tuple[Statement, ...] = ()
    silent: tuple[str, ...] = ()

    @classmethod
    def among(
        cls, said: Mapping[str, Statement], running: Sequence[tuple[str, str]], namespace: str
    ) -> NodesInUse:
        """Return those that run.

        Args:
            said: full name of a node -> what it has said last.
            running: names and namespaces of all nodes, as the graph of ROS has them.
            namespace: that of the nodes.
        """
        here = [name for name, place in running if place == namespace]
        full = {name: f"{namespace.rstrip('/')}/{name}" for name in here}
        spoken = [said[node] for node in sorted(full.values()) if node in said]
        silent = [full[name] for name in NODES if name in full and full[name] not in said]
        return cls(tuple(spoken), tuple(silent))


class RobotsInUse:
    """Listens to what the nodes of a namespace say of their robots.

    Nobody is asked and nothing is waited for: what is not known yet is told as unknown.

    Args:
        node: that listens.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._subscription = PolledSubscription(node, RobotInUse, TOPIC, qos.STATEMENTS)
        self._said: dict[str, Statement] = {}

    def now(self) -> NodesInUse:
        """Return what is known of the nodes that run."""
        for message in self._subscription.take(qos.STATEMENTS.depth):
            statement = statement_of(message)
            self._said[statement.node] = statement
        # A node that is cleaned up runs on without a robot: what it has said is withdrawn.
        speaking = publishers_of(self._node, self._subscription.topic)
        said = {node: one for node, one in self._said.items() if node in speaking}
        running = self._node.get_node_names_and_namespaces()
        return NodesInUse.among(said, running, self._node.get_namespace())
