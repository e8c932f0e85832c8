"""Choice between the action and the topic of a controller, made when a motion is to begin."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from robot_identification.errors import SettingError
from robot_identification.ros.common import qos
from robot_identification.ros.controllers.action_transport import ActionTransport
from robot_identification.ros.controllers.goals import Wire
from robot_identification.ros.controllers.interfaces import ACTION, FOLLOWED, TOPIC, if_wanted
from robot_identification.ros.controllers.transport import TopicTransport, Transport


def make_wire(node: Node, interface: str, action: str) -> Wire | None:
    """Return a client of the action; None where none is wanted, or control_msgs is missing.

    Args:
        node: the node.
        interface: one of :data:`~.interfaces.INTERFACES`.
        action: name of the action, relative to the node's namespace.

    Raises:
        SettingError: the action is asked for, and control_msgs is missing; or there can be no
            action of this name.
    """
    if interface != TOPIC:
        qos.require_topic_name(node, "controller_action", action, of="an action")

    def load() -> Callable[[Node, str], Wire]:
        from robot_identification.ros.controllers.action_wire import ActionWire

        return ActionWire

    wire = if_wanted(interface, load)
    return None if wire is None else wire(node, action)


class Controller:
    """The controller of the robot, as far as it can be reached.

    Args:
        node: the node.
        interface: one of :data:`~.interfaces.INTERFACES`.
        wire: client of its action; None: there is none.
        cancel_brakes: see :class:`.ActionTransport`.

    Attributes:
        topic: the transport by its topic.
        action: the one by its action; None: there is none.
    """

    def __init__(
        self, node: Node, interface: str, wire: Wire | None, *, cancel_brakes: bool = False
    ) -> None:
        self._interface, self._wire = interface, wire
        self.topic = TopicTransport(node)
        self.action: ActionTransport | None = None
        if wire is not None:
            followed = node.create_publisher(JointTrajectory, FOLLOWED, qos.COMMANDS)
            self.action = ActionTransport(
                wire, self.topic, cancel_brakes=cancel_brakes, accepted=followed.publish
            )

    def choose(self) -> Transport:
        """Return what a motion that begins now goes by.

        Raises:
            SettingError: the action is asked for, and there is no server.
            StaleStateError: the controller owes an answer from before.
        """
        if self.action is not None and self._wire is not None:
            self.action.require_free()
            if self._wire.ready():
                return self.action
            if self._interface == ACTION:
                raise SettingError(
                    "interface",
                    self._interface,
                    f"nobody serves {self.action.name}: start the controller, or give its name "
                    "(controller_action); or choose topic",
                )
        return self.topic
