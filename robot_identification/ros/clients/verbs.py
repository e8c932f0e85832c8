"""All that the nodes of one namespace are asked to do; every service is called here alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from robot_identification import msg
from robot_identification.errors import InputError, NotActiveError, RobotIdentificationError
from robot_identification.msg import ExcitationStatus as Status
from robot_identification.ros.clients.asking import ANSWER_WITHIN, SOON, UNTIL_DONE, Asking
from robot_identification.ros.clients.client import (
    READY_WITHIN,
    Client,
    ClientTimeoutError,
    RequestRefusedError,
    refusal,
)
from robot_identification.ros.clients.interruption import signals_ignored
from robot_identification.ros.clients.recording import Recorded, RecordingEndedError
from robot_identification.ros.common import qos
from robot_identification.ros.robots.in_use import TOPIC, Statement, statement_of
from robot_identification.srv import (
    BaseParameters,
    Calibrate,
    Gravity,
    Identify,
    IdentifyDidim,
    IdentifyDriveGains,
    IdentifyPayload,
    InverseDynamics,
    MassMatrix,
    PlanExcitation,
    Validate,
)

DIDIM = "didim"
STATES = (
    "IDLE", "PLANNING", "PLANNED", "APPROACHING", "RUNNING", "BRAKING", "STOPPED", "FINISHED",
    "FAULT",
)  # fmt: skip
"""Names of the states of the node excitation."""

_LAST_BLOCK_WITHIN = 10.0
_STATED_WITHIN = 2.0  # what is latched comes as soon as both nodes know each other

_WORK: dict[Any, tuple[Any, str]] = {
    kind.Request: (kind, name)
    for kind, name in (
        (PlanExcitation, "excitation/plan"),
        (Identify, "identification/identify"),
        (IdentifyDidim, "identification/didim"),
        (Validate, "identification/validate"),
        (IdentifyPayload, "identification/identify_payload"),
        (IdentifyDriveGains, "identification/identify_drive_gains"),
        (BaseParameters, "identification/base_parameters"),
        (Calibrate, "calibration/calibrate"),
        (InverseDynamics, "calibration/inverse_dynamics"),
        (Gravity, "calibration/gravity"),
        (MassMatrix, "calibration/mass_matrix"),
    )
}
_BESIDE_WORK = tuple(
    kind.Request for kind in (BaseParameters, InverseDynamics, Gravity, MassMatrix)
)
_BEGIN_RECORDING = "acquisition/start"
_END_RECORDING = "acquisition/stop"
_STOP = "excitation/stop"
_TELLS: dict[str, tuple[Any, str]] = {
    "excitation": _WORK[PlanExcitation.Request],
    "acquisition": (Trigger, _BEGIN_RECORDING),
    "identification": _WORK[Identify.Request],
    "calibration": _WORK[Calibrate.Request],
}
"""By node, a service that tells that it runs."""

NODES = tuple(_TELLS)


class NodesMissingError(InputError):
    """Nodes that are needed do not answer.

    Attributes:
        nodes: their names.
    """

    def __init__(self, nodes: Sequence[str], namespace: str, seconds: float) -> None:
        self.nodes = tuple(nodes)
        super().__init__(
            f"no answer within {seconds:g} s from {', '.join(nodes)} in namespace {namespace}: "
            "start them with ros2 launch robot_identification live.launch.py, "
            "or say with --namespace and ROS_DOMAIN_ID where they are"
        )


def data_of(recordings: Sequence[str], bags: Sequence[Path] = ()) -> msg.DataSelection:
    """Return which data a request is about; bags by paths on the machine of the node."""
    return msg.DataSelection(recordings=[*recordings], bags=[str(bag) for bag in bags])


class Verbs(Asking):
    """Every verb sends one request and returns its response.

    Args:
        client: to talk through; of the namespace of the nodes.

    Attributes:
        statuses: what the node excitation has said.

    Raises:
        RequestRefusedError: by every verb, where the node answers without success.
        ClientTimeoutError: likewise, where it does not answer in time.
        NodeGoneError: likewise, where it ends meanwhile.
    """

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.statuses: list[Status] = []
        client.node.create_subscription(
            Status, "excitation/status", self.statuses.append, qos.STATUS
        )
        self._robots: dict[str, Statement] = {}
        client.node.create_subscription(msg.RobotInUse, TOPIC, self._on_robot, qos.STATEMENTS)

    def _on_robot(self, message: msg.RobotInUse) -> None:
        said = statement_of(message)
        self._robots[said.name] = said

    def ask(self, request: Any) -> Any:
        """Send a request of work that takes as long as it takes.

        An interruption (KeyboardInterrupt) cancels the work; not where the node answers beside its
        work, which is then that of somebody else.
        """
        kind, name = _WORK[type(request)]
        try:
            return self._call(kind, name, request, UNTIL_DONE)
        except KeyboardInterrupt:
            if isinstance(request, _BESIDE_WORK):
                raise
            with signals_ignored(), suppress(RobotIdentificationError):
                self.cancel(name.partition("/")[0])
            raise

    def plan(self, **fields: Any) -> Any:
        """Plan a motion; fields as of the request."""
        return self.ask(PlanExcitation.Request(**fields))

    def identify(self, method: str, data: msg.DataSelection, **fields: Any) -> Any:
        """Identify by least squares or DIDIM.

        Args:
            method: ols, wls, energy, one-joint or didim.
            data: what to fit.
            fields: of the request; those that DIDIM does not have are left out with it.
        """
        if method != DIDIM:
            return self.ask(Identify.Request(method=method, data=data, **fields))
        known = IdentifyDidim.Request.get_fields_and_field_types()
        said = {name: value for name, value in fields.items() if name in known}
        return self.ask(IdentifyDidim.Request(data=data, **said))

    def validate(self, data: msg.DataSelection, **fields: Any) -> Any:
        """Predict data with a result file, or with the last result that was asked for."""
        return self.ask(Validate.Request(data=data, **fields))

    def base_parameters(self, **fields: Any) -> Any:
        """Return the base parameters; fields as of the request."""
        return self.ask(BaseParameters.Request(**fields))

    def calibrate(self, **fields: Any) -> Any:
        """Calibrate a result file, or the last result, consistently."""
        return self.ask(Calibrate.Request(consistent=True, **fields))

    def cancel(self, node: str) -> Any:
        """End the work of a node."""
        return self._call(Trigger, f"{node}/cancel", within=SOON)

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

    def start_recording(self) -> Any:
        """Record from now on; the message of the response is the identifier of the recording."""
        return self._call(Trigger, _BEGIN_RECORDING)

    def stop_recording(self) -> Any:
        """End the recording; the message is its identifier, or that of what continues it."""
        return self._call(Trigger, _END_RECORDING)

    def clear_recordings(self) -> Any:
        """Drop what was recorded."""
        return self._call(Trigger, "acquisition/clear")

    @contextmanager
    def recorded(self) -> Iterator[Recorded]:
        """Record while the block lasts; the recording ends whatever happens.

        Raises:
            ClientTimeoutError: no samples come, or not the last of them.
            RecordingEndedError: somebody else has ended it meanwhile.
        """
        with Recorded(self.client.node) as recording:
            recording.name = self._begin_recording()
            try:
                self.wait(lambda: recording.last_stamp, "samples")
                yield recording
            except BaseException:
                self._end_recording()
                raise
            recording.name = self._own_end(recording)
            self.wait(lambda: recording.ended, "last block", _LAST_BLOCK_WITHIN)

    def _begin_recording(self) -> str:
        """Record from now on; return the identifier of the recording.

        One whose beginning nobody waits for any more ends: the node may have taken the request.
        """
        beginning = self.begun.start_recording()

        def begun(within: float) -> str:
            return str(self._answer(Trigger, _BEGIN_RECORDING, beginning, within).message)

        try:
            return begun(ANSWER_WITHIN)
        except (KeyboardInterrupt, ClientTimeoutError):
            with signals_ignored(), suppress(RobotIdentificationError):
                with suppress(ClientTimeoutError):
                    begun(SOON)  # refused: what is recorded is of somebody else, and goes on
                self._end_recording()
            raise

    def _own_end(self, recording: Recorded) -> str:
        """End a recording; return the identifier of its last part."""
        try:
            stopped = str(self.stop_recording().message)
        except RequestRefusedError as error:
            raise RecordingEndedError(recording.name, str(error)) from error
        recording.require_own(stopped)
        return stopped

    def _end_recording(self) -> None:
        """End the recording, if it can be: something went wrong already."""
        with signals_ignored(), suppress(RobotIdentificationError):
            self._call(Trigger, _END_RECORDING, within=SOON)

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
            raise NodesMissingError(missing(), namespace, within) from error

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
