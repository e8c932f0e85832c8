"""Requests of motions: preview, start, go on, stop; and what the node excitation says of itself."""

from __future__ import annotations

from typing import Any

from std_srvs.srv import Trigger

from robot_identification.msg import ExcitationStatus as Status
from robot_identification.ros.clients.asking import SOON
from robot_identification.ros.clients.client import READY_WITHIN, Client, ClientTimeoutError
from robot_identification.ros.clients.node_requests import NodeRequests
from robot_identification.ros.common import qos

STATES = (
    "IDLE", "PLANNING", "PLANNED", "APPROACHING", "RUNNING", "BRAKING", "STOPPED", "FINISHED",
    "FAULT",
)  # fmt: skip
"""Names of the states of the node excitation."""

_STOP = "excitation/stop"


class MotionRequests(NodeRequests):
    """Asks the node excitation to move the robot and to brake it, and hears its status.

    Args:
        client: as of :class:`.Asking`.

    Attributes:
        statuses: what the node excitation has said.
    """

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.statuses: list[Status] = []
        client.node.create_subscription(
            Status, "excitation/status", self.statuses.append, qos.STATUS
        )

    def preview(self) -> Any:
        """Say what a start would do; nothing moves."""
        return self._call(Trigger, "excitation/preview")

    def start(self) -> Any:
        """Have the robot follow the plan."""
        return self._call(Trigger, "excitation/start")

    def resume(self) -> Any:
        """Have the robot go on with a plan of experiments after a stop."""
        return self._call(Trigger, "excitation/continue")

    def wait_for_brake(self) -> None:
        """Wait until the robot could be braked."""
        self.client.wait_for_service(Trigger, _STOP, SOON)

    def stop(self) -> Any:
        """Brake the robot."""
        return self._call(Trigger, _STOP, within=SOON)

    def wait_until_idle(self) -> None:
        """Wait until the node excitation answers and has nothing planned."""
        self.require("excitation")
        self.statuses.clear()
        self.wait(lambda: self.statuses and "~/plan" in self.status.text, "idle node", READY_WITHIN)

    @property
    def status(self) -> Status:
        """The newest status of the node excitation."""
        return self.statuses[-1]

    def next_status(self) -> Status:
        """Wait for a status that the node excitation sends from now on."""
        self.statuses.clear()
        self.wait(lambda: self.statuses, "status of the node excitation", SOON)
        return self.status

    def wait_for(self, *states: int, timeout: float = 30.0) -> Status:
        """Wait until the node excitation is in one of some states; return its status.

        Raises:
            ClientTimeoutError: with what the node says instead.
        """
        names = [name for name in STATES if getattr(Status, name) in states]
        try:
            self.wait(
                lambda: self.statuses and self.status.state in states, f"state {names}", timeout
            )
        except ClientTimeoutError as error:
            told = self.status.text if self.statuses else "nothing"
            raise ClientTimeoutError(f"{error}; the node excitation says: {told}") from error
        return self.status
