"""Tracking errors of a robot with a model fed forward by the node computed_torque.

Demo, tests and benchmarks publish parameters and trajectories, and compare joint states with the
reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.msg import InertialParameters
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.ros.clients.client import READY_WITHIN, Client
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS, stamp_of
from robot_identification.ros.messages.inertial import parameters_message
from robot_identification.ros.messages.trajectories import message_of

Watch = Callable[[float], None]

NODE = "computed_torque"
_SHORTEST_START_LEAD = 2.0  # s: a machine may be busy
_SETTLING = 1.0
_APPROACH = 2.0  # s per rad or m
_SHORTEST_APPROACH = 0.5
_MOST_LATE = 0.05  # the first efforts for a new motion come late, while the robot still rests
_IN_USE = "parameters of"


class Errors(NamedTuple):
    """Tracking errors of one motion.

    Attributes:
        time: (samples,) time since the start of the motion, in s.
        error: (samples, joints) position less reference, in rad or m.
        late: share of the feed-forward efforts that reached the robot too late.
    """

    time: Array
    error: Array
    late: float

    @property
    def tells_of_model(self) -> bool:
        """Whether the errors are those of the model, and not of a machine that is too busy."""
        return self.late <= _MOST_LATE

    @property
    def rms(self) -> Array:
        """(joints,) root mean square of the errors."""
        return np.asarray(np.sqrt(np.mean(np.square(self.error), axis=0)))

    @property
    def total(self) -> float:
        """Root mean square over all joints."""
        return float(np.sqrt(np.mean(np.square(self.error))))


class Tracking:
    """The node computed_torque beside a robot that runs already.

    Args:
        client: to talk through; of the namespace of the robot.
        nodes: processes to add the node to.
        robot: the robot; the node is started with ``description``.
        description: robot file or name, as the node takes it.
        namespace: namespace of the robot.
        rate: rate of the efforts, Hz.
        lead: how far ahead they are sent, in s; trajectories are sent twice as far, at least 2 s.
        watch: told now and then what fraction of a motion is done.

    Attributes:
        states: joint states received, while something was waited for.
        efforts: feed-forward efforts received.
    """

    def __init__(
        self,
        client: Client,
        nodes: NodeProcesses,
        robot: RobotModel,
        description: str,
        namespace: str,
        *,
        rate: float = 100.0,
        lead: float = 0.5,
        watch: Watch | None = None,
    ) -> None:
        self.client, self.nodes, self.robot = client, nodes, robot
        self._watch, self._rate = watch, rate
        self._start_lead = max(_SHORTEST_START_LEAD, 2.0 * lead)
        self.states: list[JointState] = []
        self.efforts: list[JointState] = []
        node = client.node
        client.collect(JointState, "joint_states", self.states.append, qos.STATES_IN)
        node.create_subscription(JointState, "feedforward_effort", self.efforts.append, qos.EFFORTS)
        self.trajectories = node.create_publisher(JointTrajectory, "joint_trajectory", qos.COMMANDS)
        self.parameters = node.create_publisher(
            InertialParameters, "inertial_parameters", qos.LATCHED
        )
        given = {"robot": description, "rate": rate, "lead": lead}
        self._reports = 0
        self._late = 0
        self._nodes_begin = f"{namespace}/"
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.STATUS)
        nodes.start(NODE, command(NODE, parameters=given, namespace=namespace))

    def wait(self, condition: Callable[[], Any], what: str, timeout: float = 60.0) -> Any:
        """Wait until something holds."""
        return self.client.wait_for(condition, timeout, what)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            if status.name.startswith(self._nodes_begin) and "efforts_late" in values:
                self._reports += 1
                self._late = int(values["efforts_late"])

    def _efforts_late(self) -> int:
        """Return how many efforts have reached the simulated robot too late, by its next report."""
        before = self._reports
        self.wait(lambda: self._reports > before, "report of the robot on /diagnostics")
        return self._late

    @property
    def newest(self) -> JointState:
        """The joint state that came last."""
        self.client.spin()
        return self.states[-1]

    def wait_until_ready(self) -> None:
        """Wait until robot and node receive trajectories and the node parameters."""
        self.wait(
            lambda: (
                self.states
                and self.trajectories.get_subscription_count() >= 2
                and self.parameters.get_subscription_count() >= 1
            ),
            "robot and computed_torque",
            READY_WITHIN,
        )

    def wait_until_logged(self, text: str, times: int = 1) -> None:
        """Wait until the node has said something so many times."""
        self.wait(lambda: self.nodes.output(NODE).count(text) >= times, text)

    def use(self, values: npt.ArrayLike, robot: RobotModel | None = None) -> None:
        """Publish parameters and wait until the node uses them.

        Args:
            values: (full columns,) the parameters.
            robot: the robot with their friction law; by default that of its file.
        """
        times = self.nodes.output(NODE).count(_IN_USE) + 1
        message = parameters_message(robot or self.robot, values, stamp=stamp_of(self.newest))
        self.parameters.publish(message)
        self.wait_until_logged(_IN_USE, times)

    def wait_until_used(self, message: InertialParameters) -> None:
        """Wait until the node uses parameters that somebody else has published."""
        self.wait_until_logged(f"{_IN_USE} {stamp_of(message)} ns")

    def pause(self, seconds: float) -> None:
        """Let time of the robot go by."""
        end = stamp_of(self.newest) + round(seconds * NANOSECONDS)
        self.wait(lambda: stamp_of(self.states[-1]) > end, "later states", 30.0 + 10.0 * seconds)

    def go_to(self, position: npt.ArrayLike, seconds: float) -> None:
        """Move to a position (joints,) and rest there for a moment."""
        place = np.asarray(position, dtype=np.float64)[None]
        names = self.robot.joint_names
        point = Trajectory(
            names, np.array([seconds]), place, np.zeros_like(place), np.zeros_like(place)
        )
        self.trajectories.publish(message_of(point, stamp_of(self.newest)))
        self.pause(seconds + _SETTLING)

    def approach_and_follow(self, trajectory: Trajectory) -> Errors:
        """Go to the start of a trajectory, follow it and return the errors on the way."""
        away = np.abs(trajectory.positions[0] - np.array(self.newest.position)).max()
        self.go_to(trajectory.positions[0], max(_SHORTEST_APPROACH, _APPROACH * float(away)))
        return self.follow(trajectory)

    def follow(self, trajectory: Trajectory) -> Errors:
        """Follow a trajectory and return the errors on the way.

        Args:
            trajectory: joints in the robot's order; it begins where the robot is.
        """
        late = self._efforts_late()
        self.states[:] = [self.newest]
        self.wait(lambda: len(self.states) > 1, "later states")
        period = stamp_of(self.states[1]) - stamp_of(self.states[0])
        start = stamp_of(self.newest) + round(self._start_lead * NANOSECONDS / period) * period
        self.trajectories.publish(message_of(trajectory, start))
        end = start + round(float(trajectory.times[-1]) * NANOSECONDS)
        limit = 30.0 + 10.0 * float(trajectory.times[-1])

        def finished() -> bool:
            now = stamp_of(self.states[-1])
            if self._watch is not None:
                self._watch(min(max((now - start) / (end - start), 0.0), 1.0))
            return now > end

        self.wait(finished, "the end of the motion", limit)
        rows = [(stamp_of(s), s.position) for s in self.states if start <= stamp_of(s) <= end]
        time = (np.array([stamp for stamp, _ in rows]) - start) / NANOSECONDS
        error = np.array([q for _, q in rows]) - trajectory.sample(time)[0]
        sent = self._rate * float(trajectory.times[-1])
        return Errors(time, error, (self._efforts_late() - late) / sent)
