"""Managed nodes: parameters, states, autostart, and the entities that a cleanup destroys."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from rclpy.action import ActionClient
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time_source import CLOCK_TOPIC

from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import NodeDiagnostics
from robot_identification.ros.common.parameters.declaration import declare
from robot_identification.ros.common.parameters.shared import RobotParameters
from robot_identification.ros.common.process import spare_the_collector
from robot_identification.ros.lifecycle.services import lifecycle_services, state_machine
from robot_identification.ros.lifecycle.transitions import Lifecycle
from robot_identification.ros.lifecycle.works import ManagedWorks, Work
from robot_identification.ros.robots.source import RobotSource, settle_robot

_LOOK_PERIOD = 0.02
"""Time in s between two looks at a transition that goes on."""

_PATIENCE = 5.0
"""Time in s in which a robot must be described for a node that runs and is configured."""

Own = TypeVar("Own", bound=RobotParameters)


class ManagedNode(Node, Generic[Own, Work]):
    """A node with the states unconfigured, inactive, active and finalized.

    Publishers, subscriptions, timers and clients that are made while it is configured are destroyed
    when it is cleaned up, whoever has made them.  Services stay: they say what to do instead.

    Args:
        name: name of the node.
        kind: table of its parameters, one of which is ``autostart``.

    Attributes:
        declared: the parameters.
        diagnostics: what it tells on /diagnostics; of works as long as there are any.
        lifecycle: states and transitions.

    Raises:
        SettingError: a parameter is unknown, or its value is wrong.
    """

    def __init__(self, name: str, kind: type[Own]) -> None:
        super().__init__(name)
        self.declared = declare(
            self,
            kind,
            refuse=self.refuse_change,
            changed=self.parameters_changed,
            unconfigured=lambda: self.lifecycle.unconfigured,
        )
        self._managed = ManagedWorks(self._load, check=self._check, let_go=self._destroy_made)
        machine = state_machine(self)
        full_name = self.get_fully_qualified_name()
        self.lifecycle = Lifecycle(machine, self._managed, self.get_logger(), full_name)
        self.diagnostics = NodeDiagnostics(self)
        self._looks: Any = None  # timer, while a transition goes on
        self._services += lifecycle_services(machine, self.lifecycle, self._look_after)
        self._before = self._present()

    @property
    def works(self) -> Work | None:
        """What the node consists of; None while it is not configured."""
        return self._managed.works

    def settled_robot(self) -> RobotSource:
        """Find the robot that the parameters name, as :meth:`load` begins; see settle_robot.

        Where the node runs already, nobody waits for long: it could not be asked for its state.

        Raises:
            RobotIdentificationError: there is none, or none has been described yet.
        """
        patience = math.inf if self.executor is None else _PATIENCE
        return settle_robot(self, self.declared, self.diagnostics, patience=patience)

    def load(self) -> Work:
        """Return what the node consists of, for its parameters as they are now.

        Raises:
            RobotIdentificationError: something is wrong; what is no entity of ROS has been closed.
        """
        raise NotImplementedError

    def refuse_change(self, values: Mapping[str, Any]) -> str:
        """Return why parameters of a configured node cannot change now; empty where they can."""
        return f"{', '.join(values)} cannot change while this node is configured"

    def parameters_changed(self) -> None:
        """Take note that parameters have changed."""

    def start(self) -> None:
        """Configure and activate, where the parameter ``autostart`` says so.

        Raises:
            Exception: what :meth:`load` has raised.
        """
        if self.get_parameter("autostart").value:
            self.lifecycle.start()
            return
        name = self.get_fully_qualified_name()
        self.get_logger().info(f"unconfigured: waits for ros2 lifecycle set {name} configure")

    def _look_after(self) -> None:
        """Look after a transition that goes on until it is over."""
        if self.lifecycle.under_way and self._looks is None:
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._looks = self.create_timer(_LOOK_PERIOD, self._look, clock=steady)

    def _look(self) -> None:
        self.lifecycle.look()
        if not self.lifecycle.under_way and self._looks is not None:
            self.destroy_timer(self._looks)
            self._looks = None

    def _load(self) -> Work:
        self._before = self._present()
        return self.load()

    def _check(self) -> None:
        """Look whether everything has been taken up that was given."""
        qos.refuse_unused_overrides(self)
        if self.executor is not None:  # else who runs the node does this
            gc.unfreeze()  # what was let go of before
            spare_the_collector()

    def _destroy_made(self) -> None:
        self.diagnostics.clear()
        clock = self.resolve_topic_name(CLOCK_TOPIC)  # of ROS, whenever use_sim_time was set
        for destroy, entities in self._entities():
            for one in [one for one in entities if one not in self._before]:
                if getattr(one, "topic_name", "") != clock:
                    destroy(one)

    def _present(self) -> set[Any]:
        return {one for _, entities in self._entities() for one in entities}

    def _entities(self) -> list[tuple[Callable[[Any], object], list[Any]]]:
        """Return the entities that works are made of, with what destroys one of each kind."""
        actions = [one for one in self.waitables if isinstance(one, ActionClient)]
        return [
            (ActionClient.destroy, actions),
            (self.destroy_timer, list(self.timers)),
            (self.destroy_client, list(self.clients)),
            (self.destroy_subscription, list(self.subscriptions)),
            (self.destroy_publisher, list(self.publishers)),
        ]


def checked_when_configured(_: Node) -> None:
    """Check nothing: a managed node looks when it is configured whether all was taken up."""
