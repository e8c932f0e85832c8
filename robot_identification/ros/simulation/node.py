"""The node that simulates a robot: its direct dynamics under its declared controller.

Sample k carries the stamp start + k / rate, whatever the machine is busy with: a node that falls
behind computes and sends what is due in one go.  The controller feels the true state, as a drive
with sensors of its own does; noise and resolution are those of what is published.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.dynamics.simulation.sensors import Measurement, Sensors
from robot_identification.errors import (
    InputError,
    SampleError,
    SettingError,
    TrajectoryError,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.parameters import with_law_of
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import known_values, load_values, values_named_as
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import OK, WARN, NodeDiagnostics, status_of
from robot_identification.ros.common.joint_states import NANOSECONDS, stamp_of
from robot_identification.ros.common.parameters.declaration import declare
from robot_identification.ros.common.process import run
from robot_identification.ros.controllers.interfaces import ACTION, if_wanted
from robot_identification.ros.messages.trajectories import trajectory_of
from robot_identification.ros.robots.source import settle_robot
from robot_identification.ros.simulation.parameters import (
    SimulatedRobotParameters,
    SimulationParameters,
)
from robot_identification.ros.simulation.robot import Loop, RobotSimulator
from robot_identification.settings import per_joint

# How fast a stalled clock is made good, as a multiple of its pace and in samples a second: no
# faster than receivers with a deep queue follow.
_CATCHING_UP = 2.0
_CATCHING_UP_RATE = 2000.0
_SHORTEST_TICK = 0.004


class SimulatedRobot(Node):
    """Follows `joint_trajectory`, adds `feedforward_effort`, publishes `joint_states`.

    Where control_msgs is installed it serves the action `follow_joint_trajectory` as well.

    Args:
        name: of the node.
        kind: table of its parameters.
    """

    def __init__(
        self,
        name: str = "simulated_robot",
        kind: type[SimulationParameters] = SimulatedRobotParameters,
    ) -> None:
        super().__init__(name)
        declared = declare(self, kind)
        self._diagnostics = NodeDiagnostics(self)
        settle_robot(self, declared, self._diagnostics)
        values = declared.now
        self._robot = load_robot(values.robot)
        for warning in self._robot.warnings:
            self.get_logger().warning(warning)
        self._diagnostics.of_robot(self._robot.name)
        self._rate = values.rate
        self._speed = values.real_time_factor
        self._velocity = values.velocity
        self._wait = values.wait_for_reader
        self._simulator = self._make_simulator(values)
        self._start = 0
        self._published = 0
        self._followed = 0
        self._refused = 0
        self._ends_at: int | None = None
        self._end = 0
        self._before: Array | None = None
        self._message = JointState(name=list(self._robot.joint_names))
        self._publisher = qos.create_publisher(self, JointState, "joint_states", qos.STATES_OUT)
        if values.interface != ACTION:
            qos.create_subscription(
                self, JointTrajectory, "joint_trajectory", self._on_trajectory, qos.COMMANDS
            )
        self._action = self._make_action(values.interface)
        qos.create_subscription(
            self, JointState, "feedforward_effort", self._on_effort, qos.EFFORTS
        )
        pace = self._rate * self._speed
        tick = max(_SHORTEST_TICK, 1.0 / pace)
        self._largest_batch = math.ceil(tick * max(_CATCHING_UP * pace, _CATCHING_UP_RATE))
        self.create_timer(tick, self._on_tick)
        self._diagnostics.add(self._report)

    def _make_action(self, interface: str) -> Any:
        """Return the server of FollowJointTrajectory; None where there is none.

        Raises:
            SettingError: it is asked for, and control_msgs is missing.
        """

        def load() -> Any:
            from robot_identification.ros.simulation.follow_action import FollowAction

            return FollowAction

        server = if_wanted(interface, load)
        if server is None:
            return None
        return server(
            self,
            self._robot.joint_names,
            check=lambda message: self._simulator.check(*self._timed(message)),
            follow=self._follow,
            hold=self._hold,
        )

    def _make_simulator(self, values: SimulationParameters) -> RobotSimulator:
        """Return the simulated robot, its kernels compiled."""
        joints = len(self._robot.joints)
        sensors = Sensors(self._robot, values.sensors(self._robot), values.seed)
        loop = self._make_loop(values)
        position = per_joint("initial_position", values.initial_position, joints)
        return RobotSimulator(loop, sensors, position)

    def _make_loop(self, values: Any) -> Loop:
        """Return what computes the motion.

        Values of the package leave out what has no effect; of other files that may be a mistake.
        """
        truth = values.parameters_file or values_named_as(self._robot.name)
        if truth is None:
            raise SettingError(
                "parameters_file",
                "",
                f"the true values of {self._robot.name} are not known: give a file with a value "
                f"for each of its standard parameters, or one of {', '.join(known_values())}",
            )
        robot = with_law_of(truth, self._robot)
        return ClosedLoop(
            robot,
            load_values(truth, robot, complete=truth not in known_values()),
            rate_hz=values.control_rate or None,
            sample_rate_hz=self._rate,
        )

    def _on_tick(self) -> None:
        """Compute and publish the samples that are due."""
        now = self.get_clock().now().nanoseconds
        if self._start == 0:
            if now == 0:
                return  # the clock has not begun
            if self._wait and not self._publisher.get_subscription_count():
                return
            self._start = now
            self.get_logger().info(
                f"ready: {self._robot.name} at {self._rate:g} Hz from {self._start} ns"
            )
        elapsed = (now - self._start) / NANOSECONDS * self._speed
        due = int(elapsed * self._rate) + 1 - self._published
        if due <= 0:
            return
        self._publish(self._simulator.produce(min(due, self._largest_batch)))
        if self._action is not None:
            self._action.watch(self._simulator, (self._published - self._end) / self._rate)
        if self._ends_at is not None and self._published > self._ends_at:
            self._ends_at = None
            self.get_logger().info("trajectory finished")

    def _publish(self, signals: Measurement) -> None:
        """Publish measured samples, one message each."""
        velocities = self._velocities(signals.position, signals.velocity)
        message, publish = self._message, self._publisher.publish
        stamp = message.header.stamp
        for i, position in enumerate(signals.position):
            stamp.sec, stamp.nanosec = divmod(self._stamp(self._published), NANOSECONDS)
            message.position = array("d", position.tobytes())
            if velocities is not None:
                message.velocity = array("d", velocities[i].tobytes())
            message.effort = array("d", signals.effort[i].tobytes())
            publish(message)
            self._published += 1

    def _velocities(self, position: Array, true: Array) -> Array | None:
        """Return the velocities to publish, (samples, joints), or None."""
        if self._velocity == "none":
            return None
        if self._velocity == "true":
            return true
        before = position[:1] if self._before is None else self._before
        self._before = position[-1:]
        return np.diff(np.vstack([before, position]), axis=0) * self._rate

    def _stamp(self, sample: int) -> int:
        """Return the stamp of a sample in ns."""
        return self._start + round(sample * NANOSECONDS / self._rate)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        try:
            self._follow(message)
        except InputError as error:
            self._refused += 1
            self.get_logger().error(f"trajectory refused: {error}")
            return
        if self._action is not None:
            self._action.replaced()

    def _timed(self, message: JointTrajectory) -> tuple[Trajectory, float | None]:
        """Return a trajectory and the simulated time in s at which it starts; None: now.

        Raises:
            InputError: it is none.
        """
        if self._start == 0:
            raise TrajectoryError("simulated time has not begun")
        stamp = stamp_of(message)
        return trajectory_of(message), None if stamp == 0 else (stamp - self._start) / NANOSECONDS

    def _follow(self, message: JointTrajectory) -> None:
        """Follow a trajectory from now on.

        Raises:
            InputError: it cannot be followed.
        """
        trajectory, after = self._timed(message)
        start = self._simulator.follow(trajectory, after)
        self._followed += 1
        self._end = self._ends_at = self._simulator.moving_until
        if start.delay < 0.0:
            self.get_logger().warning(f"trajectory joined {-start.delay:.3f} s late")
        self.get_logger().info(
            f"trajectory of {len(trajectory.times)} points and {trajectory.duration:.3f} s "
            f"starts at sample {start.sample}"
        )

    def _hold(self) -> None:
        """Stay where the robot is."""
        self._simulator.hold()
        self._ends_at = None
        self.get_logger().info("holds where it is")

    def _on_effort(self, message: JointState) -> None:
        stamp = stamp_of(message)
        after = None if stamp == 0 or self._start == 0 else (stamp - self._start) / NANOSECONDS
        try:
            self._simulator.add_effort(self._efforts(message), after)
        except InputError as error:
            self.get_logger().error(f"feedforward_effort refused: {error}")

    def _efforts(self, message: JointState) -> Array:
        """Return (joints,) efforts by name; joints that are not named get 0."""
        efforts = np.zeros(len(self._robot.joints))
        for index, (name, value) in enumerate(zip(message.name, message.effort, strict=False)):
            if name not in self._robot.joint_names:
                raise InputError(f"the robot has no joint {name}")
            if not np.isfinite(value):
                raise SampleError("feedforward_effort", name, index, value)
            efforts[self._robot.joint_names.index(name)] = value
        return efforts

    def _report(self) -> DiagnosticStatus:
        """Return what /diagnostics say of what was sent."""
        trouble = self.trouble()
        text = trouble or ("moving" if self._ends_at is not None else "holding")
        level = WARN if trouble else OK
        return status_of(self, level, text, self.counters(), robot=self._robot.name)

    def trouble(self) -> str:
        """Return what should not have happened, for people; empty where nothing has."""
        return ""

    def counters(self) -> dict[str, int | str]:
        """Return what was sent and received so far."""
        return {
            "samples_published": self._published,
            "trajectories_followed": self._followed,
            "trajectories_refused": self._refused,
            "efforts_late": self._simulator.late_efforts,
        }

    def finish(self) -> None:
        """Say for the last time what was sent, when all of it has arrived."""
        self._publisher.wait_for_all_acked(qos.ARRIVED_WITHIN)
        self._diagnostics.update()
        self._diagnostics.wait_until_read()
        self.get_logger().info(", ".join(f"{k} {v}" for k, v in self.counters().items()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(
        SimulatedRobot,
        arguments,
        name="simulated_robot",
        finish=SimulatedRobot.finish,
        make_executor=EventsExecutor,
    )


if __name__ == "__main__":
    sys.exit(main())
