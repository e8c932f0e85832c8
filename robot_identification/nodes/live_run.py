"""A live run over the services of the nodes: plan, move, identify, validate, calibrate.

Each step is one call; what it takes care of beside: that the nodes are there, that progress is
told, that a recording ends whatever happens, and that an interruption ends the work of the node.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from std_srvs.srv import Trigger

from robot_identification.errors import InputError, RobotIdentificationError
from robot_identification.msg import Progress
from robot_identification.nodes import qos
from robot_identification.nodes.client import Client, ClientTimeoutError, refusal
from robot_identification.nodes.excitation_client import ExcitationClient
from robot_identification.nodes.identification_client import RecordingClient
from robot_identification.nodes.interruption import signals_ignored
from robot_identification.nodes.motion_client import SILENT, NodeGoneError, Report, follow
from robot_identification.nodes.parameter_client import changed
from robot_identification.srv import Calibrate, Identify, IdentifyDidim, PlanExcitation, Validate

SERVICES: dict[str, tuple[Any, str]] = {
    "excitation": (PlanExcitation, "excitation/plan"),
    "acquisition": (Trigger, "acquisition/start"),
    "identification": (Identify, "identification/identify"),
    "calibration": (Calibrate, "calibration/calibrate"),
}
"""By node, a service that tells that it runs."""

_CANCEL = {
    PlanExcitation: "excitation/cancel",
    Identify: "identification/cancel",
    IdentifyDidim: "identification/cancel",
    Validate: "identification/cancel",
    Calibrate: "calibration/cancel",
}
_ANSWER_WITHIN = 10.0


class NodesMissingError(InputError):
    """Nodes that a run needs do not answer.

    Attributes:
        nodes: their names.
    """

    def __init__(self, nodes: Sequence[str], namespace: str, seconds: float) -> None:
        self.nodes = tuple(nodes)
        super().__init__(
            f"no answer within {seconds:g} s from {', '.join(nodes)} in namespace "
            f"{namespace or '/'}: start them with ros2 launch robot_identification live.launch.py, "
            "or say with --namespace and ROS_DOMAIN_ID where they are"
        )


@dataclass(frozen=True)
class Move:
    """A motion that reached its end.

    Attributes:
        trajectory_hash: of the plan that was followed.
        speed: share of the planned speed.
        seconds: duration of the trajectory at that speed.
        recording: identifier of its recording; empty where it was not recorded.
    """

    trajectory_hash: str
    speed: float
    seconds: float
    recording: str = ""


class LiveRun:
    """The nodes of one namespace.

    Args:
        client: to talk through.
        namespace: of the client, for messages.

    Attributes:
        excitation: client of the node that moves the robot.
    """

    def __init__(self, client: Client, namespace: str) -> None:
        self._client, self._namespace = client, namespace
        self.excitation = ExcitationClient(client)
        self._recorder = RecordingClient(client)
        self._progress: list[Progress] = []
        client.node.create_subscription(
            Progress, "identification/progress", self._progress.append, qos.STATUS
        )

    def require(self, nodes: Sequence[str], seconds: float) -> None:
        """Make sure that nodes answer.

        Raises:
            NodesMissingError: some do not within the time given.
        """

        def missing() -> list[str]:
            return [name for name in nodes if not self._client.is_there(*SERVICES[name])]

        try:
            self._client.wait_for(lambda: not missing(), seconds, "nodes")
        except ClientTimeoutError as error:
            raise NodesMissingError(missing(), self._namespace, seconds) from error

    def planned(self) -> str:
        """Return the hash of the plan that the next start executes; empty where there is none."""
        statuses = self.excitation.statuses
        statuses.clear()
        self._client.wait_for(lambda: statuses, _ANSWER_WITHIN, "status of the node excitation")
        planned: str = statuses[-1].trajectory_hash
        return planned

    def preview(self, speed: float) -> str:
        """Return what a start at a speed would do; nothing moves.

        Args:
            speed: share of the planned speed.

        Raises:
            RequestRefusedError: it would be refused.
        """
        with changed(self._client, "excitation", "speed", speed):
            message: str = self._client.demand(Trigger, "excitation/preview").message
        return message

    def move(self, report: Report, speed: float, *, record: bool, refresh: bool = True) -> Move:
        """Have the robot follow the plan, and wait for its end; an interruption brakes it.

        Args:
            report: told how far the motion is.
            speed: share of the planned speed.
            record: whether to record meanwhile.
            refresh: whether the recording may refresh `identified_parameters` meanwhile.

        Raises:
            RequestRefusedError: the start, or the recording, is refused.
            MotionStoppedError: the motion was stopped before its end.
            CancelledError: it was interrupted; the message says what became of the robot.
            NodeGoneError: the node does not say anything any more.
        """
        if not refresh:
            with changed(self._client, "identification", "streaming", False):
                return self.move(report, speed, record=record)
        with changed(self._client, "excitation", "speed", speed):
            recording = self._recorder.begin() if record else ""
            try:
                status = follow(self.excitation, report)
            except BaseException:
                if record:
                    with signals_ignored(), suppress(RobotIdentificationError):
                        self._recorder.end()
                raise
            if record:
                recording = self._recorder.end()
        return Move(status.trajectory_hash, speed, status.duration, recording)

    def ask(self, kind: Any, name: str, request: Any, report: Report) -> Any:
        """Call a service of long work, tell its progress, and return its response.

        An interruption (KeyboardInterrupt) cancels the work.

        Raises:
            RequestRefusedError: it answers without success.
            NodeGoneError: its node ends meanwhile.
        """
        heard = self.excitation.progress if kind is PlanExcitation else self._progress
        heard.clear()
        future = self._client.begin(kind, name, request, _ANSWER_WITHIN)
        try:
            while not future.done():
                self._client.spin(0.05)
                if heard and not math.isnan(heard[-1].fraction):
                    report(heard[-1].stage, heard[-1].fraction)
                if not self._client.is_there(kind, name):
                    self._wait_for_return(kind, name)
        except KeyboardInterrupt:
            with signals_ignored():
                self._client.call(Trigger, _CANCEL[kind], timeout=_ANSWER_WITHIN)
            raise
        response = future.result()
        if not response.success:
            raise refusal(name, response.message, response.error_code)
        return response

    def _wait_for_return(self, kind: Any, name: str) -> None:
        """Wait for a service that has vanished for a moment."""
        begin = time.monotonic()
        while not self._client.is_there(kind, name):
            if time.monotonic() - begin > SILENT:
                raise NodeGoneError(f"{name}: its node has ended before it answered")
            self._client.spin(0.1)
