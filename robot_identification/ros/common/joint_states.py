"""Joint states on their way from a message to a checked sample in the order of the robot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSPolicyKind, ReliabilityPolicy, qos_policy_name_from_kind
from sensor_msgs.msg import JointState

from robot_identification.errors import MissingSignalError, SampleError, ShapeError
from robot_identification.robot.arrays import Array, by_value
from robot_identification.ros.common import qos
from robot_identification.signals.joint_columns import Columns, JointColumns


class DriverSubscription:
    """Hands on the messages of a topic, and subscribes again with best effort where it has to.

    What is best available is settled when a subscription is made, often before the driver of the
    robot has started.

    Attributes:
        incompatible: what does not fit in the quality of service of a publisher, empty if nothing.
        lost: messages that the middleware lost.

    Args:
        node: the node that subscribes.
        kind: type of the messages.
        topic: their topic.
        callback: given every message.
    """

    def __init__(self, node: Node, kind: Any, topic: str, callback: Callable[[Any], None]) -> None:
        self._node = node
        self._callback = callback
        self._kind = kind
        self._name = topic
        self.incompatible = ""
        self.lost = 0
        # Who has asked for a reliability gets it, or is told that it is not to be had.
        self._settled = qos.is_overridden(node, topic, "subscription", QoSPolicyKind.RELIABILITY)
        self._subscription = qos.create_subscription(
            node, kind, topic, callback, qos.STATES_IN, event_callbacks=self._events()
        )

    def _events(self) -> SubscriptionEventCallbacks:
        return SubscriptionEventCallbacks(
            incompatible_qos=self._on_incompatible_qos, message_lost=self._on_message_lost
        )

    @property
    def topic(self) -> str:
        """Topic with namespace and remapping."""
        name: str = self._subscription.topic_name
        return name

    def listen_to_lossy_publishers(self) -> None:
        """Subscribe again, once, if a publisher does not offer reliable messages."""
        if self.incompatible and not self._settled:
            self._settled = True
            profile = copy(self._subscription.qos_profile)
            profile.reliability = ReliabilityPolicy.BEST_EFFORT
            self._node.destroy_subscription(self._subscription)
            self._subscription = self._node.create_subscription(
                self._kind, self._name, self._callback, profile, event_callbacks=self._events()
            )
            self.incompatible = ""
            self._node.get_logger().warning(f"{self._name}: subscribed again with best effort")

    def _on_incompatible_qos(self, event: object) -> None:
        kind = event.last_policy_kind  # type: ignore[attr-defined]
        self.incompatible = f"a publisher offers an incompatible {qos_policy_name_from_kind(kind)}"
        self._node.get_logger().error(f"{self._name}: {self.incompatible}")

    def _on_message_lost(self, event: object) -> None:
        self.lost = event.total_count  # type: ignore[attr-defined]


NANOSECONDS = 1_000_000_000


@by_value
@dataclass(frozen=True)
class Sample:
    """One joint state of a robot's joints, on the side where it was measured.

    Attributes:
        stamp: header stamp in ns.
        position: (joints,) in rad or m.
        velocity: (joints,) in rad/s or m/s; None where it is absent or not a number.
        effort: (joints,) in N m, N or A.
        temperature: (joints,) in degrees Celsius, NaN where a joint has none; None where states
            have no temperatures.
    """

    stamp: int
    position: Array
    velocity: Array | None
    effort: Array
    temperature: Array | None = None


class JointStateReader:
    """Maps joint states to the joints of a robot by name and refuses those of no use.

    Args:
        joint_names: joints of the robot, in the order wanted.
        topic: topic of the messages, for error messages.
        efforts: whether their efforts count; without, those of a sample are 0.
    """

    def __init__(self, joint_names: Sequence[str], topic: str, *, efforts: bool = True) -> None:
        self._joint_names = tuple(joint_names)
        self._topic = topic
        self._efforts = efforts
        self._columns = JointColumns(joint_names, topic)

    def concerns(self, message: JointState) -> bool:
        """Tell whether a message is to be read, see :meth:`.JointColumns.concern`."""
        return self._columns.concern(message.name)

    @staticmethod
    def position_of(message: JointState, name: str) -> float | None:
        """Return the position of any joint in rad or m; None where a message does not tell it."""
        if name not in message.name or len(message.position) != len(message.name):
            return None
        return float(message.position[message.name.index(name)])

    def read(self, message: JointState, number: int) -> Sample:
        """Return the sample in a message.

        Args:
            message: the joint states.
            number: number of the message, for error messages.

        Raises:
            JointNameError: if a joint of the robot is missing.
            RecordingError: if a joint is named twice.
            MissingSignalError: if positions or efforts are absent.
            ShapeError: if there is not one value per name.
            SampleError: if a position or an effort is not finite.
        """
        # What is wrong with the names goes before what is wrong with values.
        named = len(message.name)
        columns = self._columns.of(message.name)
        return Sample(
            stamp=stamp_of(message),
            position=self._finite("position", message.position, named, columns, number),
            velocity=_optional(message.velocity, named, columns),
            effort=self._finite("effort", message.effort, named, columns, number)
            if self._efforts
            else np.zeros(len(self._joint_names)),
        )

    def read_effort(self, message: JointState, number: int) -> Array:
        """Return the efforts in a message, whatever else there is.

        Args:
            message: the joint states.
            number: number of the message, for error messages.

        Raises:
            JointNameError: if a joint of the robot is missing.
            RecordingError: if a joint is named twice.
            MissingSignalError: if efforts are absent.
            ShapeError: if there is not one effort per name.
            SampleError: if an effort is not finite.
        """
        columns = self._columns.of(message.name)
        return self._finite("effort", message.effort, len(message.name), columns, number)

    def _finite(
        self, signal: str, values: Sequence[float], named: int, columns: Columns, number: int
    ) -> Array:
        if not len(values):
            raise MissingSignalError(signal, self._topic)
        array = np.asarray(values, dtype=np.float64)
        if len(array) != named:
            raise ShapeError(signal, array.shape, f"({named},), one per name")
        array = array[columns]
        if not _are_finite(array):
            joint = int(np.flatnonzero(~np.isfinite(array))[0])
            raise SampleError(signal, self._joint_names[joint], number, float(array[joint]))
        return array


def _optional(values: Sequence[float], named: int, columns: Columns) -> Array | None:
    array = np.asarray(values, dtype=np.float64)
    if len(array) != named:
        return None
    array = array[columns]
    return array if _are_finite(array) else None


def _are_finite(values: Array) -> bool:
    """Tell whether all are finite; of a few, a thousand times a second, numpy takes longer."""
    return all(map(math.isfinite, values.tolist()))


NO_STAMPS = (
    "the joint states carry no stamps: their driver has to say in header.stamp when they were "
    "measured"
)


def why_not_later(stamp: int) -> str:
    """Return why a joint state is not after the one before it, whose stamp is no earlier.

    Args:
        stamp: its own stamp in ns; only the first state of a simulation may have 0.
    """
    return NO_STAMPS if stamp == 0 else "the stamps of the joint states do not rise"


def stamp_of(message: object) -> int:
    """Return the header stamp of a message in ns."""
    stamp = message.header.stamp  # type: ignore[attr-defined]
    return int(stamp.sec) * NANOSECONDS + int(stamp.nanosec)
