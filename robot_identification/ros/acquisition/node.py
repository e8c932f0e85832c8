"""The node that turns joint states into numbered blocks of checked samples."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import Clock, ClockType
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from robot_identification.errors import InputError, OutputError
from robot_identification.files.bags.parts import BagMessage
from robot_identification.msg import SampleBlock
from robot_identification.robot.drives import require_effort_meaning
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.acquisition.bag import BagRecording, bag_folder
from robot_identification.ros.acquisition.diagnostics import Diagnostics
from robot_identification.ros.acquisition.dynamic_states import TOPIC as DYNAMIC_TOPIC
from robot_identification.ros.acquisition.dynamic_states import (
    DynamicStateReader,
    dynamic_joint_state,
)
from robot_identification.ros.acquisition.efforts import SeparateEfforts
from robot_identification.ros.acquisition.filtered import FilteredPublisher
from robot_identification.ros.acquisition.judgement import Judgement
from robot_identification.ros.acquisition.parameters import AcquisitionParameters
from robot_identification.ros.acquisition.recorder import Block, BlockPace, Recorder, continuation
from robot_identification.ros.acquisition.reference import Reference
from robot_identification.ros.acquisition.temperatures import JointTemperatures
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import NodeDiagnostics
from robot_identification.ros.common.joint_states import (
    DriverSubscription,
    JointStateReader,
    Sample,
)
from robot_identification.ros.common.parameters.declaration import declare
from robot_identification.ros.common.process import run
from robot_identification.ros.messages.blocks import block_message
from robot_identification.ros.robots.in_use import say_robot_in_use
from robot_identification.ros.robots.source import settle_robot
from robot_identification.signals.clock.arrivals import SetbackWatch
from robot_identification.signals.positions.held_joints import HeldJoints

_FINISH = 10.0


class _State(NamedTuple):
    """A joint state: its sample, its message for a bag, and when that came, in ns."""

    sample: Sample
    message: Any
    received: int

    @property
    def stamp(self) -> int:
        """Stamp in ns."""
        return self.sample.stamp


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
        self._rate = values.expected_rate
        self._pace = BlockPace(values.block_period)
        self._part_period = values.bag_part_period
        bag_folder(values.bag_directory)  # refused before a robot moves to be recorded
        self._recorder: Recorder | None = None
        self._bag: BagRecording | None = None
        self._ended_bags: list[BagRecording] = []
        self._setbacks = SetbackWatch[_State]()
        self._blocks = self.create_publisher(SampleBlock, "samples", qos.BLOCKS)
        self._announced = self.create_publisher(String, "recordings", qos.ANNOUNCED)
        self._filtered: FilteredPublisher | None = None
        if values.publish_filtered:
            self._filtered = FilteredPublisher(
                self, self._robot, values.filtered_cutoff, values.filtered_rate
            )
        self._reference = Reference(self, self._robot, self._keep)
        self._efforts = self._separate_efforts(values)
        self._states = self._subscribed(values)
        self._judgement = Judgement(self._robot) if self._efforts is None else None
        self._held = HeldJoints(self._robot.fixed_joints)
        self._diagnostics = Diagnostics(
            self, self._robot.name, self._states, self._held, self._judgement
        )
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
            keep=self._keep,
            recording=lambda: self._recorder is not None,
        )
        if values.has_interfaces or self._temperatures.needed:
            diagnostics.add(self._temperatures.report)
        self.create_service(Trigger, "~/start", self._on_start, qos_profile=qos.SERVICES)
        self.create_service(Trigger, "~/stop", self._on_stop, qos_profile=qos.SERVICES)
        self.create_service(Trigger, "~/clear", self._on_clear, qos_profile=qos.SERVICES)
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # blocks flow while simulated time rests
        self.create_timer(values.block_period, self._publish_waiting, clock=steady)
        own_topic = "" if values.has_interfaces else self._states.topic
        say_robot_in_use(self, self._robot, origin, joint_states=own_topic)
        if values.autostart:
            self._begin()
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
        self._efforts.add(message, sent, keep=self._recorder is not None)
        self._keep(self._efforts.listener.topic, self._efforts.type, message, sent)

    def _on_state(self, message: Any) -> None:
        for name in self._robot.fixed_joints:
            stands = self._reader.position_of(message, name)
            if stands is not None:
                self._held.add(name, stands)
        if not self._reader.concerns(message):
            return
        number = self._diagnostics.count()
        try:
            sample = self._reader.read(message, number)
        except InputError as error:
            self._diagnostics.refuse(str(error))
            if self._recorder is not None:
                self._recorder.refuse()
            return
        self._diagnostics.observe(sample)
        if self._recorder is None:
            self._temperatures.add_state(sample)
            return
        if self._judgement is not None:
            self._judgement.observe(sample)
        self._record(self._recorder, _State(sample, message, time.time_ns()))

    def _record(self, recorder: Recorder, state: _State) -> None:
        """Record a state; where the clock was set back another recording begins."""
        states, set_back = self._setbacks.take(state)
        if set_back:
            recorder = self._continue(recorder, states[0].stamp)
        for one in states:
            self._add(recorder, one)
        if self._pace.add(len(states)):
            self._publish()

    def _add(self, recorder: Recorder, state: _State) -> None:
        """Add a state to a recording, and to its bag."""
        recorder.add(state.sample)
        self._temperatures.add_state(state.sample)
        kind = self._declared.now.joint_states_type
        self._keep(self._states.topic, kind, state.message, state.received)

    def _keep(self, topic: str, kind: str, message: Any, received: int) -> None:
        """Put a message into the bag, where there is one."""
        if self._bag is not None:
            self._bag.add(BagMessage(topic, kind, received, serialize_message(message)))

    def _publish_waiting(self) -> None:
        if self._pace.period_ends():
            self._publish()

    def _publish(self, *, last: bool = False) -> None:
        # Asked whether or not there is a recording: patience counts from one question to the next.
        wait = self._efforts is not None and self._efforts.are_due()
        until = self._reference.known_until()
        if self._recorder is None:
            return
        most = self._pace.most
        while block := self._recorder.take(last=last, wait=wait, until=until, most=most):
            self._send(block)
            if block.last:
                return
        self._pace.sent(self._recorder.rate)

    def _send(self, block: Block) -> None:
        block = replace(self._reference.complete(block), temperatures=self._temperatures.take())
        source = None if self._efforts is None else self._efforts.source
        self._blocks.publish(block_message(block, self._robot, source))
        if self._filtered is not None:
            self._filtered.publish(block)

    def _begin(self) -> str:
        """Begin a recording, and its bag where there is to be one.

        Raises:
            OutputError: if there is to be a bag, and it cannot be made.
        """
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        name = f"{self._robot.name}-{moment}-{secrets.token_hex(3)}"
        bag = self._new_bag(name)
        if self._efforts is not None:
            self._efforts.begin()
        self._setbacks = SetbackWatch[_State]()
        self._open(name, bag)
        return name

    def _new_bag(self, recording: str) -> BagRecording | None:
        folder = bag_folder(self._declared.now.bag_directory)
        if folder is None:
            return None
        bag = BagRecording(folder / recording, self._part_period)
        for topic, kind, message, received in (
            *self._reference.newest,
            *self._temperatures.newest,
        ):
            bag.add(BagMessage(topic, kind, received, serialize_message(message)))
        return bag

    def _open(self, name: str, bag: BagRecording | None) -> Recorder:
        efforts = None if self._efforts is None else self._efforts.buffer
        self._pace.begin()
        self._temperatures.begin()
        self._held.forget()
        if self._judgement is not None:
            self._judgement.begin()
        self._recorder = Recorder(name, len(self._robot.joints), self._rate, efforts)
        self._bag = bag
        if self._filtered is not None:
            self._filtered.begin()
        self._announced.publish(String(data=name))
        self.get_logger().info(f"recording {name} begins")
        return self._recorder

    def _continue(self, recorder: Recorder, stamp: int) -> Recorder:
        """End a recording and go on in another: stamps from before and after are two clocks'.

        Args:
            recorder: of the recording that ends.
            stamp: of the first state after it, in ns.
        """
        name = continuation(recorder.recording)
        self.get_logger().warning(
            f"the clock of the joint states was set back: recording {recorder.recording} ends, "
            f"{name} goes on"
        )
        self._publish(last=True)
        if self._efforts is not None:
            self._efforts.buffer.next_clock()
        self._temperatures.next_clock()
        self._reference.next_clock(stamp)
        self._diagnostics.set_back()
        had_bag = self._bag is not None
        self._end_bag()
        return self._open(name, self._bag_that_goes_on(name) if had_bag else None)

    def _bag_that_goes_on(self, name: str) -> BagRecording | None:
        try:
            return self._new_bag(name)
        except OutputError as error:
            self._diagnostics.bag_ended(str(error))
            return None

    def _end(self) -> str:
        if self._recorder is None:
            return ""
        name = self._recorder.recording
        for state in self._setbacks.release():
            self._add(self._recorder, state)
        self._publish(last=True)
        self._recorder = None
        self._end_bag()
        self.get_logger().info(f"recording {name} has ended")
        return name

    def _end_bag(self) -> None:
        if self._bag is not None:
            self._bag.close()
            self._ended_bags.append(self._bag)
            self._bag = None

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._recorder is not None:
            response.message = f"recording {self._recorder.recording} is running: ~/stop it first"
            return response
        try:
            response.message = self._begin()
        except OutputError as error:
            response.message = str(error)
            return response
        response.success = True
        return response

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        name = self._end()
        response.success = bool(name)
        response.message = name or "no recording is running"
        return response

    def _on_clear(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """End the recording, if one is running, and begin another."""
        running = bool(self._end())
        try:
            response.message = self._begin() if running else "no recording is running"
        except OutputError as error:
            response.message = str(error)
            return response
        response.success = True
        return response

    def _report(self) -> DiagnosticStatus:
        self._states.listen_to_lossy_publishers()
        for bag in [*self._ended_bags, *([self._bag] if self._bag else [])]:
            if bag.problem:
                self._diagnostics.bag_ended(bag.problem)
        self._ended_bags = [bag for bag in self._ended_bags if not bag.join(0.0)]
        return self._diagnostics.report(self._recorder, self._bag)

    def finish(self) -> None:
        """End the recording, so that receivers know, and the bag."""
        if self._end():
            self._blocks.wait_for_all_acked(qos.ARRIVED_WITHIN)
        for bag in self._ended_bags:
            if not bag.join(_FINISH):
                self.get_logger().error(f"bag {bag.path}: the disk does not keep up; cut short")
            elif bag.problem:
                self.get_logger().error(f"bag: {bag.problem}")


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
