"""A client of the excitation node: plan, start, stop, and what the node says meanwhile."""

from __future__ import annotations

from typing import Any

from std_srvs.srv import Trigger

from robot_identification.msg import ExcitationStatus as Status
from robot_identification.msg import Progress
from robot_identification.nodes import qos
from robot_identification.nodes.client import READY_WITHIN, Client
from robot_identification.srv import PlanExcitation

_STATE_NAMES = {
    name: getattr(Status, name)
    for name in (
        "IDLE", "PLANNING", "PLANNED", "APPROACHING", "RUNNING", "BRAKING", "STOPPED",
        "FINISHED", "FAULT",
    )
}  # fmt: skip
_IN_MOTION = (Status.APPROACHING, Status.RUNNING, Status.BRAKING)


class ExcitationClient:
    """Asks the excitation node, and keeps all that it says.

    Args:
        client: to talk through; of the namespace of the node.

    Attributes:
        client: as given.
        statuses: status messages received.
        progress: progress messages received.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.statuses: list[Status] = []
        self.progress: list[Progress] = []
        node = client.node
        node.create_subscription(Status, "excitation/status", self.statuses.append, qos.STATUS)
        node.create_subscription(Progress, "excitation/progress", self.progress.append, qos.STATUS)

    def wait_until_ready(self) -> None:
        """Wait until the node answers and has nothing planned."""
        for kind, name in ((PlanExcitation, "plan"), (Trigger, "start"), (Trigger, "stop")):
            self.client.wait_for_service(kind, f"excitation/{name}", READY_WITHIN)
        self.statuses.clear()
        self.wait(lambda: self.statuses and "~/plan" in self.status.text, "idle node", READY_WITHIN)

    @property
    def status(self) -> Status:
        """The newest status."""
        return self.statuses[-1]

    def wait(self, condition: Any, what: str, timeout: float = 30.0) -> Any:
        """Wait for something."""
        return self.client.wait_for(condition, timeout, what)

    def wait_for(self, *states: int, timeout: float = 30.0) -> Status:
        """Wait until the node is in one of some states; return its status."""
        names = [n for n, v in _STATE_NAMES.items() if v in states]
        self.wait(lambda: self.statuses and self.status.state in states, f"state {names}", timeout)
        return self.status

    def plan(self, timeout: float = 120.0, **fields: Any) -> Any:
        """Plan and return the response."""
        request = PlanExcitation.Request(**fields)
        return self.client.call(PlanExcitation, "excitation/plan", request, timeout)

    def trigger(self, name: str) -> Any:
        """Call ~/start, ~/continue, ~/stop or ~/cancel and return the response."""
        return self.client.call(Trigger, f"excitation/{name}")

    def execute(self, timeout: float = 120.0) -> Status:
        """Start, wait for the end of the motion, and return the status then."""
        begun = len(self.statuses)
        self.client.demand(Trigger, "excitation/start")
        self.wait(
            lambda: any(said.state in _IN_MOTION for said in self.statuses[begun:]), "motion", 60.0
        )
        return self.wait_for(Status.FINISHED, Status.STOPPED, Status.FAULT, timeout=timeout)
