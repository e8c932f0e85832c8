"""Joint states with interfaces of every joint (control_msgs/DynamicJointState) as they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robot_identification.errors import MissingSignalError, SampleError, SettingError, ShapeError
from robot_identification.files.bags.cdr.dynamic_states import SIGNALS
from robot_identification.robot.arrays import Array
from robot_identification.ros.common.joint_states import Sample, stamp_of
from robot_identification.signals.joint_columns import JointColumns

TOPIC = "dynamic_joint_states"


def dynamic_joint_state(setting: str, value: object) -> Any:
    """Return the type of the messages.

    Args:
        setting: the parameter that asks for it.
        value: of that parameter.

    Raises:
        SettingError: control_msgs is not installed.
    """
    try:
        from control_msgs.msg import DynamicJointState
    except ModuleNotFoundError as error:
        raise SettingError(
            setting,
            value,
            "needs the interfaces of control_msgs, which are not installed: apt-get install "
            "ros-$ROS_DISTRO-control-msgs, and source that ROS",
        ) from error
    return DynamicJointState


class DynamicStateReader:
    """Maps states to the joints of a robot by name, as JointStateReader does JointState.

    Args:
        joint_names: joints of the robot, in the order wanted.
        topic: topic of the messages, for error messages.
        interfaces: signal -> name of its interface.
        efforts: whether their efforts count; without, those of a sample are 0.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        topic: str,
        interfaces: Mapping[str, str],
        *,
        efforts: bool = True,
    ) -> None:
        self._joint_names = tuple(joint_names)
        self._topic = topic
        self._interfaces = interfaces
        self._efforts = efforts
        self._columns = JointColumns(joint_names, topic)
        self._known: list[Sequence[str]] = [()] * len(self._joint_names)
        self._places: list[tuple[int | None, ...]] = [()] * len(self._joint_names)

    def concerns(self, message: Any) -> bool:
        """Tell whether a message is to be read, see :meth:`.JointColumns.concern`."""
        return self._columns.concern(message.joint_names)

    def position_of(self, message: Any, name: str) -> float | None:
        """Return the position of any joint in rad or m; None where a message does not tell it."""
        wanted = self._interfaces["position"]
        for joint, own in zip(message.joint_names, message.interface_values, strict=False):
            if joint == name and len(own.values) == len(own.interface_names):
                told = dict(zip(own.interface_names, own.values, strict=True))
                return told.get(wanted)
        return None

    def read(self, message: Any, number: int) -> Sample:
        """Return the sample in a message.

        Args:
            message: the states.
            number: number of the message, for error messages.

        Raises:
            JointNameError: if a joint of the robot is missing.
            RecordingError: if a joint is named twice.
            MissingSignalError: if a joint has no interface of its position or effort.
            ShapeError: if there is not one value per interface, and one set of them per joint.
            SampleError: if a position or an effort is not finite.
        """
        position, velocity, effort, temperature = self._signals(message)
        return Sample(
            stamp=stamp_of(message),
            position=self._finite("position", position, number),
            velocity=velocity if np.isfinite(velocity).all() else None,
            effort=self._finite("effort", effort, number)
            if self._efforts
            else np.zeros(len(self._joint_names)),
            temperature=temperature,
        )

    def temperatures(self, message: Any) -> Array:
        """Return the (joints,) temperatures in a message in degrees Celsius; NaN where none are.

        Raises:
            JointNameError, RecordingError, ShapeError: as :meth:`read`.
        """
        return self._signals(message)[-1]

    def _signals(self, message: Any) -> Array:
        """Return (signals, joints) all numbers; NaN where a joint has no such interface."""
        interfaces = message.interface_values
        if len(interfaces) != len(message.joint_names):
            expected = f"({len(message.joint_names)},), one per joint"
            raise ShapeError("interface_values", (len(interfaces),), expected)
        found = np.full((len(SIGNALS), len(self._joint_names)), np.nan)
        for joint, column in enumerate(self._columns.of(message.joint_names)):
            own = interfaces[column]
            if own.interface_names != self._known[joint]:
                self._learn(joint, own.interface_names)
            if len(own.values) != len(own.interface_names):
                expected = f"({len(own.interface_names)},), one per interface"
                shape = (len(own.values),)
                raise ShapeError(f"values of {self._joint_names[joint]}", shape, expected)
            for signal, place in enumerate(self._places[joint]):
                if place is not None:
                    found[signal, joint] = own.values[place]
        return found

    def _learn(self, joint: int, names: Sequence[str]) -> None:
        """Take note of the interfaces of a joint, which stay the same as a rule."""
        known = list(names)
        self._known[joint] = known
        self._places[joint] = tuple(
            known.index(name) if name in known else None
            for name in (self._interfaces[signal] for signal in SIGNALS)
        )

    def _finite(self, signal: str, values: Array, number: int) -> Array:
        for joint in np.flatnonzero(~np.isfinite(values))[:1]:
            name = self._joint_names[joint]
            if self._places[joint][SIGNALS.index(signal)] is None:
                wanted = self._interfaces[signal]
                there = ", ".join(self._known[joint]) or "none"
                where = f"{self._topic}, interface {wanted} (there: {there})"
                raise MissingSignalError(signal, where, name)
            raise SampleError(signal, name, number, float(values[joint]))
        return values
