"""Questions that every node answers: whether it runs, its state, parameters, and robot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from robot_identification import msg
from robot_identification.errors import InputError, NotActiveError, RobotIdentificationError
from robot_identification.ros.clients.asking import SOON, UNTIL_DONE, Asking
from robot_identification.ros.clients.client import (
    READY_WITHIN,
    Client,
    ClientTimeoutError,
    refusal,
)
from robot_identification.ros.clients.interruption import signals_ignored
from robot_identification.ros.clients.recording_requests import BEGIN_RECORDING
from robot_identification.ros.clients.work_requests import WORK
from robot_identification.ros.common import qos
from robot_identification.ros.robots.in_use import TOPIC, Statement, statement_of
from robot_identification.srv import Calibrate, Identify, PlanExcitation

_STATED_WITHIN = 2.0  # what is latched comes as soon as both nodes know each other

_TELLS: dict[str, tuple[Any, str]] = {
    "excitation": WORK[PlanExcitation.Request],
    "acquisition": (Trigger, BEGIN_RECORDING),
    "identification": WORK[Identify.Request],
    "calibration": WORK[Calibrate.Request],
}
"""By node, a service that tells that it runs."""

NODES = tuple(_TELLS)


class NodesMissingError(InputError):
    """Nodes that are needed do not answer.

    Attributes:
        nodes: their names.
        begun: those of them that have begun, and may answer later.
    """

    def __init__(
        self, nodes: Sequence[str], namespace: str, seconds: float, begun: Sequence[str] = ()
    ) -> None:
        self.nodes, self.begun = tuple(nodes), tuple(begun)
        super().__init__(
            f"no answer within {seconds:g} s from {', '.join(nodes)} in namespace {namespace}: "
            + (_BEGUN if set(nodes) == set(begun) else _NOT_BEGUN)
        )


_NOT_BEGUN = (
    "start them with ros2 launch robot_identification live.launch.py, or say with --namespace and "
    "ROS_DOMAIN_ID where they are"
)
_BEGUN = (
    "they have begun, and either compile, which takes minutes at the first start on a machine "
    "(robot-identification compile does it ahead): wait longer, with --wait; or they are not "
    "configured: ros2 lifecycle set"
)


class NodeRequests(Asking):
    """Asks nodes of their state, parameters and robot, and changes them.

    Args:
        client: as of :class:`.Asking`.
    """

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self._robots: dict[str, Statement] = {}
        client.node.create_subscription(msg.RobotInUse, TOPIC, self._on_robot, qos.STATEMENTS)

    def _on_robot(self, message: msg.RobotInUse) -> None:
        said = statement_of(message)
        self._robots[said.name] = said

    def parameter(self, node: str, name: str) -> Any:
        """Return the value of a parameter of a node."""
        request = GetParameters.Request(names=[name])
        answer = self._call(GetParameters, f"{node}/get_parameters", request, SOON)
        return Parameter.from_parameter_msg(
            ParameterMessage(name=name, value=answer.values[0])
        ).value

    def set_parameter(self, node: str, name: str, value: Any) -> Any:
        """Set a parameter of a node."""
        service = f"{node}/set_parameters"
        given = Parameter(name, value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[given])
        (result,) = self._call(SetParameters, service, request, SOON).results
        if self._demands and not result.successful:
            raise refusal(service, f"INVALID_REQUEST: {result.reason}")
        return result

    @contextmanager
    def changed(self, node: str, name: str, value: Any) -> Iterator[None]:
        """Give a parameter of a node another value until the block ends."""
        before = self.parameter(node, name)
        try:
            self.set_parameter(node, name, value)
            yield
        except BaseException:
            with signals_ignored(), suppress(RobotIdentificationError):
                self.set_parameter(node, name, before)
            raise
        with signals_ignored():
            self.set_parameter(node, name, before)

    def require(self, *nodes: str, within: float = READY_WITHIN) -> None:
        """Wait until nodes answer.

        Raises:
            NodesMissingError: some do not within a time in s.
        """

        def missing() -> list[str]:
            return [name for name in nodes if not self.client.is_there(*_TELLS[name])]

        try:
            self.client.wait_for_server(lambda: not missing(), True, within, "nodes")
        except ClientTimeoutError as error:
            namespace = self.client.node.get_namespace()
            silent, graph = missing(), self.client.node.get_node_names_and_namespaces()
            begun = [name for name in silent if (name, namespace) in graph]
            raise NodesMissingError(silent, namespace, within, begun) from error

    def robot_in_use(self, node: str) -> Statement | None:
        """Return what a node has said of its robot; None where that does not arrive in time."""
        with suppress(ClientTimeoutError):
            self.wait(lambda: node in self._robots, f"robot of the node {node}", _STATED_WITHIN)
        return self._robots.get(node)

    def lifecycle_state(self, node: str) -> str:
        """Return the state of a managed node, such as ``inactive``."""
        answer = self._call(GetState, f"{node}/get_state", within=SOON)
        return str(answer.current_state.label)

    def change_state(self, node: str, transition: str) -> Any:
        """Have a managed node make a transition, such as ``activate``; it may take its time."""
        request = ChangeState.Request(transition=Transition(label=transition))
        return self._call(ChangeState, f"{node}/change_state", request, UNTIL_DONE)

    def require_active(self, node: str) -> None:
        """Make sure that a managed node is active.

        Raises:
            NotActiveError: it is not.
        """
        state = self.lifecycle_state(node)
        if state != "active":
            raise NotActiveError(self.client.node.resolve_service_name(node), state)
