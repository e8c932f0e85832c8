"""Services and actions that fit recordings and bags: ~/identify, ~/didim and ~/validate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.publisher import Publisher

from robot_identification.action import Identify as IdentifyAction
from robot_identification.action import IdentifyDidim as DidimAction
from robot_identification.files.output_folder import OutputFolder
from robot_identification.files.results import dump
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.diagnosis.finding import Finding, Severity
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.source import SPOILT
from robot_identification.msg import IdentificationResult as ResultMessage
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.common import qos
from robot_identification.ros.common.actions import JobAction
from robot_identification.ros.common.jobs import Job, JobSlot
from robot_identification.ros.common.parameters.declaration import NodeParameters
from robot_identification.ros.identification.didim_requests import settings_of
from robot_identification.ros.identification.parameters import IdentificationParameters
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.ros.identification.requests import processing_of
from robot_identification.ros.identification.streaming import StreamedEstimates
from robot_identification.ros.identification.work import Answer, IdentificationWork
from robot_identification.ros.messages.common import floats
from robot_identification.ros.messages.progress import ProgressReporter
from robot_identification.ros.messages.results import result_message, setting_messages
from robot_identification.srv import Identify, IdentifyDidim, Validate


class FitServices:
    """Serves all three on the node that keeps the recordings, and latches what they find.

    Args:
        node: the node that answers.
        robot: its robot.
        declared: its parameters.
        base: base parameters of the robot.
        work: what is done.
        live: recordings in memory.
        outputs: where results may be written.
        slot: one piece of work at a time.
        reporter: makes what tells the progress of a job.
        results: where results are latched.
        streamed: estimates of the running recording, which give way to answers.
        group: callback group of the services.

    Attributes:
        actions: the same work as actions.
    """

    def __init__(
        self,
        node: Node,
        robot: RobotModel,
        *,
        declared: NodeParameters[IdentificationParameters],
        base: BaseParameters,
        work: IdentificationWork,
        live: LiveRecordings,
        outputs: OutputFolder,
        slot: JobSlot,
        reporter: Callable[[Job], ProgressReporter],
        results: Publisher,
        streamed: StreamedEstimates,
        group: CallbackGroup,
    ) -> None:
        self._declared, self._robot, self._gap = declared, robot, base.gap
        self._work, self._live, self._outputs = work, live, outputs
        self._slot, self._reporter = slot, reporter
        self._results, self._streamed = results, streamed
        self._last: IdentificationResult | None = None
        for service, name, callback in (
            (Identify, "~/identify", self._on_identify),
            (IdentifyDidim, "~/didim", self._on_didim),
            (Validate, "~/validate", self._on_validate),
        ):
            node.create_service(
                service, name, callback, qos_profile=qos.SERVICES, callback_group=group
            )
        self.actions = [
            JobAction(node, kind, f"~/{name}", slot=slot, work=name, perform=perform)
            for kind, name, perform in (
                (IdentifyAction, "identify", self._identified),
                (DidimAction, "didim", self._by_didim),
            )
        ]

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
        return result_message(
            answer.result,
            self._robot,
            stamp=answer.stamp,
            gap=self._gap,
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


def _told(summary: str, warnings: Sequence[str], findings: Sequence[Finding]) -> str:
    """Return a line for people that passes over neither mistakes nor recordings that are spoilt."""
    mistakes = [f.line for f in findings if f.severity is Severity.MISTAKE]
    return "; ".join([summary, *mistakes, *(line for line in warnings if SPOILT in line)])
