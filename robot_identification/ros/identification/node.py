"""The node that identifies base parameters from live recordings and bags."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.executors import Executor
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from robot_identification.errors import InputError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators.choice import DEFAULT
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.result import IdentificationResult
from robot_identification.msg import IdentificationResult as ResultMessage
from robot_identification.msg import Progress, SampleBlock
from robot_identification.robot.drives import require_effort_meaning
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.acquisition.recorder import Block
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import NodeDiagnostics
from robot_identification.ros.common.executors import PooledExecutor
from robot_identification.ros.common.jobs import Job, JobSlot
from robot_identification.ros.common.parameters.declaration import declare, output_folder
from robot_identification.ros.common.process import run
from robot_identification.ros.identification.base_parameters import base_of, fill_base_parameters
from robot_identification.ros.identification.fit_services import FitServices
from robot_identification.ros.identification.parameters import IdentificationParameters
from robot_identification.ros.identification.payload_services import PayloadServices
from robot_identification.ros.identification.payload_work import PayloadWork
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.ros.identification.streaming import StreamedEstimates, StreamingOptions
from robot_identification.ros.identification.warming import warm_up
from robot_identification.ros.identification.work import IdentificationWork
from robot_identification.ros.messages.blocks import raw_block, why_not_of
from robot_identification.ros.messages.progress import ProgressReporter
from robot_identification.ros.messages.results import result_message
from robot_identification.ros.robots.in_use import say_robot_in_use
from robot_identification.ros.robots.source import settle_robot
from robot_identification.srv import BaseParameters

_THREADS = 6
_GRACE = 2.0


class IdentificationNode(Node):
    """Keeps live recordings and answers requests to identify and validate."""

    def __init__(self) -> None:
        super().__init__("identification")
        self._declared = declare(self, IdentificationParameters)
        diagnostics = NodeDiagnostics(self)
        origin = settle_robot(self, self._declared, diagnostics)
        values = self._declared.now
        self._robot = load_robot(values.robot, effort_meaning=values.effort_meaning or None)
        for warning in self._robot.warnings:
            self.get_logger().warning(warning)
        require_effort_meaning(self._robot)
        diagnostics.of_robot(self._robot.name)
        started = time.monotonic()
        self._base = base_parameters(self._robot)
        warm_up(self._base)
        self._live = LiveRecordings(values.max_memory_mb * 10**6, values.max_recordings)
        prior = values.prior or self._robot.name
        self._outputs = output_folder(self, values.output_directory)
        self._work = IdentificationWork(self._robot, self._base, prior, self._live, self._outputs)
        self._slot = JobSlot(self.get_logger())
        self._results = self.create_publisher(ResultMessage, "identified_parameters", qos.LATCHED)
        self._progress = self.create_publisher(Progress, "~/progress", qos.STATUS)
        self._streamed = StreamedEstimates(
            self._robot,
            self._base,
            self._streaming_options,
            self._publish_streamed,
            self.get_logger(),
        )
        one_at_a_time = MutuallyExclusiveCallbackGroup()
        for kind, topic, take, profile in (
            (SampleBlock, "samples", self._on_block, qos.BLOCKS),
            (String, "recordings", self._on_announcement, qos.ANNOUNCED),
        ):
            self.create_subscription(kind, topic, take, profile, callback_group=one_at_a_time)
        self._create_services()
        say_robot_in_use(self, self._robot, origin)
        seconds = time.monotonic() - started
        self.get_logger().info(
            f"ready after {seconds:.1f} s: {self._robot.name}, {self._base.rank} base parameters"
        )

    def _create_services(self) -> None:
        long, quick = ReentrantCallbackGroup(), ReentrantCallbackGroup()
        self._fits = FitServices(
            self,
            self._robot,
            declared=self._declared,
            base=self._base,
            work=self._work,
            live=self._live,
            outputs=self._outputs,
            slot=self._slot,
            reporter=self._reporter,
            results=self._results,
            streamed=self._streamed,
            group=long,
        )
        for kind, name, callback in (
            (BaseParameters, "~/base_parameters", self._on_base_parameters),
            (Trigger, "~/cancel", self._slot.on_cancel),
        ):
            self.create_service(
                kind, name, callback, qos_profile=qos.SERVICES, callback_group=quick
            )
        self._payloads = PayloadServices(
            self,
            PayloadWork(self._robot, self._declared.now.robot, self._live, self._outputs),
            self._live,
            self._slot,
            self._reporter,
            lambda: self._declared.now.live_processing,
            long,
        )

    def _on_block(self, message: SampleBlock) -> None:
        if message.kind != SampleBlock.RAW:
            return
        if foreign := why_not_of(self._robot, message):
            self.get_logger().error(foreign, throttle_duration_sec=10.0)
            return
        try:
            block = raw_block(message)
            problems = self._live.add(block, message.effort_meaning)
            self._stream(block, message.effort_meaning)
        except InputError as error:
            self.get_logger().error(f"block of {message.recording} ignored: {error}")
            return
        for problem in problems:
            self.get_logger().warning(problem)

    def _on_announcement(self, message: String) -> None:
        """Take in that a recording has begun; its first blocks may have come before."""
        early = self._live.announce(message.data)
        if early is not None:
            for block in early.as_blocks():
                self._stream(block, early.effort_meaning)

    def _stream(self, block: Block, effort_meaning: str) -> None:
        spoilt = self._live.spoilt(block.recording)
        if spoilt:
            self._streamed.remark(block.recording, spoilt)
        elif self._live.is_own(block.recording):
            self._streamed.add(block, effort_meaning)

    def _streaming_options(self) -> StreamingOptions | None:
        values = self._declared.now
        if not values.streaming:
            return None
        return StreamingOptions(
            overrides=values.live_processing,
            settle=values.streaming_settle,
            refresh_period=values.refresh_period,
            choice=Choice(DEFAULT, EliminationRule() if values.streaming_essential else None),
        )

    def _publish_streamed(self, result: IdentificationResult, stamp: int) -> None:
        self._results.publish(
            result_message(
                result,
                self._robot,
                stamp=stamp,
                gap=self._base.gap,
                good_enough_std=self._declared.now.good_enough_std,
            )
        )

    def _on_base_parameters(
        self, request: BaseParameters.Request, response: BaseParameters.Response
    ) -> BaseParameters.Response:
        return self._slot.answer(
            "base_parameters",
            response,
            lambda filled: fill_base_parameters(request, filled, base_of(request, self._base)),
        )

    def finish(self) -> None:
        """End what runs beside the executor."""
        self._slot.close(_GRACE)
        self._streamed.stop()
        for one in self._fits.actions:
            one.destroy()

    def _reporter(self, job: Job) -> ProgressReporter:
        robot = self._robot
        return ProgressReporter(self, self._progress, robot.name, robot.joint_names, job.tell)


def make_executor() -> Executor:
    """Return an executor whose threads leave one for samples and one for cancel, always."""
    return PooledExecutor(_THREADS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(
        IdentificationNode,
        arguments,
        name="identification",
        finish=IdentificationNode.finish,
        make_executor=make_executor,
    )


if __name__ == "__main__":
    sys.exit(main())
