"""The calibration node's `external_joint_efforts`, `joint_contacts` and `external_wrench`."""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from sensor_msgs.msg import JointState

from robot_identification.calibration.model.monitor import ResidualReference
from robot_identification.dynamics.external_efforts.contacts import ContactEvent
from robot_identification.dynamics.external_efforts.watch import (
    ExternalEffortWatch,
    WatchedEfforts,
)
from robot_identification.errors import EffortSignError, InputError, NoEffortError
from robot_identification.msg import JointContact
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.ros.calibration.external_wrench import ExternalWrench
from robot_identification.ros.calibration.parameters import CalibrationParameters
from robot_identification.ros.calibration.usable_states import JointSide
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import ERROR, OK, status_of
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.messages.common import time_of


class ExternalEfforts:
    """Publishes the external joint efforts of the states that it is given, contacts, a wrench.

    Args:
        node: the node that publishes.
        robot: the robot.
        values: parameters of the node.

    Raises:
        SettingError: the robot has terms that are not compiled, or a parameter is wrong.
    """

    def __init__(self, node: Node, robot: RobotModel, values: CalibrationParameters) -> None:
        self._node, self._robot = node, robot
        self._settings = values.external_effort_settings()
        rate = values.external_effort_rate
        self._pause = NANOSECONDS / rate if rate > 0.0 else 0.0
        self._at_work = threading.Lock()  # held by whoever uses or replaces the watch
        self._watch: ExternalEffortWatch | None = None
        self._sent = self._observed = self._contacts = 0
        self._refusal = self._useless = ""
        self._measured: bool | None = None
        # What this robot cannot have is refused before anybody calibrates.
        ExternalEffortWatch(robot, np.zeros(len(robot.all_parameter_names)), self._settings)
        self._efforts = qos.create_publisher(
            node, JointState, "~/external_joint_efforts", qos.STATES_OUT
        )
        self._events = qos.create_publisher(node, JointContact, "~/joint_contacts", qos.STATES_OUT)
        self._wrench = ExternalWrench(node, robot, values) if values.wrench_frame else None

    def watch_of(
        self, robot: RobotModel, values: Array, level: ResidualReference
    ) -> ExternalEffortWatch:
        """Return what observes the robot with calibrated parameters.

        Args:
            robot: with the friction law of the parameters.
            values: (full columns,) the parameters.
            level: what the identification left.
        """
        return ExternalEffortWatch(
            robot, values, self._settings, residual_std=level.residual_std, rate_hz=level.rate_hz
        )

    def use(self, watch: ExternalEffortWatch) -> None:
        """Observe with other parameters from now on; thresholds are learned anew.

        Contacts under way end: what goes on while thresholds are learned is no contact.
        """
        with self._at_work:
            for event in () if self._watch is None else self._watch.end():
                self._tell(event)
            self._watch, self._measured, self._sent = watch, None, 0

    def push(self, states: JointSide) -> None:
        """Take in joint states, oldest first, and publish what comes of them."""
        with self._at_work:
            if self._watch is not None and len(states):
                self._push(self._watch, states)

    def _push(self, watch: ExternalEffortWatch, states: JointSide) -> None:
        known = states.has_velocity
        if self._measured is None:
            self._measured = bool(known[0])
        if self._measured and not known.all():
            self._refusal = "velocities are missing that were there before"
            states = states.chosen(known)
            if not len(states):
                return
        velocity = states.velocity if self._measured else None
        try:
            found = watch.push(states.stamps, states.position, velocity, states.effort)
        except (EffortSignError, NoEffortError) as error:
            self._useless = str(error)
            return
        except InputError as error:
            self._refusal = str(error)
            return
        self._observed += len(found.observed.stamps)
        self._publish(found)
        for event in found.events:
            self._tell(event)

    def _publish(self, found: WatchedEfforts) -> None:
        block, judged, sent = found.observed, found.judged, []
        stamps: npt.NDArray[np.int64] = block.stamps
        efforts = block.effort if judged is None else judged.effort
        for k, (stamp, effort, interval) in enumerate(
            zip(stamps.tolist(), efforts, block.interval.tolist(), strict=True)
        ):
            if interval > 0.0 and stamp - self._sent < self._pause:
                continue
            message = JointState(name=list(self._robot.active_names), effort=effort.tolist())
            message.header.stamp = time_of(stamp)
            self._efforts.publish(message)
            self._sent = stamp
            sent.append(k)
        if self._wrench is not None and judged is not None and sent:
            position, deviation = block.position[sent], judged.deviation[sent]
            self._wrench.publish(stamps[sent], position, efforts[sent], deviation)

    def _tell(self, event: ContactEvent) -> None:
        message = JointContact(
            robot=self._robot.name,
            joint=event.joint,
            event=JointContact.ENDED if event.ended else JointContact.BEGAN,
            effort=event.effort,
            threshold=event.threshold,
            duration=event.duration,
            settled=event.settled,
            settled_deviation=event.settled_deviation,
        )
        message.header.stamp = time_of(event.stamp)
        self._events.publish(message)
        self._contacts += not event.ended

    def _blind(self, thresholds: Array) -> str:
        """Return what is to be said where (joints,) thresholds are too large for any push."""
        limits = [joint.limits.effort or np.inf for joint in self._robot.active_joints]
        blind = np.flatnonzero(~(thresholds <= limits))
        if not len(blind):
            return ""
        joints = ", ".join(
            f"{self._robot.active_names[j]} ({thresholds[j]:.4g}, limit {limits[j]:g})"
            for j in blind
        )
        return (
            f"no contact can be told of {joints}: these thresholds are beyond the limits of the "
            "efforts; call ~/calibrate to learn them anew, while the robot moves freely"
        )

    def report(self) -> DiagnosticStatus:
        """Return what is said of it on /diagnostics."""
        watch, refusal = self._watch, self._refusal
        self._refusal = ""
        names, thresholds = self._robot.active_names, None if watch is None else watch.thresholds
        level, text = OK, "no parameters yet"
        if thresholds is not None and watch is not None:
            self._useless = self._blind(thresholds)
            touched = ", ".join(watch.in_contact)
            text = f"contact: {touched}" if touched else "no contact"
        elif watch is not None:
            text = f"learning thresholds from free motion, {100.0 * watch.learned:.0f} %"
        if refusal or self._useless:
            level = ERROR
            text = self._useless or f"joint states refused: {refusal}"
        numbers = np.full(len(names), np.nan) if thresholds is None else thresholds
        values: dict[str, object] = {"states_observed": self._observed, "contacts": self._contacts}
        told: dict[str, object] = {
            f"threshold_{n}": f"{value:.3f}" for n, value in zip(names, numbers, strict=True)
        }
        if self._wrench is not None:
            told |= self._wrench.report()
        return status_of(
            self._node,
            level,
            text,
            values | told,
            part="external efforts",
            robot=self._robot.name,
        )
