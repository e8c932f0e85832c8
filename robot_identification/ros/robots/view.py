"""Robots of a node and of the other nodes of its namespace, at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field

from robot_identification.errors import RobotDescriptionError
from robot_identification.ros.robots.in_use import NodesInUse, RobotsInUse, Statement
from robot_identification.ros.robots.source import RobotSource


@dataclass(frozen=True)
class RobotsView:
    """Which robot a node and the others have.

    Attributes:
        own: what the node has said of its own.
        topic: on which that is described, with its namespace; empty: in a file.
        refusal: why the robot must not be moved; None: nothing speaks against it.
        others: the nodes of the namespace, this one among them.
    """

    own: Statement
    topic: str = ""
    refusal: RobotDescriptionError | None = None
    others: NodesInUse = field(default_factory=NodesInUse)


class RobotsWatch:
    """Looks at the robots of all nodes whenever a motion is to begin.

    Args:
        own: what the node has said of its robot.
        source: where that is described.
        others: what the nodes say.
    """

    def __init__(self, own: Statement, source: RobotSource, others: RobotsInUse) -> None:
        self._own, self._source, self._others = own, source, others

    def view(self) -> RobotsView:
        """Return what is known now; nobody is waited for."""
        return RobotsView(self._own, self._source.topic, self._source.refusal(), self._others.now())
