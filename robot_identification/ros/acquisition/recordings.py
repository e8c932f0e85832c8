"""Recordings of the acquisition node: they begin, go on and end; their blocks and bags."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import Any, NamedTuple

from rclpy.node import Node
from std_msgs.msg import String

from robot_identification.errors import OutputError
from robot_identification.msg import SampleBlock
from robot_identification.robot.model import RobotModel
from robot_identification.ros.acquisition.bag import BagRecording, RecordingBags
from robot_identification.ros.acquisition.diagnostics import Diagnostics
from robot_identification.ros.acquisition.efforts import SeparateEfforts
from robot_identification.ros.acquisition.filtered import FilteredPublisher
from robot_identification.ros.acquisition.judgement import Judgement
from robot_identification.ros.acquisition.parameters import AcquisitionParameters
from robot_identification.ros.acquisition.recorder import Block, BlockPace, Recorder, continuation
from robot_identification.ros.acquisition.reference import Reference
from robot_identification.ros.acquisition.temperatures import JointTemperatures
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import Sample
from robot_identification.ros.common.parameters.declaration import NodeParameters
from robot_identification.ros.messages.blocks import block_message
from robot_identification.signals.clock.arrivals import SetbackWatch
from robot_identification.signals.positions.held_joints import HeldJoints


class _State(NamedTuple):
    """A joint state: its sample, its message for a bag, and when that came, in ns."""

    sample: Sample
    message: Any
    received: int

    @property
    def stamp(self) -> int:
        """Stamp in ns."""
        return self.sample.stamp


class Recordings:
    """Makes one recording at a time of the states that it is given, and publishes its blocks.

    Args:
        node: the node.
        robot: its robot.
        declared: parameters of the node.
        topic: where the states come from.
        bags: of the recordings.
        reference: what the robot was to follow.
        efforts: of a topic of their own; None: they come with the states.
        temperatures: of the joints.
        judgement: of what is recorded; None where samples are not whole.
        held: where joints stand that the robot holds fixed.
        diagnostics: of the states.

    Attributes:
        recorder: of the recording under way; None while there is none.
        blocks: where its blocks are published.
    """

    def __init__(
        self,
        node: Node,
        robot: RobotModel,
        declared: NodeParameters[AcquisitionParameters],
        *,
        topic: str,
        bags: RecordingBags,
        reference: Reference,
        efforts: SeparateEfforts | None,
        temperatures: JointTemperatures,
        judgement: Judgement | None,
        held: HeldJoints,
        diagnostics: Diagnostics,
    ) -> None:
        self._robot, self._declared, self._topic, self._bags = robot, declared, topic, bags
        self._reference, self._efforts, self._temperatures = reference, efforts, temperatures
        self._judgement, self._held, self._diagnostics = judgement, held, diagnostics
        self._log = node.get_logger()
        values = declared.now
        self._rate = values.expected_rate
        self._pace = BlockPace(values.block_period)
        self.recorder: Recorder | None = None
        self._setbacks = SetbackWatch[_State]()
        self.blocks = node.create_publisher(SampleBlock, "samples", qos.BLOCKS)
        self._announced = node.create_publisher(String, "recordings", qos.ANNOUNCED)
        self._filtered: FilteredPublisher | None = None
        if values.publish_filtered:
            self._filtered = FilteredPublisher(
                node, robot, values.filtered_cutoff, values.filtered_rate
            )

    def record(self, recorder: Recorder, sample: Sample, message: Any) -> None:
        """Record a state; where the clock was set back another recording begins.

        Args:
            recorder: of the recording under way.
            sample: the state.
            message: from which it was read, for a bag.
        """
        if self._judgement is not None:
            self._judgement.observe(sample)
        states, set_back = self._setbacks.take(_State(sample, message, time.time_ns()))
        if set_back:
            recorder = self._continue(recorder, states[0].stamp)
        for one in states:
            self._add(recorder, one)
        if self._pace.add(len(states)):
            self.publish()

    def _add(self, recorder: Recorder, state: _State) -> None:
        """Add a state to a recording, and to its bag."""
        recorder.add(state.sample)
        self._temperatures.add_state(state.sample)
        kind = self._declared.now.joint_states_type
        self._bags.keep(self._topic, kind, state.message, state.received)

    def publish_waiting(self) -> None:
        """Send what has not filled a block in a period."""
        if self._pace.period_ends():
            self.publish()

    def publish(self, *, last: bool = False) -> None:
        """Send blocks of what is complete.

        Args:
            last: send all that there is, and tell receivers that the recording has ended.
        """
        # Asked whether or not there is a recording: patience counts from one question to the next.
        wait = self._efforts is not None and self._efforts.are_due()
        until = self._reference.known_until()
        if self.recorder is None:
            return
        most = self._pace.most
        while block := self.recorder.take(last=last, wait=wait, until=until, most=most):
            self._send(block)
            if block.last:
                return
        self._pace.sent(self.recorder.rate)

    def _send(self, block: Block) -> None:
        block = replace(self._reference.complete(block), temperatures=self._temperatures.take())
        source = None if self._efforts is None else self._efforts.source
        self.blocks.publish(block_message(block, self._robot, source))
        if self._filtered is not None:
            self._filtered.publish(block)

    def begin(self) -> str:
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
        latched = (*self._reference.newest, *self._temperatures.newest)
        return self._bags.made(self._declared.now.bag_directory, recording, latched)

    def _open(self, name: str, bag: BagRecording | None) -> Recorder:
        efforts = None if self._efforts is None else self._efforts.buffer
        self._pace.begin()
        self._temperatures.begin()
        self._held.forget()
        if self._judgement is not None:
            self._judgement.begin()
        self.recorder = Recorder(name, len(self._robot.joints), self._rate, efforts)
        self._bags.current = bag
        if self._filtered is not None:
            self._filtered.begin()
        self._announced.publish(String(data=name))
        self._log.info(f"recording {name} begins")
        return self.recorder

    def _continue(self, recorder: Recorder, stamp: int) -> Recorder:
        """End a recording and go on in another: stamps from before and after are two clocks'.

        Args:
            recorder: of the recording that ends.
            stamp: of the first state after it, in ns.
        """
        name = continuation(recorder.recording)
        self._log.warning(
            f"the clock of the joint states was set back: recording {recorder.recording} ends, "
            f"{name} goes on"
        )
        self.publish(last=True)
        if self._efforts is not None:
            self._efforts.buffer.next_clock()
        self._temperatures.next_clock()
        self._reference.next_clock(stamp)
        self._diagnostics.set_back()
        had_bag = self._bags.current is not None
        self._bags.end()
        return self._open(name, self._bag_that_goes_on(name) if had_bag else None)

    def _bag_that_goes_on(self, name: str) -> BagRecording | None:
        try:
            return self._new_bag(name)
        except OutputError as error:
            self._diagnostics.bag_ended(str(error))
            return None

    def end(self) -> str:
        """End the recording; return its name, empty where none is running."""
        if self.recorder is None:
            return ""
        name = self.recorder.recording
        for state in self._setbacks.release():
            self._add(self.recorder, state)
        self.publish(last=True)
        self.recorder = None
        self._bags.end()
        self._log.info(f"recording {name} has ended")
        return name
