"""The controller's reference at the stamps of the joint states."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_identification.errors import InputError, RobotIdentificationError
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE as STATE_TYPE
from robot_identification.files.bags.trajectories import MESSAGE_TYPE as TRAJECTORY_TYPE
from robot_identification.files.bags.trajectories import SentTrajectory
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.ros.acquisition.recorder import Block
from robot_identification.ros.acquisition.sent_trajectories import SentTrajectories
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.common.stamps import GracePeriod
from robot_identification.ros.controllers.interfaces import AUTO, FOLLOWED, if_wanted
from robot_identification.ros.messages.trajectories import trajectory_of
from robot_identification.signals.clock.arrivals import SETBACK_NS, Arrivals
from robot_identification.signals.clock.stamps import newest_at
from robot_identification.signals.joint_columns import JointColumns

_REMEMBERED = 20_000
"""Samples that are kept while nothing is recorded."""


class ReferenceSamples:
    """Positions in order of their stamps; each holds until the next one.

    A sample that comes after a newer one is left out.  One that lies so far behind that the clock
    must have been set back begins anew.
    """

    def __init__(self) -> None:
        self._samples = Arrivals[Array]()
        self._grace = GracePeriod()

    def __bool__(self) -> bool:
        return bool(self._samples.stamps)

    def known_until(self) -> int | None:
        """Return the stamp up to which the reference is known; None where no more samples are due.

        States and their reference come on two topics, in any order.  What is asked for after the
        newest sample is known only once the next one has come, or none comes for a while.
        """
        if not self or not self._grace.active():
            return None
        return self._samples.stamps[-1]

    def add(self, stamp: int, position: Array) -> None:
        """Take in a sample: its stamp in ns, and the positions of all joints, rad or m."""
        stamps = self._samples.stamps
        if stamps and stamp < stamps[-1]:
            if stamps[-1] - stamp < SETBACK_NS:
                return
            self._samples = Arrivals()
        self._grace.renew()
        self._samples.add(stamp, position)
        if len(self._samples.stamps) > 2 * _REMEMBERED:
            self._samples.take(_REMEMBERED)

    def at(self, stamps: npt.NDArray[np.int64]) -> Array | None:
        """Return the reference at later and later stamps, of shape (samples, joints).

        What went before the last of them is forgotten.

        Returns:
            None where the first stamp lies before the first sample.
        """
        places = newest_at(np.array(self._samples.stamps, dtype=np.int64), stamps)
        if not self or (len(places) and places[0] < 0):
            return None
        reference = np.array(self._samples.values)[places]
        if len(places):
            self._samples.take(int(places[-1]))
        return reference


_REPEAT = 10.0


def _controller_state() -> Any:
    from control_msgs.msg import JointTrajectoryControllerState

    return JointTrajectoryControllerState


Received = tuple[str, str, Any, int]
"""Topic, type, message, and when it came, in ns."""


class Reference:
    """Knows the reference from `joint_trajectory`, or from samples on `joint_reference`.

    The samples may also come from a controller, in its state on `controller_state`, where
    control_msgs is installed; those of `joint_reference` go before them.

    What a controller was sent by its action is on `followed_trajectory`, and in bags with the rest.

    Trajectories are interpolated as joint_trajectory_controller does, each from its start until
    another one takes its place; the reference stands still before the first and after their ends.
    Samples hold until the next one; where any came they are preferred.

    Args:
        node: the node that subscribes.
        robot: the robot.
        keep: given topic, type, message and time in ns of all that comes, for a bag.
    """

    def __init__(
        self, node: Node, robot: RobotModel, keep: Callable[[str, str, Any, int], None]
    ) -> None:
        self._node = node
        self._keep = keep
        self._newest: dict[str, Received] = {}
        self._robot = robot
        self._sent = SentTrajectories()
        self._samples = ReferenceSamples()
        self._own_samples = False
        self._columns = JointColumns(robot.joint_names, "joint_reference")
        self._trajectory_topic = qos.create_subscription(
            node, JointTrajectory, "joint_trajectory", self._on_trajectory, qos.COMMANDS
        ).topic_name
        node.create_subscription(JointTrajectory, FOLLOWED, self._on_trajectory, qos.COMMANDS)
        self._sample_topic = qos.create_subscription(
            node, JointState, "joint_reference", self._on_own_sample, qos.STATES_IN
        ).topic_name
        controller_state = if_wanted(AUTO, _controller_state)
        if controller_state is not None:
            qos.create_subscription(
                node, controller_state, "controller_state", self._on_controller_state, qos.STATES_IN
            )

    @property
    def newest(self) -> tuple[Received, ...]:
        """The last trajectory and the last sample, as far as there are any."""
        return tuple(self._newest.values())

    def known_until(self) -> int | None:
        """Return the stamp in ns up to which samples have come; None where none are waited for."""
        return self._samples.known_until()

    def next_clock(self, stamp: int) -> None:
        """Forget what is of a clock that was set back; samples may be of the new one already.

        Args:
            stamp: of the first joint state on the new clock, in ns.
        """
        self._sent.forget()
        self._newest.pop(self._trajectory_topic, None)
        newest = self._newest.get(self._sample_topic)
        if newest is not None and stamp_of(newest[2]) - stamp >= SETBACK_NS:
            del self._newest[self._sample_topic]
            self._samples = ReferenceSamples()

    def _note(self, topic: str, kind: str, message: Any) -> None:
        noted = (topic, kind, message, time.time_ns())
        self._newest[topic] = noted
        self._keep(*noted)

    def complete(self, block: Block) -> Block:
        """Return a block with the reference at its stamps, where one is known."""
        reference = self._at(block.samples.stamps)
        if reference is None:
            return block
        return replace(block, samples=replace(block.samples, reference=reference))

    def _at(self, stamps: npt.NDArray[np.int64]) -> Array | None:
        if self._samples:
            return self._samples.at(stamps)
        return self._sent.at(stamps)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        self._note(self._trajectory_topic, TRAJECTORY_TYPE, message)
        start = stamp_of(message)
        try:
            trajectory = trajectory_of(message).reordered(self._robot.joint_names)
        except RobotIdentificationError as error:
            self._node.get_logger().warning(f"reference ignored: {error}")
            return
        if start == 0:
            self._node.get_logger().warning(
                "reference ignored: a trajectory without a start stamp starts at an unknown time"
            )
            self._sent.forget()
            return
        self._sent.add(SentTrajectory(start, trajectory))

    def _on_own_sample(self, message: JointState) -> None:
        if not self._own_samples:
            self._own_samples, self._samples = True, ReferenceSamples()
        self._on_sample(message)

    def _on_controller_state(self, message: Any) -> None:
        """Take what a controller is to follow as a sample of the reference, and keep it as one."""
        if not self._own_samples:
            point = message.reference
            self._on_sample(
                JointState(
                    header=message.header,
                    name=message.joint_names,
                    position=point.positions,
                    velocity=point.velocities,
                )
            )

    def _on_sample(self, message: JointState) -> None:
        self._note(self._sample_topic, STATE_TYPE, message)
        if stamp_of(message) == 0:
            self._node.get_logger().warning(
                "reference ignored: a sample without a stamp holds at an unknown time",
                throttle_duration_sec=_REPEAT,
            )
        elif len(message.position) == len(message.name):
            with suppress(InputError):  # of other joints
                columns = self._columns.of(message.name)
                self._take(stamp_of(message), np.asarray(message.position)[columns])

    def _take(self, stamp: int, position: Array) -> None:
        """Take in a sample of all joints; a controller may send NaN before it knows the robot."""
        if np.isfinite(position).all():
            self._samples.add(stamp, position)
            return
        name = self._robot.joint_names[int(np.flatnonzero(~np.isfinite(position))[0])]
        self._node.get_logger().warning(
            f"reference ignored: a sample whose position of {name} is not finite",
            throttle_duration_sec=_REPEAT,
        )
