"""Parts of the node computed_torque while it is configured: robot, topics, efforts."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.errors import InconsistentParametersError, InputError
from robot_identification.msg import InertialParameters
from robot_identification.robot.arrays import Array
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import (
    NANOSECONDS,
    JointStateReader,
    Sample,
    stamp_of,
    why_not_later,
)
from robot_identification.ros.controllers.interfaces import FOLLOWED
from robot_identification.ros.feed_forward.parameters import ComputedTorqueParameters
from robot_identification.ros.feed_forward.stream import TorqueStream
from robot_identification.ros.lifecycle.transitions import Ending, Lifecycle
from robot_identification.ros.messages.common import time_of
from robot_identification.ros.messages.inertial import feed_forward_of
from robot_identification.ros.messages.trajectories import trajectory_of

_SILENT = 1.0
"""Time in s without a joint state after which efforts are not let fall slowly any more."""


class FeedForwardWorks:
    """Takes `inertial_parameters` and trajectories, publishes `feedforward_effort` while active.

    A controller goes on applying the last effort that it has, so efforts end with one of zero.
    When the node is deactivated they fall to it: a step would shake a robot that they hold.

    Args:
        node: the node.
        values: its parameters.
        lifecycle: says whether it is active.
        clock: returns a time that never jumps, in s.

    Attributes:
        robot: the robot.

    Raises:
        RobotIdentificationError: the robot, or a parameter, is wrong.
    """

    def __init__(
        self,
        node: Node,
        values: ComputedTorqueParameters,
        lifecycle: Lifecycle,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log, self._lifecycle, self._clock = node.get_logger(), lifecycle, clock
        self.robot = load_robot(values.robot)
        for warning in self.robot.warnings:
            self._log.warning(warning)
        names = self.robot.joint_names
        self._warm()
        self._fade_time = values.fade_time
        self._stream = TorqueStream(names, values.rate, values.lead, begun=False)
        self._reader = JointStateReader(names, "joint_states", efforts=False)
        self._latest: Sample | None = None
        self._heard = clock()  # when the last state came
        self._early: JointTrajectory | None = None
        self._early_parameters: InertialParameters | None = None
        self._sent = 0
        self._message = JointState(name=list(names))
        self._publisher = qos.create_publisher(node, JointState, "feedforward_effort", qos.EFFORTS)
        node.create_subscription(
            InertialParameters, "inertial_parameters", self._on_parameters, qos.LATCHED
        )
        for topic in ("joint_trajectory", FOLLOWED):
            qos.create_subscription(node, JointTrajectory, topic, self._on_trajectory, qos.COMMANDS)
        qos.create_subscription(
            node, JointState, "joint_states", self._on_states, qos.STATES_WATCHED
        )

    def _warm(self) -> None:
        """Load the compiled code, and refuse a robot that no model can be fed forward to.

        Raises:
            MissingLimitError: joints have no effort limit.
            SettingError: its controller has a model of its own.
        """
        still = np.zeros((1, len(self.robot.joints)))
        values = np.zeros(len(self.robot.all_parameter_names))
        FeedForward(self.robot, values).efforts(still, still, still)

    # As Works of a managed node

    def activate(self) -> None:
        """Send efforts from now on."""
        self._stream.begin(self._position())
        self._log.info(f"ready: {self.robot.name}, waiting for inertial_parameters")

    def rest(self, why: str) -> Ending:  # noqa: ARG002
        """Let the efforts fall to zero, and tell when they have."""
        self._stream.fade(self._fade_time)
        return self._faded

    def end(self, why: str) -> Ending:
        """Do the same."""
        return self.rest(why)

    def _faded(self) -> str | None:
        """Return None while the last efforts are not over; by the clock of the robot."""
        if not self._stream.over and self._clock() - self._heard < _SILENT:
            return None
        self._take_away()
        return ""

    def close(self) -> None:
        """Take the efforts away, and wait until that has arrived, or some seconds."""
        self._take_away()
        if self._sent:
            self._publisher.wait_for_all_acked(qos.ARRIVED_WITHIN)

    def _take_away(self) -> None:
        """Have no old effort stay."""
        if self._sent and not self._stream.ended:
            self._send(0, np.zeros(len(self.robot.joints)))
        self._stream.end()

    # What comes

    def _on_parameters(self, message: InertialParameters) -> None:
        position = self._position()
        if position is None:
            self._early_parameters = message  # until the first state says where the robot stands
            return
        try:
            model = feed_forward_of(message, self.robot)
            model.require_holding(position)
        except (InputError, InconsistentParametersError) as error:
            self._log.error(f"inertial_parameters refused: {error}")
            return
        self._stream.use(model)
        self._log.info(f"parameters of {stamp_of(message)} ns in use")

    def _on_trajectory(self, message: JointTrajectory) -> None:
        position = self._position()
        if position is None:
            self._early = message  # until the first state says what time it is
            return
        try:
            trajectory = trajectory_of(message)
            self._stream.follow(trajectory, stamp_of(message), position)
        except InputError as error:
            self._log.error(f"trajectory refused: {error}")
            return
        own = "" if trajectory.efforts is None else "; its points have efforts, nothing is added"
        self._log.info(f"trajectory of {len(message.points)} points in use{own}")

    def _position(self) -> Array | None:
        """Return the (joints,) position of the robot in rad or m; None before the first state."""
        if self._latest is None:
            return None
        signals = to_joint_side(self.robot, self._latest.position[None], None, None)
        return np.asarray(signals.position, dtype=np.float64)[0]

    def _on_states(self, message: JointState) -> None:
        if not self._reader.concerns(message):
            return
        try:
            latest = self._reader.read(message, 0)
        except InputError as error:
            self._log.warning(f"joint state refused: {error}", throttle_duration_sec=1.0)
            return
        if self._latest is not None and 0 <= self._latest.stamp - latest.stamp < NANOSECONDS:
            self._log.warning(why_not_later(latest.stamp), throttle_duration_sec=1.0)
            return
        self._latest, self._heard = latest, self._clock()
        if not self._lifecycle.active:
            self._stream.fade(self._fade_time)  # whatever has become of the transition
        if self._early_parameters is not None:
            parameters, self._early_parameters = self._early_parameters, None
            self._on_parameters(parameters)
        if self._early is not None:
            early, self._early = self._early, None
            self._due(latest.stamp)
            self._on_trajectory(early)
        due = self._due(latest.stamp)
        for stamp, effort in due:
            self._send(stamp, effort)
        if due and (limited := ", ".join(self._stream.limited)):
            self._log.warning(
                f"the model asks for more than the effort limit of {limited}",
                throttle_duration_sec=1.0,
            )

    def _due(self, now: int) -> list[tuple[int, Array]]:
        """Return what is due; what is no number ends the feed-forward with an effort of zero."""
        followed = self._stream.follows
        try:
            due = self._stream.due(now)
        except InputError as error:
            self._stream.stop()
            self._log.error(f"nothing is fed forward until there are other parameters: {error}")
            return [(0, np.zeros(len(self.robot.joints)))]
        if followed and not self._stream.follows:
            self._log.warning(
                "the clock of the joint states was set back: nothing is fed forward until another "
                "trajectory comes"
            )
        return due

    def _send(self, stamp: int, effort: Array) -> None:
        self._message.header.stamp = time_of(stamp)
        self._message.effort = array("d", effort.tobytes())
        self._publisher.publish(self._message)
        self._sent += 1
