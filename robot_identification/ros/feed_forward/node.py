"""The node that feeds a model forward: efforts of `inertial_parameters` along `joint_trajectory`.

Its clock is that of the robot: the stamps of `joint_states`.  Each effort carries the stamp from
which it holds.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.errors import InconsistentParametersError, InputError
from robot_identification.msg import InertialParameters
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.model import Array
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import NodeDiagnostics
from robot_identification.ros.common.joint_states import (
    NANOSECONDS,
    JointStateReader,
    Sample,
    stamp_of,
)
from robot_identification.ros.common.parameters import RobotParameters, declare
from robot_identification.ros.common.process import run
from robot_identification.ros.controllers.interfaces import FOLLOWED
from robot_identification.ros.feed_forward.stream import TorqueStream
from robot_identification.ros.messages.common import time_of
from robot_identification.ros.messages.inertial import feed_forward_of
from robot_identification.ros.messages.trajectories import trajectory_of
from robot_identification.ros.robots.in_use import say_robot_in_use
from robot_identification.ros.robots.source import settle_robot
from robot_identification.settings import setting


@dataclass(frozen=True)
class ComputedTorqueParameters(RobotParameters):
    """Parameters of the node computed_torque: topics and rate."""

    rate: float = setting(
        "rate of feedforward_effort", 100.0, minimum=1.0, maximum=1000.0, unit="Hz"
    )
    lead: float = setting(
        "how far ahead of joint_states efforts are sent; 0: the robot applies them at once",
        0.2,
        minimum=0.0,
        maximum=3.0,
        unit="s",
    )


class ComputedTorque(Node):
    """Takes `inertial_parameters` and `joint_trajectory`, publishes `feedforward_effort`."""

    def __init__(self) -> None:
        super().__init__("computed_torque")
        declared = declare(self, ComputedTorqueParameters)
        diagnostics = NodeDiagnostics(self)
        origin = settle_robot(self, declared, diagnostics)
        values = declared.now
        self._robot = load_robot(values.robot)
        diagnostics.of_robot(self._robot.name)
        names = self._robot.joint_names
        self._warm()
        self._stream = TorqueStream(names, values.rate, values.lead)
        self._reader = JointStateReader(names, "joint_states", efforts=False)
        self._latest: Sample | None = None
        self._early: JointTrajectory | None = None
        self._early_parameters: InertialParameters | None = None
        self._sent = 0
        self._message = JointState(name=list(names))
        self._publisher = qos.create_publisher(self, JointState, "feedforward_effort", qos.EFFORTS)
        self.create_subscription(
            InertialParameters, "inertial_parameters", self._on_parameters, qos.LATCHED
        )
        for topic in ("joint_trajectory", FOLLOWED):
            qos.create_subscription(self, JointTrajectory, topic, self._on_trajectory, qos.COMMANDS)
        states = qos.create_subscription(
            self, JointState, "joint_states", self._on_states, qos.STATES_WATCHED
        )
        say_robot_in_use(self, self._robot, origin, joint_states=states.topic_name)
        self.get_logger().info(f"ready: {self._robot.name}, waiting for inertial_parameters")

    def _warm(self) -> None:
        """Load the compiled code, and refuse a robot that no model can be fed forward to.

        Raises:
            MissingLimitError: joints have no effort limit.
            SettingError: its controller has a model of its own.
        """
        still = np.zeros((1, len(self._robot.joints)))
        values = np.zeros(len(self._robot.all_parameter_names))
        FeedForward(self._robot, values).efforts(still, still, still)

    def _on_parameters(self, message: InertialParameters) -> None:
        position = self._position()
        if position is None:
            self._early_parameters = message  # until the first state says where the robot stands
            return
        try:
            model = feed_forward_of(message, self._robot)
            model.require_holding(position)
        except (InputError, InconsistentParametersError) as error:
            self.get_logger().error(f"inertial_parameters refused: {error}")
            return
        self._stream.use(model)
        self.get_logger().info(f"parameters of {stamp_of(message)} ns in use")

    def _on_trajectory(self, message: JointTrajectory) -> None:
        position = self._position()
        if position is None:
            self._early = message  # until the first state says what time it is
            return
        try:
            trajectory = trajectory_of(message)
            self._stream.follow(trajectory, stamp_of(message), position)
        except InputError as error:
            self.get_logger().error(f"trajectory refused: {error}")
            return
        own = "" if trajectory.efforts is None else "; its points have efforts, nothing is added"
        self.get_logger().info(f"trajectory of {len(message.points)} points in use{own}")

    def _position(self) -> Array | None:
        """Return the (joints,) position of the robot in rad or m; None before the first state."""
        if self._latest is None:
            return None
        signals = to_joint_side(self._robot, self._latest.position[None], None, None)
        return np.asarray(signals.position, dtype=np.float64)[0]

    def _on_states(self, message: JointState) -> None:
        try:
            latest = self._reader.read(message, 0)
        except InputError as error:
            self.get_logger().warning(f"joint state refused: {error}", throttle_duration_sec=1.0)
            return
        if self._latest is not None and 0 <= self._latest.stamp - latest.stamp < NANOSECONDS:
            self.get_logger().warning(
                "the stamps of the joint states do not rise", throttle_duration_sec=1.0
            )
            return
        self._latest = latest
        if self._early_parameters is not None:
            parameters, self._early_parameters = self._early_parameters, None
            self._on_parameters(parameters)
        if self._early is not None:
            early, self._early = self._early, None
            self._due(latest.stamp)
            self._on_trajectory(early)
        for stamp, effort in self._due(latest.stamp):
            self._send(stamp, effort)
        if limited := ", ".join(self._stream.limited):
            self.get_logger().warning(
                f"the model asks for more than the effort limit of {limited}",
                throttle_duration_sec=1.0,
            )

    def _due(self, now: int) -> list[tuple[int, Array]]:
        """Return what is due; what is no number ends the feed-forward with an effort of zero."""
        try:
            return self._stream.due(now)
        except InputError as error:
            self._stream.stop()
            self.get_logger().error(
                f"nothing is fed forward until there are other parameters: {error}"
            )
            return [(0, np.zeros(len(self._robot.joints)))]

    def _send(self, stamp: int, effort: Array) -> None:
        self._message.header.stamp = time_of(stamp)
        self._message.effort = array("d", effort.tobytes())
        self._publisher.publish(self._message)
        self._sent += 1

    def finish(self) -> None:
        """Take the feed-forward away, so that no old effort stays."""
        if self._sent:
            self._send(0, np.zeros(len(self._robot.joints)))
            self._publisher.wait_for_all_acked(qos.ARRIVED_WITHIN)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(
        ComputedTorque,
        arguments,
        name="computed_torque",
        finish=ComputedTorque.finish,
        make_executor=EventsExecutor,
    )


if __name__ == "__main__":
    sys.exit(main())
