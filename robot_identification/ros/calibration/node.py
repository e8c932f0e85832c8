"""The node that hands identified parameters back: consistent, as messages, URDF and files."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rclpy.callback_groups import (
    CallbackGroup,
    MutuallyExclusiveCallbackGroup,
    ReentrantCallbackGroup,
)
from rclpy.executors import Executor
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from robot_identification.calibration.calibrate import CalibrationSettings, calibrate
from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.model.monitor import ModelMonitor, ResidualReference
from robot_identification.calibration.prior import Prior
from robot_identification.calibration.running_payload.watch import PayloadWatch
from robot_identification.dynamics.external_efforts.watch import ExternalEffortWatch
from robot_identification.errors import (
    InconsistentParametersError,
    InputError,
    ResultFileError,
    SettingError,
    UnknownRobotError,
)
from robot_identification.files.atomic import check_targets, refuse_inputs
from robot_identification.files.export.urdf import (
    describe,
    identified_urdf,
    read_urdf_text,
)
from robot_identification.files.parameters import parameter_files, read_prior
from robot_identification.files.parameters_text import parameters_file
from robot_identification.files.results import read_result_of
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.source import SPOILT
from robot_identification.msg import IdentificationResult as ResultMessage
from robot_identification.msg import InertialParameters
from robot_identification.robot.drives import require_effort_meaning
from robot_identification.robot.files.loading import find_robot, load_robot, source_urdf
from robot_identification.robot.model import RobotModel
from robot_identification.ros.calibration.external_efforts import ExternalEfforts
from robot_identification.ros.calibration.model_services import ModelServices
from robot_identification.ros.calibration.parameters import CalibrationParameters
from robot_identification.ros.calibration.prediction import Prediction
from robot_identification.ros.calibration.running_payload import RunningPayload
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import NodeDiagnostics
from robot_identification.ros.common.executors import PooledExecutor
from robot_identification.ros.common.jobs import Job, JobSlot
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.common.parameters.declaration import (
    NodeParameters,
    declare,
    output_folder,
)
from robot_identification.ros.common.process import run
from robot_identification.ros.messages.common import stated
from robot_identification.ros.messages.inertial import calibrated_message
from robot_identification.ros.messages.received_results import result_of
from robot_identification.ros.robots.in_use import say_robot_in_use
from robot_identification.ros.robots.source import settle_robot
from robot_identification.srv import Calibrate

_THREADS = 6


@dataclass(frozen=True)
class _Made:
    """Messages and files of a calibration: made whole before anything of it is published."""

    parameters: InertialParameters
    description: String
    encoding: str
    watch: ModelMonitor | None
    external: ExternalEffortWatch | None
    payload: PayloadWatch | None


class CalibrationNode(Node):
    """Keeps the last identification, and answers requests to calibrate."""

    def __init__(self) -> None:
        super().__init__("calibration")
        parameters = declare(self, CalibrationParameters)
        quick, long = MutuallyExclusiveCallbackGroup(), ReentrantCallbackGroup()
        diagnostics = NodeDiagnostics(self, parameters.now.diagnostics_period, group=quick)
        origin = settle_robot(self, parameters, diagnostics)
        values = parameters.now
        source = values.robot
        self._robot = load_robot(source, effort_meaning=values.effort_meaning or None)
        diagnostics.of_robot(self._robot.name)
        for warning in self._robot.warnings:
            self.get_logger().warning(warning)
        described_by = source_urdf(source)
        urdf = values.urdf or described_by
        self._urdf = None if urdf is None else Path(urdf)
        self._prior = values.prior or described_by
        self._inputs = [find_robot(source)]
        self._check_files()
        self._outputs = output_folder(self, values.output_directory)
        self._slot = JobSlot(self.get_logger())
        self._last: IdentificationResult | None = None
        self._inertials = qos.create_publisher(
            self, InertialParameters, "inertial_parameters", qos.LATCHED
        )
        self._descriptions = qos.create_publisher(
            self, String, "identified_robot_description", qos.LATCHED
        )
        self.create_subscription(
            ResultMessage,
            "identified_parameters",
            self._on_result,
            qos.LATCHED,
            callback_group=MutuallyExclusiveCallbackGroup(),
        )
        self._efforts, self._payload, self._prediction = self._watches(parameters, quick)
        for part in (self._prediction, self._efforts, self._payload):
            if part is not None:
                diagnostics.add(part.report)
        for kind, name, callback in (
            (Calibrate, "~/calibrate", self._on_calibrate),
            (Trigger, "~/cancel", self._slot.on_cancel),
        ):
            self.create_service(kind, name, callback, qos_profile=qos.SERVICES, callback_group=long)
        self._queries = ModelServices(
            self, self._robot, self._slot, MutuallyExclusiveCallbackGroup()
        )
        states = "" if self._prediction is None else self._prediction.topic
        say_robot_in_use(self, self._robot, origin, joint_states=states)
        self.get_logger().info(f"ready: {self._robot.name}, prior {self._prior or 'none'}")

    def _watches(
        self, parameters: NodeParameters[CalibrationParameters], group: CallbackGroup
    ) -> tuple[ExternalEfforts | None, RunningPayload | None, Prediction | None]:
        """Return what watches the joint states, as far as the parameters want it.

        Raises:
            SettingError: something is wanted without what it needs.
        """
        values = parameters.now
        if values.wrench_frame and not (values.predict and values.external_efforts):
            raise SettingError("wrench_frame", values.wrench_frame, "needs external_efforts")
        if not values.predict:
            for name in ("external_efforts", "payload"):
                if getattr(values, name):
                    raise SettingError(name, True, "needs predict, which takes in the states")
            return None, None, None
        require_effort_meaning(self._robot)
        efforts = ExternalEfforts(self, self._robot, values) if values.external_efforts else None
        payload = RunningPayload(self, self._robot, values) if values.payload else None
        prediction = Prediction(self, self._robot, group, parameters, efforts, payload)
        return efforts, payload, prediction

    def destroy_node(self) -> None:
        """End what takes in states, then the node."""
        if self._prediction is not None:
            self._prediction.end()
        super().destroy_node()

    def _check_files(self) -> None:
        """Refuse a prior or a URDF of no use before anybody waits for a calibration."""
        read_prior(self._prior, self._robot)
        if self._urdf is not None:
            describe(self._urdf, self._robot)
            self._inputs.append(self._urdf)

    def _on_result(self, message: ResultMessage) -> None:
        if message.robot != self._robot.name:
            self.get_logger().error(
                f"parameters of {message.robot} ignored: this node is for {self._robot.name}"
            )
            return
        try:
            result = result_of(message)
        except InputError as error:
            self.get_logger().error(f"identified_parameters ignored: {error}")
            return
        names = [source.name for source in result.sources]
        before = [] if self._last is None else [source.name for source in self._last.sources]
        if names != before:  # a recording that runs has another estimate every second
            self.get_logger().info(
                f"{len(message.parameters)} base parameters to calibrate, of {', '.join(names)}"
            )
        self._last = result

    def _on_calibrate(
        self, request: Calibrate.Request, response: Calibrate.Response
    ) -> Calibrate.Response:
        return self._slot.run(
            "calibrate", response, lambda filled, job: self._calibrate(request, filled, job)
        )

    def _calibrate(self, request: Calibrate.Request, response: Calibrate.Response, job: Job) -> str:
        prior = request.prior or self._prior
        inputs = [*self._inputs, *(parameter_files(prior) if prior else ())]
        inputs += [Path(request.result)] if request.result else []
        named = [name for name in (request.output, request.urdf) if name]
        overwrite = request.overwrite
        targets = [self._outputs.target(name, overwrite=overwrite) for name in named]
        for target in check_targets(targets):
            refuse_inputs(target, inputs)
        result = self._result(request.result)
        robot = result.model_of(self._robot)
        calibrated = calibrate(
            robot,
            result,
            self._prior_of(request.prior, robot),
            **stated(request, CalibrationSettings),
            cancelled=job.cancelled,
        )
        made = self._checked(request, result, calibrated)
        response.parameters = made.parameters
        response.active_links = list(calibrated.active_links)
        response.warnings = list(calibrated.warnings)
        response.seconds = calibrated.seconds
        files = [*self._files(request, calibrated, made)]
        response.written = self._outputs.write(files, overwrite=overwrite)
        self._inertials.publish(made.parameters)
        self._descriptions.publish(made.description)
        self._queries.use(robot, calibrated, stamp_of(made.parameters))
        if self._prediction is not None and made.watch is not None:
            self._prediction.use(made.watch)
        if self._efforts is not None and made.external is not None:
            self._efforts.use(made.external)
        if self._payload is not None and made.payload is not None:
            self._payload.use(made.payload, made.parameters.parameters_hash)
        far = calibrated.distance_to_prior
        distance = "no prior" if math.isnan(far) else f"distance to the prior {far:.3g}"
        return (
            f"{calibrated.step.value}: relative error {calibrated.error.total:.4f}, "
            f"{100.0 * calibrated.error_increase:.2g} % of it for consistency; "
            f"{calibrated.cost}; {distance}"
            + "".join(f"; {w}" for w in calibrated.warnings if SPOILT in w)
        )

    def _result(self, path: str) -> IdentificationResult:
        if path:
            return read_result_of(path, self._robot)
        if self._last is None:
            raise ResultFileError(
                "the last result", "there is none: call ~/identify of the identification node first"
            )
        return self._last

    def _prior_of(self, named: str, robot: RobotModel) -> Prior:
        try:
            return read_prior(named or self._prior, robot)
        except UnknownRobotError as error:
            raise ResultFileError(named, "no such parameter file or URDF") from error

    def _checked(
        self,
        request: Calibrate.Request,
        result: IdentificationResult,
        calibrated: CalibratedParameters,
    ) -> _Made:
        """Return all that is published, where it is such as controllers can have it.

        Raises:
            SettingError: the request does not want it consistent, and it is not.
        """
        try:
            return self._made(result, calibrated)
        except InconsistentParametersError as error:
            if request.consistent:
                raise
            raise SettingError(
                "consistent",
                False,
                f"the nearest parameters are such as no robot has ({error.owner}: "
                f"{error.problem}), and this node publishes and writes no others; ask for "
                "consistent ones, or use the command calibrate without --consistent",
            ) from error

    def _made(self, result: IdentificationResult, calibrated: CalibratedParameters) -> _Made:
        """Return all that is published, checked as far as publishing could fail."""
        robot = calibrated.description
        text, description, encoding = None, None, "utf-8"
        if self._urdf is not None:
            text, encoding = read_urdf_text(self._urdf)
            description = describe(self._urdf, robot)
        message = calibrated_message(
            robot,
            calibrated,
            stamp=self.get_clock().now().nanoseconds,
            description=description,
        )
        name = str(self._urdf or "")
        urdf = identified_urdf(robot, calibrated.values, text, name=name)
        watch, external, payload = None, None, None
        if self._prediction is not None:
            level = ResidualReference.of(result, calibrated)
            watch = ModelMonitor(robot, calibrated.values, level)
            if self._efforts is not None:
                external = self._efforts.watch_of(robot, calibrated.values, level)
            if self._payload is not None:
                payload = self._payload.watch_of(robot, calibrated.values, calibrated.spread)
        return _Made(message, String(data=urdf), encoding, watch, external, payload)

    def _files(
        self, request: Calibrate.Request, calibrated: CalibratedParameters, made: _Made
    ) -> Iterator[tuple[str, bytes]]:
        """Yield the files that a request asks for, with what they are to hold."""
        if request.urdf:
            yield request.urdf, made.description.data.encode(made.encoding)
        if request.output:
            robot = calibrated.description
            yield request.output, parameters_file(request.output, robot, calibrated)


def make_executor() -> Executor:
    """Return an executor whose threads leave one for joint states and one for cancel, always."""
    return PooledExecutor(_THREADS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(CalibrationNode, arguments, name="calibration", make_executor=make_executor)


if __name__ == "__main__":
    sys.exit(main())
