"""Transports: what takes trajectories to a controller and tells how they go there; the topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from robot_identification.ros.common import qos
from robot_identification.ros.common.graph import node_at
from robot_identification.ros.messages.trajectories import message_of
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.phases import Command


@dataclass(frozen=True)
class Report:
    """How the last trajectory goes with the controller.

    Attributes:
        ended: the controller has told the end of the trajectory, or never does.
        problem: why the motion must be stopped; empty: nothing is known against it.
        again: why braking did not reach the controller, so that it has to set out once more, from
            where the robot is now; empty: it did, or nothing more can be done.
    """

    ended: bool = True
    problem: str = ""
    again: str = ""


class Transport(Protocol):
    """What takes trajectories to a controller.  One motion at a time; braking is its last part."""

    @property
    def name(self) -> str:
        """What trajectories go by, for people."""

    @property
    def listeners(self) -> tuple[str, ...]:
        """Names of what takes trajectories, as far as it is known; empty: nobody does."""

    @property
    def text(self) -> str:
        """What the controller has said of the last trajectory, for people; empty: it never does."""

    @property
    def answered(self) -> bool:
        """Whether the controller has said if it follows the last trajectory, or never says."""

    @property
    def settled(self) -> bool:
        """Whether everything that was sent has been answered, or never is."""

    def require_free(self) -> None:
        """Make sure that a motion may begin.

        Raises:
            StaleStateError: the controller owes an answer from before.
        """

    def follow(self, command: Command) -> None:
        """Send a trajectory of the motion, in place of the one before."""

    def brake(self, command: Command, now: Instant) -> str:
        """Have the robot brake; return why nothing is sent, empty where something is."""

    def look(self, now: Instant) -> Report:
        """Take in what the controller has said since the last look; return how the motion goes."""

    def leave(self) -> None:
        """Take note that the motion is over."""

    def wait(self) -> None:
        """Wait until what was sent has arrived, or some seconds."""


_READERS = ("acquisition", "computed_torque", "rosbag2_recorder")
"""Names of nodes that take trajectories in and move nothing."""

_COMMAND_LINE = "_ros2cli"  # how the names of the nodes of ros2 topic begin


class TopicTransport:
    """The topic of a controller: nobody answers, the joint states show what becomes of it.

    Args:
        node: the node that publishes.
    """

    text = ""
    answered = settled = True

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher = qos.create_publisher(
            node, JointTrajectory, "joint_trajectory", qos.COMMANDS
        )

    @property
    def name(self) -> str:
        """What trajectories go by, for people."""
        return f"the topic {self._publisher.topic_name}"

    @property
    def listeners(self) -> tuple[str, ...]:
        """Names of the nodes that have subscribed to the topic and may be a controller."""
        found = self._node.get_subscriptions_info_by_topic(self._publisher.topic_name)
        return tuple(
            sorted(
                node_at(one)
                for one in found
                if one.node_name not in _READERS and not one.node_name.startswith(_COMMAND_LINE)
            )
        )

    def require_free(self) -> None:
        """Do nothing: a motion may begin at any time."""

    def follow(self, command: Command) -> None:
        """Publish a trajectory of the motion."""
        self._publisher.publish(message_of(command.sent, command.stamp))

    def brake(self, command: Command, now: Instant) -> str:  # noqa: ARG002
        """Publish the braking trajectory."""
        self.follow(command)
        return ""

    def look(self, now: Instant) -> Report:  # noqa: ARG002
        """Return that nothing is known."""
        return Report()

    def leave(self) -> None:
        """Do nothing."""

    def wait(self) -> None:
        """Wait until what was published has arrived, or some seconds."""
        self._publisher.wait_for_all_acked(qos.ARRIVED_WITHIN)
