"""Work of the identification node: from the data of a request to its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from robot_identification.errors import ModelMismatchError, NotConvergedError
from robot_identification.files.output_folder import OutputFolder
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.didim.run import identify_didim
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.estimators.choice import DEFAULT, estimator_of
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.friction.options import STATED, check_friction, needs_whole
from robot_identification.identification.identify import identify
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.validate import Validation, validate
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.common.jobs import Cancelled
from robot_identification.ros.identification.didim_requests import (
    references_of,
    report_didim,
    start_of,
)
from robot_identification.ros.identification.outputs import check_output
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.ros.identification.recordings.running_recordings import (
    RunningRecordings,
    is_about_whole,
)
from robot_identification.ros.identification.recordings.selection import (
    live_recordings,
    measured_robot,
    read_data,
)
from robot_identification.ros.identification.requests import (
    fit_request,
    processing_of,
    values_to_validate,
)
from robot_identification.ros.messages.progress import ProgressReporter
from robot_identification.signals.recording import Recording
from robot_identification.srv import IdentifyDidim, Validate


@dataclass(frozen=True)
class Answer:
    """A result, and until when it was measured.

    Attributes:
        result: the result.
        stamp: of the last sample of all recordings, in ns.
    """

    result: IdentificationResult
    stamp: int


class IdentificationWork:
    """Identifies and validates as requests, or goals with the same fields, say.

    For one thread at a time.

    Args:
        robot: the robot.
        base: its base parameters.
        prior: parameter file that the start ``prior`` of DIDIM stands for.
        live: recordings in memory.
        outputs: where results may be written.
    """

    def __init__(
        self,
        robot: RobotModel,
        base: BaseParameters,
        prior: str,
        live: LiveRecordings,
        outputs: OutputFolder,
    ) -> None:
        self._robot, self._base, self._prior, self._live = robot, base, prior, live
        self._outputs = outputs
        self._running = RunningRecordings(robot, base)

    def _check_output(self, request: Any, *parameters: str) -> None:
        """Refuse a file that may not be written, or that is read; see :func:`.check_output`."""
        check_output(request, self._outputs, self._robot, [request.data], parameters)

    def identify(
        self,
        request: Any,
        overrides: ProcessingSettings,
        friction: str,
        report: ProgressReporter,
        cancelled: Cancelled,
    ) -> Answer:
        """Identify by least squares or another method without iterations.

        Args:
            request: of Identify.
            overrides: processing settings in place of recommended and derived ones.
            friction: choice of friction laws where the request has none.
            report: told the stage and the fraction of the whole that is done.
            cancelled: asked now and then whether to stop.

        Raises:
            InputError: a field has a value that it cannot have, or the data are of no use.
            OutputError: the file that is asked for cannot be written.
            NotExcitedError: the motion does not determine every base parameter.
            CancelledError: if ``cancelled`` says so.
        """
        method = request.method or DEFAULT
        estimator_of(Choice(method))  # refuses before anything is read
        friction = request.friction or friction
        check_friction(self._robot, friction, method)
        self._check_output(request)
        report("reading", 0.0)
        sources = live_recordings(request.data, self._live, cancelled)
        whole = needs_whole(self._robot) or bool(self._robot.temperature_terms)
        settled = friction == STATED and not whole
        if settled and is_about_whole(request) and not sources[0].ended:
            found = self._running.identify(request, sources[0], overrides, cancelled)
            if found is not None:
                report("done", 1.0)
                return Answer(found, sources[0].last_stamp)
        recordings = read_data(
            request.data,
            self._robot,
            sources,
            cancelled,
            processing=processing_of(request.processing),
        )
        fit = fit_request(request, recordings)
        result = identify(
            measured_robot(self._robot, request.data, sources),
            fit.fitted,
            method=method,
            overrides=overrides,
            held_out_fraction=request.held_out_fraction,
            held_out=fit.held_out,
            essential=EliminationRule() if request.essential else None,
            weighting=fit.weighting,
            robust=fit.robust,
            friction=friction,
            progress=report,
            cancelled=cancelled,
        )
        return Answer(result, _last_stamp(recordings))

    def didim(
        self,
        request: IdentifyDidim.Request,
        settings: DidimSettings,
        report: ProgressReporter,
        cancelled: Cancelled,
        in_vain: Callable[[Answer], None],
    ) -> Answer:
        """Identify by DIDIM.

        Args:
            request: of IdentifyDidim.
            settings: its settings.
            report: told the stage and every iteration.
            cancelled: asked now and then whether to stop.
            in_vain: told what was reached where that cannot be stood behind.

        Raises:
            InputError: a field has a value that it cannot have, or the data are of no use.
            OutputError: the file that is asked for cannot be written.
            ResultRefusedError: it does not converge, or the model does not explain the efforts.
            CancelledError: if ``cancelled`` says so.
        """
        self._check_output(request, self._prior, request.start)
        report("reading", 0.0)
        start = start_of(request, self._robot, self._prior)
        sources = live_recordings(request.data, self._live, cancelled)
        recordings = read_data(
            request.data,
            self._robot,
            sources,
            cancelled,
            processing=processing_of(request.processing),
            positions_needed=start == "idim",
            reference_needed=True,
        )
        try:
            result = identify_didim(
                measured_robot(self._robot, request.data, sources),
                recordings,
                references_of(request, recordings, self._robot),
                start=start,
                settings=settings,
                overrides=processing_of(request.processing),
                base=self._base,
                progress=lambda state: report_didim(report, state),
                cancelled=cancelled,
            )
        except (NotConvergedError, ModelMismatchError) as error:
            if error.result is not None:
                in_vain(Answer(error.result, _last_stamp(recordings)))
            raise
        return Answer(result, _last_stamp(recordings))

    def validate(
        self,
        request: Validate.Request,
        live: ProcessingSettings,
        last: IdentificationResult | None,
        report: ProgressReporter,
        cancelled: Cancelled,
    ) -> Validation:
        """Compare the efforts of recordings with what parameters predict.

        Args:
            request: of Validate.
            live: processing settings of live recordings that neither the request nor, unless
                settings are derived anew, the identification states, in place of recommended ones.
            last: result that counts where the request names no parameters.
            report: told the stage and the fraction of the whole that is done.
            cancelled: asked now and then whether to stop.

        Raises:
            InputError: a field has a value that it cannot have, or the data are of no use.
            CancelledError: if ``cancelled`` says so.
        """
        report("reading", 0.0)
        robot, model = values_to_validate(request, self._robot, self._base, last)
        sources = live_recordings(request.data, self._live, cancelled)
        stated = processing_of(request.processing)
        recordings = read_data(request.data, self._robot, sources, cancelled, processing=stated)
        of_bags = bool(request.data.bags)
        anew = request.derive_settings
        return validate(
            measured_robot(robot, request.data, sources),
            model.values,
            recordings,
            overrides=live.overridden_by(stated) if anew and not of_bags else stated,
            identified=model.processing if of_bags else live.overridden_by(model.processing),
            efforts=model.efforts,
            remarks=model.warnings,
            derive_settings=anew,
            progress=report,
            cancelled=cancelled,
        )


def _last_stamp(recordings: Sequence[Recording]) -> int:
    return max(r.start_stamp + round(1e9 * float(r.segments[-1].time[-1])) for r in recordings)
