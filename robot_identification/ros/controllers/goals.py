"""Goals of FollowJointTrajectory: what becomes of one, and what sends them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from action_msgs.msg import GoalStatus
from trajectory_msgs.msg import JointTrajectory

CODES = {
    0: "SUCCESSFUL",
    -1: "INVALID_GOAL",
    -2: "INVALID_JOINTS",
    -3: "OLD_HEADER_TIMESTAMP",
    -4: "PATH_TOLERANCE_VIOLATED",
    -5: "GOAL_TOLERANCE_VIOLATED",
}
"""Error codes by number, as control_msgs/action/FollowJointTrajectory has them."""

_ENDS = {
    GoalStatus.STATUS_SUCCEEDED: "succeeded",
    GoalStatus.STATUS_CANCELED: "cancelled",
    GoalStatus.STATUS_ABORTED: "aborted",
}


@dataclass(frozen=True)
class Outcome:
    """How a goal has ended.

    Attributes:
        status: as action_msgs/GoalStatus has it.
        error_code: of the controller.
        error_string: of the controller.
    """

    status: int
    error_code: int = 0
    error_string: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether the controller says that the trajectory was followed to its end."""
        return self.status == GoalStatus.STATUS_SUCCEEDED and self.error_code == 0

    def __str__(self) -> str:
        """Return end, code by its name and the controller's own words."""
        end = _ENDS.get(self.status, f"status {self.status}")
        code = CODES.get(self.error_code, f"error code {self.error_code}")
        known = code if self.error_code or self.succeeded else ""
        told = ": ".join(filter(None, (known, self.error_string)))
        return ", ".join(filter(None, (end, told)))


class Goal(Protocol):
    """A goal that was sent."""

    @property
    def accepted(self) -> bool | None:
        """Whether it was accepted; None: that is not known yet."""

    @property
    def outcome(self) -> Outcome | None:
        """How it has ended; None: it has not, or that is not known yet."""

    @property
    def cancelled(self) -> bool | None:
        """Whether the request to cancel it was granted; None: not asked, or not answered yet."""

    def cancel(self) -> None:
        """Ask for its end."""


class Wire(Protocol):
    """A client of the action."""

    @property
    def name(self) -> str:
        """Name of the action."""

    def ready(self) -> bool:
        """Tell whether there is a server."""

    def send(self, trajectory: JointTrajectory) -> Goal:
        """Send a goal; the answer comes while the node works."""

    def work(self, seconds: float) -> None:
        """Have the node work off what has come, or wait for it."""
