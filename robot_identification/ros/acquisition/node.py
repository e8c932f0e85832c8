"""The node that turns joint states into numbered blocks of checked samples."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import Clock, ClockType
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robot_identification.errors import InputError, OutputError
from robot_identification.robot.drives import require_effort_meaning
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.acquisition.bag import RecordingBags, bag_folder
from robot_identification.ros.acquisition.diagnostics import Diagnostics
from robot_identification.ros.acquisition.dynamic_states import TOPIC as DYNAMIC_TOPIC
from robot_identification.ros.acquisition.dynamic_states import (
    DynamicStateReader,
    dynamic_joint_state,
)
from robot_identification.ros.acquisition.efforts import SeparateEfforts
from robot_identification.ros.acquisition.judgement import Judgement
from robot_identification.ros.acquisition.parameters import AcquisitionParameters
from robot_identification.ros.acquisition.recordings import Recordings
from robot_identification.ros.acquisition.reference import Reference
from robot_identification.ros.acquisition.temperatures import JointTemperatures
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import NodeDiagnostics
from robot_identification.ros.common.joint_states import (
    DriverSubscription,
    JointStateReader,
)
from robot_identification.ros.common.parameters.declaration import declare
from robot_identification.ros.common.process import run
from robot_identification.ros.robots.in_use import say_robot_in_use
from robot_identification.ros.robots.source import settle_robot
from robot_identification.signals.positions.held_joints import HeldJoints


class AcquisitionNode(Node):
    """Receives joint states, checks and numbers them, and publishes them in blocks."""

    def __init__(self) -> None:
        super().__init__("acquisition")
        self._declared = declare(self, AcquisitionParameters)
        diagnostics = NodeDiagnostics(self, self._declared.now.diagnostics_period)
        origin = settle_robot(self, self._declared, diagnostics)
        values = self._declared.now
        self._robot = load_robot(values.robot, effort_meaning=values.effort_meaning or None)
        for warning in self._robot.warnings:
            self.get_logger().warning(warning)
        require_effort_meaning(self._robot)
        diagnostics.of_robot(self._robot.name)
        bag_folder(values.bag_directory)  # refused before a robot moves to be recorded
        self._bags = RecordingBags(values.bag_part_period)
        reference = Reference(self, self._robot, self._bags.keep)
        self._efforts = self._separate_efforts(values)
        self._states = self._subscribed(values)
        judgement = Judgement(self._robot) if self._efforts is None else None
        self._held = HeldJoints(self._robot.fixed_joints)
        self._diagnostics = Diagnostics(self, self._robot.name, self._states, self._held, judgement)
        diagnostics.add(self._report)
        if self._efforts is not None:
            efforts = self._efforts
            diagnostics.add(lambda: efforts.status(self._diagnostics.newest))
        self._reader = self._reader_of(values)
        self._temperatures = JointTemperatures(
            self,
            self._robot,
            values.interfaces,
            states=values.has_interfaces,
            keep=self._bags.keep,
            recording=lambda: self._recordings.recorder is not None,
        )
        if values.has_interfaces or self._temperatures.needed:
            diagnostics.add(self._temperatures.report)
        self._recordings = Recordings(
            self,
            self._robot,
            self._declared,
            topic=self._states.topic,
            bags=self._bags,
            reference=reference,
            efforts=self._efforts,
            temperatures=self._temperatures,
            judgement=judgement,
            held=self._held,
            diagnostics=self._diagnostics,
        )
        self.create_service(Trigger, "~/start", self._on_start, qos_profile=qos.SERVICES)
        self.create_service(Trigger, "~/stop", self._on_stop, qos_profile=qos.SERVICES)
        self.create_service(Trigger, "~/clear", self._on_clear, qos_profile=qos.SERVICES)
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # blocks flow while simulated time rests
        self.create_timer(values.block_period, self._recordings.publish_waiting, clock=steady)
        own_topic = "" if values.has_interfaces else self._states.topic
        say_robot_in_use(self, self._robot, origin, joint_states=own_topic)
        if values.autostart:
            self._recordings.begin()
        self.get_logger().info(f"ready: {self._robot.name}, efforts are {self._meaning}")

    @property
    def _meaning(self) -> str:
        return require_effort_meaning(self._robot).value

    def _separate_efforts(self, values: AcquisitionParameters) -> SeparateEfforts | None:
        """Listen to efforts on a topic of their own, where there are such."""
        source, kind = values.effort_source, values.effort_type
        if source is None:
            return None
        return SeparateEfforts(self, self._robot, source, kind, self._on_effort)

    def _reader_of(self, values: AcquisitionParameters) -> JointStateReader | DynamicStateReader:
        """Return what reads the joint states, of the type that the parameters say."""
        names, topic, own = self._robot.joint_names, self._states.topic, self._efforts is None
        if not values.has_interfaces:
            return JointStateReader(names, topic, efforts=own)
        return DynamicStateReader(names, topic, values.interfaces, efforts=own)

    def _subscribed(self, values: AcquisitionParameters) -> DriverSubscription:
        """Subscribe to the joint states, of the type that the parameters say.

        Raises:
            SettingError: that needs control_msgs, which is not installed.
        """
        if not values.has_interfaces:
            return DriverSubscription(self, JointState, "joint_states", self._on_state)
        kind = dynamic_joint_state("joint_states_type", values.joint_states_type)
        return DriverSubscription(self, kind, DYNAMIC_TOPIC, self._on_state)

    def _on_effort(self, message: Any) -> None:
        if self._efforts is None:
            return
        sent = time.time_ns()
        self._efforts.add(message, sent, keep=self._recordings.recorder is not None)
        self._bags.keep(self._efforts.listener.topic, self._efforts.type, message, sent)

    def _on_state(self, message: Any) -> None:
        for name in self._robot.fixed_joints:
            stands = self._reader.position_of(message, name)
            if stands is not None:
                self._held.add(name, stands)
        if not self._reader.concerns(message):
            return
        number, recorder = self._diagnostics.count(), self._recordings.recorder
        try:
            sample = self._reader.read(message, number)
        except InputError as error:
            self._diagnostics.refuse(str(error))
            if recorder is not None:
                recorder.refuse()
            return
        self._diagnostics.observe(sample)
        if recorder is None:
            self._temperatures.add_state(sample)
            return
        self._recordings.record(recorder, sample, message)

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        recorder = self._recordings.recorder
        if recorder is not None:
            response.message = f"recording {recorder.recording} is running: ~/stop it first"
            return response
        try:
            response.message = self._recordings.begin()
        except OutputError as error:
            response.message = str(error)
            return response
        response.success = True
        return response

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        name = self._recordings.end()
        response.success = bool(name)
        response.message = name or "no recording is running"
        return response

    def _on_clear(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """End the recording, if one is running, and begin another."""
        running = bool(self._recordings.end())
        try:
            response.message = self._recordings.begin() if running else "no recording is running"
        except OutputError as error:
            response.message = str(error)
            return response
        response.success = True
        return response

    def _report(self) -> DiagnosticStatus:
        self._states.listen_to_lossy_publishers()
        for problem in self._bags.problems():
            self._diagnostics.bag_ended(problem)
        return self._diagnostics.report(self._recordings.recorder, self._bags.current)

    def finish(self) -> None:
        """End the recording, so that receivers know, and the bag."""
        if self._recordings.end():
            self._recordings.blocks.wait_for_all_acked(qos.ARRIVED_WITHIN)
        for problem in self._bags.finish():
            self.get_logger().error(problem)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(
        AcquisitionNode,
        arguments,
        name="acquisition",
        finish=AcquisitionNode.finish,
        make_executor=EventsExecutor,
    )


if __name__ == "__main__":
    sys.exit(main())
