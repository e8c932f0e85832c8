"""What the controller was asked for, at the stamps of what the robot did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_identification.errors import RobotIdentificationError
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.nodes import qos
from robot_identification.nodes.joint_states import NANOSECONDS, stamp_of
from robot_identification.nodes.polled import PolledSubscription, Raw
from robot_identification.nodes.recorder import Block
from robot_identification.nodes.trajectories import trajectory_of
from robot_identification.robot.model import Array, RobotModel
from robot_identification.storage.bag_parts import BagMessage
from robot_identification.storage.bag_trajectories import MESSAGE_TYPE as TRAJECTORY_TYPE
from robot_identification.storage.joint_state_cdr import MESSAGE_TYPE as STATE_TYPE

_REMEMBERED = 20000


class Reference:
    """Knows the reference from `joint_trajectory`, or from samples on `joint_reference`.

    A trajectory is interpolated as joint_trajectory_controller does, and stands still before its
    start and after its end.  Samples hold until the next one; where any came they are preferred.

    Args:
        node: the node that subscribes.
        robot: the robot.
        keep: given every message, for a bag.
    """

    def __init__(self, node: Node, robot: RobotModel, keep: Callable[[BagMessage], None]) -> None:
        self._node = node
        self._keep = keep
        self._newest: dict[str, BagMessage] = {}
        self._robot = robot
        self._trajectory: Trajectory | None = None
        self._start = 0
        self._stamps: list[int] = []
        self._positions: list[Array] = []
        self._trajectories = PolledSubscription(
            node, JointTrajectory, "joint_trajectory", qos.COMMANDS, raw=True
        )
        self._samples = PolledSubscription(
            node, JointState, "joint_reference", qos.STATES_IN, raw=True
        )

    def receive(self, most: int) -> None:
        """Take in what has come.

        Args:
            most: largest number of messages to take of each kind.
        """
        for raw in self._trajectories.take_raw(most):
            self._note(self._trajectories.topic_name, TRAJECTORY_TYPE, raw)
            self._on_trajectory(deserialize_message(raw.message, JointTrajectory))
        for raw in self._samples.take_raw(most):
            self._note(self._samples.topic_name, STATE_TYPE, raw)
            self._on_sample(deserialize_message(raw.message, JointState))

    @property
    def newest(self) -> tuple[BagMessage, ...]:
        """The last trajectory and the last sample, as far as there are any."""
        return tuple(self._newest.values())

    def _note(self, topic: str, kind: str, raw: Raw) -> None:
        message = BagMessage(topic, kind, raw.sent, raw.message)
        self._newest[topic] = message
        self._keep(message)

    def complete(self, block: Block) -> Block:
        """Return a block with the reference at its stamps, where one is known."""
        reference = self._at(block.samples.stamps)
        if reference is None:
            return block
        return replace(block, samples=replace(block.samples, reference=reference))

    def _at(self, stamps: npt.NDArray[np.int64]) -> Array | None:
        if self._stamps:
            places = np.searchsorted(np.array(self._stamps), stamps, side="right") - 1
            known = len(places) == 0 or places[0] >= 0
            return np.array(self._positions)[places] if known else None
        if self._trajectory is not None:
            seconds = (stamps - self._start) / NANOSECONDS
            return self._trajectory.sample(seconds)[0]
        return None

    def _on_trajectory(self, message: JointTrajectory) -> None:
        start = stamp_of(message)
        try:
            trajectory = trajectory_of(message).reordered(self._robot.joint_names)
        except RobotIdentificationError as error:
            self._node.get_logger().warning(f"reference ignored: {error}")
            return
        if start == 0:
            self._node.get_logger().warning(
                "reference ignored: a trajectory without a start stamp begins nobody knows when"
            )
            self._trajectory = None
            return
        self._trajectory, self._start = trajectory, start

    def _on_sample(self, message: JointState) -> None:
        place = dict(zip(message.name, message.position, strict=False))
        stamp = stamp_of(message)
        if set(self._robot.joint_names) - set(place) or (self._stamps and stamp < self._stamps[-1]):
            return
        self._stamps.append(stamp)
        self._positions.append(np.array([place[name] for name in self._robot.joint_names]))
        if len(self._stamps) > 2 * _REMEMBERED:
            del self._stamps[:_REMEMBERED], self._positions[:_REMEMBERED]
