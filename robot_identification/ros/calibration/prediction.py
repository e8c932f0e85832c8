"""The calibration node's `predicted_joint_states`, and what it says on /diagnostics."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from itertools import chain

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from sensor_msgs.msg import JointState

from robot_identification.calibration.model.monitor import ModelMonitor, PredictedBlock
from robot_identification.errors import InputError
from robot_identification.robot.drives import from_joint_side
from robot_identification.robot.model import RobotModel
from robot_identification.ros.calibration.external_efforts import ExternalEfforts
from robot_identification.ros.calibration.parameters import CalibrationParameters
from robot_identification.ros.calibration.running_payload import RunningPayload
from robot_identification.ros.calibration.usable_states import JointSide, UsableStates
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import ERROR, OK, WARN, status_of
from robot_identification.ros.common.joint_states import NANOSECONDS, JointStateReader
from robot_identification.ros.common.parameters.declaration import NodeParameters
from robot_identification.ros.common.polled_subscription import PolledSubscription
from robot_identification.ros.messages.common import time_of

_BLOCK_PERIOD = 0.1
_TAKES = 10  # times that states are taken in for a block, where external efforts are wanted
_PORTION, _PORTIONS = 250, 8  # states at a time, and how often without a pause
_NO_LEVEL = "watching; drift is not told: the identification left no residuals of measured motion"


class Prediction:
    """Publishes what the calibrated model predicts, with the stamps and units of `joint_states`.

    Joint states are taken in and worked on in blocks, since the filters look ahead.  Where external
    efforts are wanted, they are taken in more often, and handed on before they wait for a block;
    predictions, which are late anyway, are sent in between.

    Args:
        node: the node that publishes.
        robot: the robot.
        group: callback group of what is done here.
        parameters: of the node.
        efforts: publishes external efforts of the same states; None: nobody does.
        payload: publishes the payload that they tell; None: nobody does.
    """

    def __init__(
        self,
        node: Node,
        robot: RobotModel,
        group: CallbackGroup,
        parameters: NodeParameters[CalibrationParameters],
        efforts: ExternalEfforts | None = None,
        payload: RunningPayload | None = None,
    ) -> None:
        self._node = node
        self._robot = robot
        self._parameters = parameters
        self._watch: ModelMonitor | None = None
        self._received = self._predicted = 0
        rate = parameters.now.predicted_rate
        self._pause = NANOSECONDS / rate if rate > 0.0 else 0.0
        self._sent = 0
        self._refusal = ""
        self._usable = UsableStates(robot)
        self._efforts, self._payload = efforts, payload
        self._waiting: list[JointSide] = []
        self._unsent: Iterator[JointState] = iter(())
        self._takes = 1 if efforts is None else _TAKES
        self._ending, self._working = threading.Event(), threading.Lock()
        self._publisher = qos.create_publisher(
            node, JointState, "predicted_joint_states", qos.STATES_OUT
        )
        self._reader = JointStateReader(robot.joint_names, "joint_states")
        self._states = PolledSubscription(node, JointState, "joint_states", qos.STATES_IN)
        node.create_timer(_BLOCK_PERIOD, self._work, callback_group=group)

    def use(self, watch: ModelMonitor) -> None:
        """Predict with another model from now on."""
        self._watch, self._sent = watch, 0

    def _take(self) -> JointSide:
        """Return the joint states that have come and are of use; none before there is a model."""
        samples = []
        for message in self._states.take(_PORTION):
            self._received += 1
            if self._watch is None or not self._reader.concerns(message):
                continue
            try:
                samples.append(self._reader.read(message, self._received))
            except InputError as error:
                self._refusal = str(error)
        return self._usable.of(samples)

    def _work(self) -> None:
        """Take in what has come as often as that is wanted, and work on it at the end.

        In between the callback sleeps: waking up by a timer costs the executor more than the work.
        """
        begun = time.monotonic()
        with self._working:
            for take in range(self._takes):
                due = begun + take * _BLOCK_PERIOD / self._takes
                self._send(due)
                if self._ending.wait(max(0.0, due - time.monotonic())):
                    return
                self._work_on(whole=take + 1 == self._takes)

    def end(self) -> None:
        """Take in nothing more; returns when nothing is being worked on."""
        self._ending.set()
        with self._working:
            return

    def _work_on(self, *, whole: bool) -> None:
        """Take in states, in portions: large ones, after a stall, cost memory for good.

        Args:
            whole: whether the block is to be predicted now; else only when it is large.
        """
        for _ in range(_PORTIONS):
            before = self._received
            states = self._take()
            if self._efforts is not None:
                self._efforts.push(states)
            self._waiting.append(states)
            if whole or sum(map(len, self._waiting)) >= _PORTION:
                waiting, self._waiting = self._waiting, []
                self._predict(JointSide.joined(waiting))
            if self._received - before < _PORTION:
                return

    def _predict(self, states: JointSide) -> None:
        watch = self._watch
        if watch is None or not len(states):
            return
        if self._payload is not None:
            self._payload.push(states)
        try:
            blocks = watch.push(states.stamps, states.position, states.effort)
        except InputError as error:
            self._refusal = str(error)
            return
        self._send()  # what there has been no time for until now
        self._unsent = chain.from_iterable(self._messages(block) for block in blocks)
        if self._efforts is None:
            self._send()

    def _messages(self, block: PredictedBlock) -> Iterator[JointState]:
        """Yield the predictions that are wanted."""
        signals = from_joint_side(self._robot, block.position, block.velocity, block.effort)
        rows = [np.asarray(signal).tolist() for signal in signals]
        for stamp, position, velocity, effort in zip(block.stamps.tolist(), *rows, strict=True):
            if 0 <= stamp - self._sent < self._pause:  # below 0 the clock was set back
                continue
            message = JointState(
                name=list(self._robot.joint_names),
                position=position,
                velocity=velocity,
                effort=effort,
            )
            message.header.stamp = time_of(stamp)
            self._sent = stamp
            yield message

    def _send(self, until: float = math.inf) -> None:
        """Send predictions, oldest first, as long as there is time."""
        while time.monotonic() < until and (message := next(self._unsent, None)):
            self._publisher.publish(message)
            self._predicted += 1

    @property
    def topic(self) -> str:
        """Topic of the joint states, with its namespace."""
        return self._states.topic

    def report(self) -> DiagnosticStatus:
        """Return what is said of it on /diagnostics."""
        watch, refusal = self._watch, self._refusal or self._usable.refusal
        self._refusal = self._usable.refusal = ""
        drift = np.full(len(self._robot.joints), np.nan) if watch is None else watch.drift
        largest = self._parameters.now.drift_warning
        names = self._robot.joint_names
        drifting = [f"{n} {d:.1f}" for n, d in zip(names, drift, strict=True) if d > largest]
        level, text = OK, "no parameters yet"
        if watch is not None:
            text = "watching" if watch.compares else _NO_LEVEL
        if refusal:
            level, text = ERROR, f"joint states refused: {refusal}"
        elif drifting:
            level = WARN
            text = f"residual over its identified level: {', '.join(drifting)}"
        values: dict[str, object] = {
            "states_received": self._received,
            "states_predicted": self._predicted,
        }
        told = {f"drift_{n}": f"{value:.3f}" for n, value in zip(names, drift, strict=True)}
        return status_of(
            self._node, level, text, values | told, part="residual", robot=self._robot.name
        )
