"""The calibration node's `payload` and `payload_changes`."""

from __future__ import annotations

import threading

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from std_srvs.srv import Trigger

from robot_identification.calibration.running_payload.state import PayloadState, PayloadStatus
from robot_identification.calibration.running_payload.watch import PayloadWatch
from robot_identification.calibration.spread import Spread
from robot_identification.errors import EffortSignError, InputError, NoEffortError
from robot_identification.errors.numerical import NUMERICAL_ERRORS
from robot_identification.identification.payload.body import BodyEstimate
from robot_identification.msg import PayloadBody, PayloadEstimate
from robot_identification.robot.arrays import Array
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import mounting_from
from robot_identification.ros.calibration.parameters import CalibrationParameters
from robot_identification.ros.calibration.usable_states import JointSide
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import ERROR, OK, WARN, status_of
from robot_identification.ros.messages.common import time_of
from robot_identification.ros.messages.payload import body_message

_UNKNOWN = np.full(10, np.nan)
_TOLD = {
    PayloadStatus.UNDETERMINED: "the motion does not tell the payload yet",
    PayloadStatus.NONE: "no payload",
    PayloadStatus.CARRIED: "payload",
    PayloadStatus.CHANGING: "the payload has changed, or there is a contact",
    PayloadStatus.CONTACT: "contact: no payload explains the efforts",
}


class RunningPayload:
    """Publishes the payload that the states it is given tell, and when it changes.

    Its services have a callback group of their own: whoever pushes may be at work without a pause.

    Args:
        node: the node that publishes.
        robot: the robot.
        values: parameters of the node.

    Raises:
        SettingError: the robot has loops, there is no such frame, or a parameter is wrong.
    """

    def __init__(self, node: Node, robot: RobotModel, values: CalibrationParameters) -> None:
        refuse_loops(robot, "the running estimate of a payload")
        self._node, self._robot = node, robot
        self._settings = values.running_payload_settings()
        self._mounting = mounting_from(
            values.robot, robot, values.payload_frame or None, values.payload_placement
        )
        self._at_work = threading.Lock()  # held by whoever uses or replaces the watch
        self._watch: PayloadWatch | None = None
        self._hash = ""
        self._state: PayloadState | None = None
        self._refusal = self._wrong = ""
        self._payloads = qos.create_publisher(node, PayloadEstimate, "~/payload", qos.STATUS)
        self._changes = qos.create_publisher(
            node, PayloadEstimate, "~/payload_changes", qos.STATUS_LATCHED
        )
        group = MutuallyExclusiveCallbackGroup()
        for name, callback in (
            ("~/reset_payload", self.reset),
            ("~/learn_bare_robot", self.learn_anew),
        ):
            node.create_service(
                Trigger, name, callback, qos_profile=qos.SERVICES, callback_group=group
            )

    def watch_of(self, robot: RobotModel, values: Array, spread: Spread | None) -> PayloadWatch:
        """Return what watches the robot with calibrated parameters.

        Args:
            robot: with the friction law of the parameters.
            values: (full columns,) the parameters.
            spread: what noise has done to them.
        """
        return PayloadWatch(robot, values, self._mounting, spread, self._settings)

    def use(self, watch: PayloadWatch, parameters_hash: str) -> None:
        """Watch with other parameters from now on; the bare robot is learned anew.

        What the watch before has found of states that are being worked on goes out before.
        """
        with self._at_work:
            self._watch, self._hash, self._state = watch, parameters_hash, None

    def reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Answer ~/reset_payload: the estimate begins anew."""
        return self._ask(response, "the payload is estimated anew", forget=True)

    def learn_anew(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Answer ~/learn_bare_robot: the bare robot is learned anew."""
        return self._ask(response, "the bare robot is learned from now on: carry nothing")

    def _ask(
        self, response: Trigger.Response, message: str, *, forget: bool = False
    ) -> Trigger.Response:
        with self._at_work:
            watch = self._watch
            response.success = watch is not None
            response.message = message
            if watch is None:
                response.message = "there are no parameters: call ~/calibrate of this node first"
            elif forget:
                watch.forget()
            else:
                watch.learn_anew()
                self._state = None
        return response

    def push(self, states: JointSide) -> None:
        """Take in joint states, oldest first, and publish what comes of them."""
        with self._at_work:
            if self._watch is not None and len(states):
                self._push(self._watch, states)

    def _push(self, watch: PayloadWatch, states: JointSide) -> None:
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what comes of that is told below
                found = watch.push(states.stamps, states.position, states.effort)
        except (EffortSignError, NoEffortError) as error:
            self._wrong = str(error)
            return
        except InputError as error:
            self._refusal = str(error)
            return
        except NUMERICAL_ERRORS as error:
            self._wrong = (
                f"states of which no payload can be told ({error}): the bare robot is learned "
                "anew, carry nothing"
            )
            watch.learn_anew()
            self._state = None
            return
        for state in found:
            self._publish(state)

    def _publish(self, state: PayloadState) -> None:
        if state.status is not PayloadStatus.LEARNING:
            self._wrong = ""
        before, self._state = self._state, state
        message = self._message(state)
        self._payloads.publish(message)
        if before is None or (state.status, state.changes) != (before.status, before.changes):
            self._changes.publish(message)

    def _message(self, state: PayloadState) -> PayloadEstimate:
        message = PayloadEstimate(
            robot=self._robot.name,
            status=int(state.status),
            payload=self._body(state),
            motion=float(state.seconds),
            change_stamp=time_of(state.change_stamp),
            changes=state.changes,
            ratio=float(state.ratio),
            limit=float(state.limit),
            misfit=float(state.misfit),
            learned=float(state.learned),
            parameters_hash=self._hash,
        )
        message.header.stamp = time_of(state.stamp)
        message.header.frame_id = self._mounting.frame
        return message

    def _body(self, state: PayloadState) -> PayloadBody:
        found = state.body
        place = self._mounting.frame, self._robot.joint_names[self._mounting.joint]
        if found is None:
            unknown = BodyEstimate(_UNKNOWN, _UNKNOWN)
            return body_message(*place, unknown, _UNKNOWN, np.full((10, 10), np.nan), None)
        carried = state.status in (PayloadStatus.CARRIED, PayloadStatus.CONTACT)
        body = found.body() if carried and found.certain else None
        return body_message(*place, found.estimate, found.standard, found.covariance, body)

    def report(self) -> DiagnosticStatus:
        """Return what is said of it on /diagnostics."""
        state, refusal = self._state, self._refusal
        self._refusal = ""
        level, text = OK, "no parameters yet"
        values: dict[str, object] = {}
        if self._watch is not None:
            text = f"learning the bare robot, {100.0 * self._watch.learned:.0f} %"
        if state is not None and state.status is not PayloadStatus.LEARNING:
            text = _TOLD[state.status]
            level = WARN if state.status is PayloadStatus.CONTACT else OK
            if state.body is not None:
                mass, std = state.body.mass
                values = {"mass": f"{mass:.4g}", "mass_std": f"{std:.2g}"}
            values |= {"changes": state.changes, "misfit": f"{state.misfit:.3f}"}
        if refusal or self._wrong:
            level = ERROR
            text = self._wrong or f"joint states refused: {refusal}"
        return status_of(self._node, level, text, values, part="payload", robot=self._robot.name)
