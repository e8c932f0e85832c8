"""The node that identifies base parameters from live recordings and bags."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.executors import Executor
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from robot_identification.action import Identify as IdentifyAction
from robot_identification.action import IdentifyDidim as DidimAction
from robot_identification.errors import InputError
from robot_identification.files.results import dump
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.diagnosis.finding import Finding, Severity
from robot_identification.identification.estimators.choice import DEFAULT
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.source import SPOILT
from robot_identification.msg import IdentificationResult as ResultMessage
from robot_identification.msg import Progress, SampleBlock
from robot_identification.robot.drives import require_effort_meaning
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.acquisition.recorder import Block
from robot_identification.ros.common import qos
from robot_identification.ros.common.actions import JobAction
from robot_identification.ros.common.diagnostics import NodeDiagnostics
from robot_identification.ros.common.executors import PooledExecutor
from robot_identification.ros.common.jobs import Job, JobSlot
from robot_identification.ros.common.parameters.declaration import declare, output_folder
from robot_identification.ros.common.process import run
from robot_identification.ros.identification.parameters import IdentificationParameters
from robot_identification.ros.identification.payload_services import PayloadServices
from robot_identification.ros.identification.payload_work import PayloadWork
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.ros.identification.requests import processing_of
from robot_identification.ros.identification.services import (
    base_of,
    fill_base_parameters,
    settings_of,
)
from robot_identification.ros.identification.streaming import StreamedEstimates, StreamingOptions
from robot_identification.ros.identification.warming import warm_up
from robot_identification.ros.identification.work import Answer, IdentificationWork
from robot_identification.ros.messages.blocks import raw_block, why_not_of
from robot_identification.ros.messages.common import floats
from robot_identification.ros.messages.progress import ProgressReporter
from robot_identification.ros.messages.results import result_message, setting_messages
from robot_identification.ros.robots.in_use import say_robot_in_use
from robot_identification.ros.robots.source import settle_robot
from robot_identification.srv import BaseParameters, Identify, IdentifyDidim, Validate

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
        self._last: IdentificationResult | None = None
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
        for kind, name, callback, group in (
            (Identify, "~/identify", self._on_identify, long),
            (IdentifyDidim, "~/didim", self._on_didim, long),
            (Validate, "~/validate", self._on_validate, long),
            (BaseParameters, "~/base_parameters", self._on_base_parameters, quick),
            (Trigger, "~/cancel", self._slot.on_cancel, quick),
        ):
            self.create_service(
                kind, name, callback, qos_profile=qos.SERVICES, callback_group=group
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
        self._actions = [
            JobAction(self, kind, f"~/{work}", slot=self._slot, work=work, perform=perform)
            for kind, work, perform in (
                (IdentifyAction, "identify", self._identified),
                (DidimAction, "didim", self._by_didim),
            )
        ]

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

    def _on_identify(
        self, request: Identify.Request, response: Identify.Response
    ) -> Identify.Response:
        return self._slot.serve(
            "identify", response, lambda empty, job: self._identified(request, empty, job)
        )

    def _identified(self, request: Any, response: Any, job: Job) -> Any:
        """Return the response to a request, or the result of a goal: their fields are the same."""
        answered = self._slot.answer(
            "identify", response, lambda filled: self._identify(request, filled, job)
        )
        return self._with_reason(request, answered)

    def _identify(self, request: Any, response: Any, job: Job) -> str:
        # Parameters that change while this goes on hold for the next request.
        overrides, good_enough_std = self._overrides(request), self._good_enough_std
        friction = self._declared.now.friction
        report = self._reporter(job)
        answer = self._work.identify(request, overrides, friction, report, job.cancelled)
        response.result = self._message(answer, good_enough_std)
        return self._conclude(answer.result, request, response)

    def _on_didim(
        self, request: IdentifyDidim.Request, response: IdentifyDidim.Response
    ) -> IdentifyDidim.Response:
        return self._slot.serve(
            "didim", response, lambda empty, job: self._by_didim(request, empty, job)
        )

    def _by_didim(self, request: Any, response: Any, job: Job) -> Any:
        """Return the response to a request, or the result of a goal, with what was reached."""
        reached: list[ResultMessage] = []
        answered = self._slot.answer(
            "didim", response, lambda filled: self._didim(request, filled, job, reached)
        )
        if reached:
            answered.result = reached[0]
        return self._with_reason(request, answered)

    def _with_reason(self, request: Any, answered: Any) -> Any:
        """Return an answer that says of recordings that are spoilt so where it is no success."""
        if not answered.success:
            spoilt = map(self._live.spoilt, request.data.recordings)
            answered.message = "; ".join([answered.message, *filter(None, spoilt)])
        return answered

    def _didim(self, request: Any, response: Any, job: Job, reached: list[ResultMessage]) -> str:
        """Fill in a response; what was reached in vain is appended to ``reached``."""
        settings = settings_of(request, self._declared.now.didim_max_iterations)
        good_enough_std = self._good_enough_std
        answer = self._work.didim(
            request,
            settings,
            self._reporter(job),
            job.cancelled,
            lambda answer: reached.append(self._message(answer, good_enough_std)),
        )
        response.result = self._message(answer, good_enough_std)
        summary = self._conclude(answer.result, request, response)
        return f"converged after {answer.result.iterations} iterations: {summary}"

    def _message(self, answer: Answer, good_enough_std: float) -> ResultMessage:
        return self._stamped(answer.result, answer.stamp, good_enough_std)

    def _stamped(
        self, result: IdentificationResult, stamp: int, good_enough_std: float
    ) -> ResultMessage:
        return result_message(
            result,
            self._robot,
            stamp=stamp,
            gap=self._base.gap,
            good_enough_std=good_enough_std,
        )

    def _conclude(self, result: IdentificationResult, request: Any, response: Any) -> str:
        """Write a result where a file was asked for, latch it, and return a line for people."""
        files = [(request.output, dump(result).encode("utf-8"))] if request.output else []
        response.written = self._outputs.write(files, overwrite=request.overwrite)
        self._last = result
        self._streamed.answered(lambda: self._results.publish(response.result))
        error = result.estimate.relative_error.total
        summary = f"{len(result.regrouping.names)} base parameters, relative error {error:.4f}"
        return _told(summary, result.warnings, result.findings)

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
        self._results.publish(self._stamped(result, stamp, self._good_enough_std))

    def _overrides(self, request: Identify.Request) -> ProcessingSettings:
        """Return the settings that a request states, and what is set for live recordings."""
        stated = processing_of(request.processing)
        live = self._declared.now.live_processing
        return stated if request.data.bags else live.overridden_by(stated)

    @property
    def _good_enough_std(self) -> float:
        return self._declared.now.good_enough_std

    def _on_validate(
        self, request: Validate.Request, response: Validate.Response
    ) -> Validate.Response:
        answered = self._slot.run(
            "validate", response, lambda filled, job: self._validate(request, filled, job)
        )
        return self._with_reason(request, answered)

    def _validate(self, request: Validate.Request, response: Validate.Response, job: Job) -> str:
        validation = self._work.validate(
            request,
            self._declared.now.live_processing,
            self._last,
            self._reporter(job),
            job.cancelled,
        )
        found = validation.findings
        told = (*validation.warnings, *validation.told_differences())
        response.warnings = [*(finding.line for finding in found), *told]
        response.joint_names = list(self._robot.joint_names)
        response.relative_error = floats(validation.relative_error.joints)
        response.relative_error_total = validation.relative_error.total
        response.residual_std = floats(validation.residual_std)
        response.rows = list(validation.rows)
        response.settings = setting_messages(validation.settings)
        response.seconds = validation.seconds
        summary = f"relative error {validation.relative_error.total:.4f}"
        return _told(summary, told, validation.findings)

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
        for one in self._actions:
            one.destroy()

    def _reporter(self, job: Job) -> ProgressReporter:
        robot = self._robot
        return ProgressReporter(self, self._progress, robot.name, robot.joint_names, job.tell)


def _told(summary: str, warnings: Sequence[str], findings: Sequence[Finding]) -> str:
    """Return a line for people that passes over neither mistakes nor recordings that are spoilt."""
    mistakes = [f.line for f in findings if f.severity is Severity.MISTAKE]
    return "; ".join([summary, *mistakes, *(line for line in warnings if SPOILT in line)])


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
