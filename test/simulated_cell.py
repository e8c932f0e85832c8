"""A simulated robot and the excitation node in processes of their own, and all that they say.

Tests and benchmarks do the same as a user with a real robot: plan, start, stop; and look at what
was published and where the robot went.
"""

from __future__ import annotations

import re
import secrets
import signal
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from robot_identification.msg import ExcitationStatus as Status
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import motion_extrema
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.clients.client import READY_WITHIN, Client, Closing
from robot_identification.ros.clients.motion import follow
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS, stamp_of
from robot_identification.ros.controllers.interfaces import FOLLOWED
from robot_identification.ros.messages.trajectories import trajectory_of

_ACCELERATION_STEPS = 5
_STAMP_ROUNDING = 1e-6


@dataclass(frozen=True)
class Sent:
    """A trajectory that was received.

    Attributes:
        message: the message.
        at: when it came, by time.monotonic().
        clock: when it came, in ns.
    """

    message: JointTrajectory
    at: float
    clock: int

    @property
    def trajectory(self) -> Trajectory:
        """What it holds."""
        return trajectory_of(self.message)

    @property
    def end(self) -> int:
        """Stamp of its end in ns."""
        return stamp_of(self.message) + round(float(self.trajectory.times[-1]) * NANOSECONDS)


@dataclass(frozen=True)
class Stop:
    """What became of one ~/stop.

    Attributes:
        after: time from the start of the trajectory to the request, in s.
        delay: time from the request to the receipt of the braking trajectory, in s.
        certified: time in which the robot had to be at rest after the braking trajectory began.
        rest: time in which it was, in s; infinite if it never was.
        commanded: largest share of every limit that the braking trajectory uses.
        measured: largest share of every limit that the robot has used since ~/start.
        late: longest time, in s, by which a trajectory came to the robot after its start.  It leaps
            to where the trajectory has got to, so that what was certified does not hold.
        state: of the node at the end.
    """

    after: float
    delay: float
    certified: float
    rest: float
    commanded: Mapping[str, float]
    measured: Mapping[str, float]
    late: float
    state: int


