"""A simulated robot and the nodes that identify it, in processes of their own.

The demo, the tests and the benchmarks do the same as a user with a real robot: start a recording,
send a trajectory, stop, and ask for an identification.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trajectory_msgs.msg import JointTrajectory

from robot_identification import msg
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.ros.clients.client import READY_WITHIN, Client, Closing
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.clients.work_requests import data_of
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.common.middleware import private_domain
from robot_identification.ros.common.parameters.files import simulation_file
from robot_identification.ros.messages.trajectories import message_of
from robot_identification.srv import Calibrate

NODES = ("simulated_robot", "acquisition", "identification")
_SETTLING = 0.3
_FAREWELL = 0.2  # s in which a client takes in that the nodes have gone

Watch = Callable[[float], None]

_OF_SIMULATIONS: Mapping[str, Mapping[str, object]] = {
    "excitation": {"acknowledge_unchecked": True}  # a simulated robot can touch nothing
}


class Session(Closing):
    """Nodes with their shipped parameter files, for as long as the block lasts.

    Args:
        logs: folder for the output of the nodes.
        parameters: node name -> parameters in place of those of the files.
        namespace: namespace of all nodes; by default one that nobody else has.
        environment: of the nodes and of this process; by default a private ROS domain.
        others: nodes to start beside simulated robot, acquisition and identification.
        robot: node that stands in for the robot.
        description: robot file or name that all nodes get, with truth and sensors where the package
            has them; empty: ``parameters`` say it.
        lead: time of the robot from sending a trajectory to its start, in s.

    Attributes:
        namespace: namespace of all nodes.
        nodes: the processes.
        client: calls services and waits.
        verbs: what the nodes are asked to do.
    """

    def __init__(
        self,
        logs: Path,
        parameters: Mapping[str, Mapping[str, object]] | None = None,
        *,
        namespace: str = "",
        environment: Mapping[str, str] | None = None,
        others: Sequence[str] = (),
        robot: str = NODES[0],
        description: str = "",
        lead: float = 1.0,
    ) -> None:
        os.environ.update(private_domain() if environment is None else environment)
        self.namespace = namespace or f"/session_{secrets.token_hex(4)}"
        self.nodes = NodeProcesses(logs)
        self._lead = lead
        described = {"robot": description} if description else {}
        try:
            for name in (robot, *NODES[1:], *others):
                line = command(
                    name,
                    parameter_files=_simulation(name, robot, description),
                    parameters={
                        **described,
                        **_OF_SIMULATIONS.get(name, {}),
                        **(parameters or {}).get(name, {}),
                    },
                    namespace=self.namespace,
                )
                self.nodes.start(name, line)
            self.client = Client(self.namespace, watch=self.nodes.check)
            self.verbs = Verbs(self.client)
            self._trajectories = self.client.node.create_publisher(
                JointTrajectory, "joint_trajectory", qos.COMMANDS
            )
        except BaseException:
            self.nodes.stop()
            raise

    def close(self) -> None:
        """Stop the nodes and leave ROS.

        The nodes go first: a client that cannot leave while others come (see ``_end_for_certain``
        of ``ros/common/process.py``) would end this process with all of them behind.
        """
        try:
            self.nodes.stop()
            self.client.spin(_FAREWELL)
        finally:
            self.client.close()

    def wait_until_ready(self) -> None:
        """Wait until simulated robot, acquisition and identification answer."""
        self.verbs.require("identification", "acquisition")
        count = self._trajectories.get_subscription_count
        self.client.wait_for(lambda: count() >= 2, READY_WITHIN, "listener to trajectories")

    def record(self, trajectory: Trajectory, watch: Watch | None = None) -> str:
        """Record while the robot follows a trajectory; return the identifier of the recording.

        Args:
            trajectory: what to follow.
            watch: told now and then what fraction of the motion is done.
        """
        with self.verbs.recorded() as recording:
            begin = recording.last_stamp + round(self._lead * NANOSECONDS)
            self._trajectories.publish(message_of(trajectory, begin))
            length = round((float(trajectory.times[-1]) + _SETTLING) * NANOSECONDS)

            def finished() -> bool:
                done = (recording.last_stamp - begin) / length
                if watch is not None:
                    watch(min(max(done, 0.0), 1.0))
                return done >= 1.0

            self.client.wait_for(finished, 30.0 + 3.0 * length / NANOSECONDS, "end of the motion")
        return recording.name

    def identify(
        self,
        recording: str,
        method: str = "wls",
        processing: msg.ProcessingSettings | None = None,
        friction: str = "",
    ) -> msg.IdentificationResult:
        """Identify from a recording and return the result."""
        said: dict[str, Any] = {} if processing is None else {"processing": processing}
        return self.verbs.identify(method, data_of([recording]), friction=friction, **said).result

    def validate(self, recording: str, processing: msg.ProcessingSettings | None = None) -> Any:
        """Predict a recording with the last result and return the response."""
        said = {} if processing is None else {"processing": processing}
        return self.verbs.validate(data_of([recording]), **said)

    def calibrate(self, prior: Path, **fields: str) -> Calibrate.Response:
        """Calibrate the last result, or what fields of the request say, and return the response."""
        return self.verbs.calibrate(prior=str(prior), **fields)

    def outputs(self) -> str:
        """Return what the nodes have printed, for reports of failures."""
        return "\n".join(f"--- {name}\n{self.nodes.output(name)}" for name in self.nodes.names)


def _simulation(node: str, robot: str, description: str) -> list[Path]:
    """Return the parameter file of the node that stands in for a shipped robot, if it has one."""
    path = simulation_file(description) if node == robot else None
    return [] if path is None else [path]


def sigmas(value: float, truth: float, std: float) -> float:
    """Return how many standard deviations an estimate is off."""
    if std > 0.0:
        return abs(value - truth) / std
    return 0.0 if value == truth else math.inf