class Cell(Verbs, Closing):
    """The two nodes, for as long as the block lasts.

    Args:
        logs: folder for the output of the nodes.
        robot: name of the robot.
        values: its true parameters, for the simulation.
        simulation: parameters of the simulated robot.
        simulator: node that stands in for the robot.
        excitation: parameters of the excitation node.

    Attributes:
        states: joint states received.
        sent: trajectories received, on the topic or as the action has taken them over.
    """

    def __init__(
        self,
        logs: Path,
        robot: str = "three_dof",
        values: str = "three_dof",
        *,
        simulation: Mapping[str, object] | None = None,
        simulator: str = "simulated_robot",
        excitation: Mapping[str, object] | None = None,
    ) -> None:
        self.namespace = f"/cell_{secrets.token_hex(4)}"
        self.robot = load_robot(robot)
        self.limits = MotionLimits.of(self.robot)
        self.nodes = NodeProcesses(logs)
        super().__init__(Client(self.namespace, watch=self.watch))
        self.states: list[JointState] = []
        self.sent: list[Sent] = []
        self._simulator = simulator
        self._simulation = {"robot": robot, "parameters_file": values, **_EXACT}
        self._simulation.update(simulation or {})
        usual = {"acknowledge_unchecked": True, "planning_niceness": 0}  # tests wait for plans
        self._excitation = {"robot": robot, **usual, **(excitation or {})}
        self.client.collect(JointState, "joint_states", self.states.append, qos.STATES_IN)
        for topic in ("joint_trajectory", FOLLOWED):
            self.client.node.create_subscription(
                JointTrajectory, topic, self._on_trajectory, qos.COMMANDS
            )

    def close(self) -> None:
        """Leave ROS and stop the nodes."""
        self.client.close()
        self.nodes.stop()

    def watch(self) -> None:
        """Look after the nodes while something is waited for.

        Raises:
            NodeProcessError: if one has ended.
        """
        self.nodes.check()

    def held(self) -> AbstractContextManager[None]:
        """Have the time of the robot stand still meanwhile, where it can."""
        return nullcontext()

    def start_nodes(self) -> None:
        """Start both nodes and wait until they are ready."""
        self.start_robot()
        self.start_excitation()

    def start_robot(self) -> None:
        """Start the simulated robot and wait for its states."""
        line = command(self._simulator, parameters=self._simulation, namespace=self.namespace)
        self.nodes.start(self._simulator, line)
        self.wait(lambda: self.states, "joint states", READY_WITHIN)

    def start_excitation(self) -> None:
        """Start the excitation node and wait for its services."""
        line = command("excitation", parameters=self._excitation, namespace=self.namespace)
        self.nodes.start("excitation", line)
        self.wait_until_idle()

    def kill(self, number: signal.Signals) -> None:
        """End the excitation node by a signal."""
        self.nodes.process("excitation").send_signal(number)
        self.nodes.stop("excitation")

    def _on_trajectory(self, message: JointTrajectory) -> None:
        self.sent.append(Sent(message, time.monotonic(), self.now()))

    def now(self) -> int:
        """Return the time in ns."""
        return int(self.client.node.get_clock().now().nanoseconds)

    def position(self) -> Array:
        """Return where the robot is."""
        return np.array(self.states[-1].position)

    def excess(self, since: int) -> dict[str, float]:
        """Return the largest share of every limit that the robot has used since a stamp in ns.

        Accelerations are differences of velocities over five samples.
        """
        rows = [s for s in self.states if stamp_of(s) >= since]
        time_s = np.array([stamp_of(s) - since for s in rows]) / NANOSECONDS
        q = np.array([s.position for s in rows])
        v = np.array([s.velocity for s in rows])
        n = _ACCELERATION_STEPS
        a = (v[n:] - v[:-n]) / (time_s[n:] - time_s[:-n])[:, None]
        return {
            "position": _share(q - self.limits.middle, self.limits.half_range),
            "velocity": _share(v, self.limits.velocity),
            "acceleration": _share(a, self.limits.acceleration),
        }

    def commanded(self, sent: Sent) -> dict[str, float]:
        """Return the largest share of every limit that a trajectory uses."""
        trajectory = sent.trajectory.reordered(self.robot.joint_names)
        extrema = motion_extrema(trajectory.coefficients, np.diff(trajectory.times))
        return {
            "position": _share(extrema[0] - self.limits.middle, self.limits.half_range),
            "velocity": _share(extrema[1], self.limits.velocity),
            "acceleration": _share(extrema[2], self.limits.acceleration),
        }

    @property
    def lateness(self) -> list[float]:
        """Times, in s, by which trajectories came to the robot after their start, where any did."""
        output = self.nodes.output(self._simulator)
        told = re.findall(r"trajectory joined ([\d.]+) s late", output)
        return [float(seconds) for seconds in told]

    def run(self) -> tuple[Status, dict[str, float]]:
        """Start, wait for the end; return the status and the shares of the limits used."""
        since = self.now()
        return follow(self), self.excess(since)

    def followed(self, since: int) -> Sent:
        """Return the trajectory that the status is about, sent after a time in ns; wait for it.

        Status and trajectories are topics of their own and need not come in order.
        """
        found: Sent = self.wait(
            lambda: next((s for s in self.sent if s.clock >= since and self._is_status(s)), None),
            "trajectory that the status is about",
        )
        return found

    def _is_status(self, sent: Sent) -> bool:
        """Tell whether a trajectory is the one under way; rest may follow on braking."""
        ends = sent.trajectory.times[-2:]
        return bool(np.abs(ends - self.status.duration).min() < _STAMP_ROUNDING)

    def stop_after(self, seconds: float, certified: float) -> Stop | None:
        """Start, call ~/stop some time after the trajectory began, wait for rest.

        Returns:
            What became of it; None where the motion had been stopped before, or had ended.
        """
        del self.states[:-1]
        begun, count_late = self.now(), len(self.lateness)
        self.start()
        if not self.has_approached():
            return None
        start = stamp_of(self.followed(begun).message)
        self.wait(lambda: self.now() >= start + seconds * NANOSECONDS, "moment", 120.0)
        count, asked = len(self.sent), time.monotonic()
        after = (self.now() - start) / NANOSECONDS
        with self.held():
            answer = self.stop().message
            braked = answer.startswith("braking: ")
            if braked:
                self.wait(lambda: len(self.sent) > count, "braking trajectory")
        if not braked:
            self.wait_for(Status.STOPPED, Status.FAULT, Status.FINISHED)
            return None
        braking = self.sent[count]
        status = self.wait_for(Status.STOPPED, Status.FAULT)
        begin = stamp_of(braking.message)
        self.wait(lambda: stamp_of(self.states[-1]) >= braking.end, "states after braking")
        rest = self.rest_at(begin)
        return Stop(
            after=after,
            delay=braking.at - asked,
            certified=certified,
            rest=np.inf if rest is None else (rest - begin) / NANOSECONDS,
            commanded=self.commanded(braking),
            measured=self.excess(begun),
            late=max(self.lateness[count_late:], default=0.0),
            state=status.state,
        )

    def has_approached(self) -> bool:
        """Wait until the robot is on the trajectory; False where it was stopped on the way."""
        accepted, ends = self.now(), (Status.STOPPED, Status.FAULT)
        self.wait(
            lambda: (
                stamp_of(self.status) >= accepted and self.status.state in (Status.RUNNING, *ends)
            ),
            "beginning of the trajectory",
            60.0,
        )
        return self.status.state not in ends

    def rest_at(self, since: int, speed: float = 0.02) -> int | None:
        """Return the stamp in ns from which on no joint was faster than a speed."""
        moving = [
            stamp_of(s)
            for s in self.states
            if stamp_of(s) >= since and max(map(abs, s.velocity)) > speed
        ]
        last = moving[-1] if moving else since - 1
        return next((stamp_of(s) for s in self.states if stamp_of(s) > last), None)


_EXACT: Mapping[str, object] = {
    "position_noise": [0.0],
    "position_resolution": [0.0],
    "effort_noise": [0.0],
}


def _share(values: Array, limit: Array) -> float:
    return float((np.abs(values) / limit).max(initial=0.0))
