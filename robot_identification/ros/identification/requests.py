"""Contents of requests: recordings, settings and parameters, from their messages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from robot_identification import msg
from robot_identification.errors import (
    CancelledError,
    RecordingError,
    ResultFileError,
    SettingError,
    UnknownRobotError,
)
from robot_identification.files.bags.cdr.dynamic_states import INTERFACES
from robot_identification.files.parameters import BaseValues, read_base_values, with_law_of
from robot_identification.files.results import is_result, read_result_of
from robot_identification.files.tables.columns import Columns
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.estimators.huber import METHOD, HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.prepared_recording import prepared_recording
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.result_settings import settings_of
from robot_identification.robot.model import Array, EffortMeaning, RobotModel, read_only
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.common.jobs import Cancelled
from robot_identification.ros.identification.recording import LiveRecording
from robot_identification.ros.identification.recordings import LiveRecordings
from robot_identification.ros.messages.common import stated
from robot_identification.signals.efforts.separate import EffortSource
from robot_identification.signals.recording import Recording
from robot_identification.signals.temperature import joined
from robot_identification.srv import Validate


@dataclass(frozen=True)
class FitRequest:
    """The part of a request to identify that is about its recordings.

    Attributes:
        fitted: recordings to fit.
        held_out: recordings to predict, not fit.
        weighting: what the fitted ones count.
        robust: how outliers are limited; None: not at all.
    """

    fitted: list[Recording]
    held_out: list[Recording]
    weighting: Weighting
    robust: HuberSettings | None


def fit_request(request: Any, recordings: Sequence[Recording]) -> FitRequest:
    """Return what a request, or a goal with the same fields, wants of its recordings.

    Args:
        request: of Identify.
        recordings: those of its data, bags first.

    Raises:
        SettingError: a field has a value that it cannot have.
        RecordingError: every recording is held out.
    """
    names = [*request.data.bags, *request.data.recordings]
    for name in request.held_out:
        if name not in names:
            raise SettingError("held_out", name, "not among the bags and recordings of data")
    weights = list(request.bag_weights)
    if weights and len(weights) != len(recordings):
        problem = f"give one for each of {len(recordings)} bags and recordings, or none"
        raise SettingError("bag_weights", len(weights), problem)
    fits = [name not in request.held_out for name in names] or [True] * len(recordings)
    fitted = [r for r, fit in zip(recordings, fits, strict=True) if fit]
    if not fitted:
        raise RecordingError("every bag and recording is held out; leave one to fit")
    counts = [w for w, fit in zip(weights, fits, strict=True) if fit] if weights else []
    return FitRequest(
        fitted=fitted,
        held_out=[r for r, fit in zip(recordings, fits, strict=True) if not fit],
        weighting=Weighting(tuple(counts), request.bag_noise),
        robust=_robust_of(request),
    )


def _robust_of(request: Any) -> HuberSettings | None:
    if request.robust not in ("", METHOD):
        raise SettingError("robust", request.robust, f"choose {METHOD}, or leave it empty")
    if not request.robust:
        if request.robust_threshold:
            raise SettingError("robust_threshold", request.robust_threshold, "needs robust")
        return None
    return HuberSettings.of({"threshold": request.robust_threshold or None})


JOINT_STATES = "/joint_states"
JOINT_REFERENCE = "/joint_reference"
_PATIENCE = 5.0  # s: nodes that have just started find each other late on a busy machine


def live_recordings(data: msg.DataSelection, live: LiveRecordings) -> list[LiveRecording]:
    """Return the live recordings that a request names, as they are now.

    One that is named is given five seconds for its first block, and one that was stopped for its
    last one.  One that runs is taken as it is.

    Args:
        data: the selection; without recordings and bags it is the current recording.
        live: recordings in memory.

    Raises:
        UnknownRecordingError: if one is not in memory.
    """
    names = list(data.recordings) or ([] if data.bags else [""])
    return [live.get(name, patience=_PATIENCE) for name in names]


def read_data(
    data: msg.DataSelection,
    robot: RobotModel,
    sources: Sequence[LiveRecording],
    cancelled: Cancelled,
    *,
    processing: ProcessingSettings | None = None,
    positions_needed: bool = True,
    reference_needed: bool = False,
) -> list[Recording]:
    """Return the recordings that a request names, with what a user should know about them.

    Args:
        data: the selection.
        robot: the robot.
        sources: the live recordings that it names, from :func:`live_recordings`.
        cancelled: asked before every recording whether to stop.
        processing: what the request states, for the estimate of the delay of the efforts.
        positions_needed: whether the positions of bags must be there and finite.
        reference_needed: whether the reference is read; what is wrong with it counts only then.

    Returns:
        One recording for every bag, then one for every live recording.

    Raises:
        CancelledError: if ``cancelled`` says so.
        SettingError: if a field has a value that it cannot have.
        InputError: if a bag or the samples are of no use.
    """
    if not 0.0 <= data.begin < data.end <= 1.0:
        raise SettingError("begin", data.begin, f"needs 0 <= begin < end <= 1, end is {data.end}")
    recordings = _read_bags(data, robot, cancelled, processing, positions_needed, reference_needed)
    for source in sources:
        if cancelled():
            raise CancelledError("cancelled while reading the data")
        recordings.append(
            recording_of(
                source,
                robot,
                reference=reference_needed,
                begin=data.begin,
                end=data.end,
                delay_estimated=data.estimate_effort_delay,
                processing=processing,
                warnings=source.warnings(),
                cancelled=cancelled,
            )
        )
    return recordings


def _read_bags(
    data: msg.DataSelection,
    robot: RobotModel,
    cancelled: Cancelled,
    processing: ProcessingSettings | None,
    positions_needed: bool,
    reference_needed: bool,
) -> list[Recording]:
    if not data.bags:
        return []
    from robot_identification.files.bags.recordings import read_recordings

    efforts = _effort_source(data)
    reference_topic = (data.reference_topic or JOINT_REFERENCE) if reference_needed else None
    recordings: list[Recording] = []
    for bag in data.bags:
        if cancelled():
            raise CancelledError("cancelled while reading the bags")
        recordings += read_recordings(
            [bag],
            robot,
            topic=data.joint_states_topic or JOINT_STATES,
            reference_topic=reference_topic,
            efforts=efforts,
            delay_estimated=data.estimate_effort_delay,
            processing=processing,
            begin=data.begin,
            end=data.end,
            positions_needed=positions_needed,
            columns=_interfaces(data),
            cancelled=cancelled,
        )
    return recordings


def _interfaces(data: msg.DataSelection) -> Columns:
    """Return which interfaces of joints hold which signal.

    Raises:
        SettingError: an entry does not say so.
    """
    stated = {}
    for entry in data.interfaces:
        signal, equals, name = entry.partition("=")
        if not equals or signal not in INTERFACES or signal in stated:
            problem = f"give SIGNAL=NAME, once for each of {', '.join(INTERFACES)}"
            raise SettingError("interfaces", entry, problem)
        stated[signal] = name
    return Columns.of(stated)


def _effort_source(data: msg.DataSelection) -> EffortSource | None:
    """Return where the efforts of bags are; None where they come with the joint states."""
    if data.effort_topic:
        return EffortSource(data.effort_topic, data.effort_delay, tuple(data.effort_joints))
    if data.effort_delay or data.effort_joints:
        raise SettingError("effort_topic", "", "effort_delay and effort_joints need one")
    return None


def recording_of(
    source: LiveRecording, robot: RobotModel, *, reference: bool = False, **further: Any
) -> Recording:
    """Return a live recording, ready for identification.

    Args:
        source: the recording.
        robot: the robot.
        reference: whether the reference comes with it.
        further: options of :func:`~.prepared_recording.prepared_recording`.

    Raises:
        InputError: its samples are of no use.
        CancelledError: the caller wants to stop.
    """
    return prepared_recording(
        source.samples(reference=reference),
        replace(robot, effort_meaning=EffortMeaning(source.effort_meaning)),
        source=source.recording,
        effort_topic=source.effort_topic,
        effort_delay=source.effort_delay,
        temperatures=joined(source.temperatures),
        **further,
    )


def values_to_validate(
    request: Validate.Request,
    robot: RobotModel,
    base: BaseParameters,
    last: IdentificationResult | None,
) -> tuple[RobotModel, BaseValues, tuple[str, ...]]:
    """Return the base parameters that a request wants compared with data, and their robot.

    The robot has the friction law of the result or parameter file, where that has one.  What a user
    should know of these comes third, one line each.

    Args:
        request: names a file, or parameters with their values, or nothing.
        robot: the robot.
        base: its base parameters.
        last: result that counts where the request names nothing.

    Raises:
        SettingError: if names and values do not fit together.
        ResultFileError: if there is no result, or it is another robot's.
    """
    if request.result:
        robot, remarks = _with_law_of(request.result, robot)
        return robot, values_of_file(request.result, robot), remarks
    if request.names or request.values:
        given = named_values(request.names, request.values)
        return robot, BaseValues(base_values(given, base)), ()
    if last is None:
        raise ResultFileError("the last result", "there is none: call ~/identify first")
    values = BaseValues(last.estimate.values, settings_of(last))
    return last.model_of(robot), values, last.remarks_on(robot)


def _with_law_of(path: str, robot: RobotModel) -> tuple[RobotModel, tuple[str, ...]]:
    """Return a robot with the friction law of a file, and what is to be said of the file.

    It comes without the law where there is no such file.
    """
    if is_result(path):
        result = read_result_of(path, robot)
        return result.model_of(robot), result.remarks_on(robot)
    try:
        return with_law_of(path, robot), ()
    except UnknownRobotError:
        return robot, ()  # the error of its values says what was asked for


def values_of_file(path: str, robot: RobotModel) -> BaseValues:
    """Return the base parameters in a result or parameter file that a request names.

    Raises:
        ResultFileError: if there is no such file, it is damaged, or it is another robot's.
        RobotDescriptionError: if a parameter file is wrong.
    """
    try:
        return read_base_values(path, robot)
    except UnknownRobotError as error:
        raise ResultFileError(path, "no such result or parameter file") from error


def base_values(given: Mapping[str, float], base: BaseParameters) -> Array:
    """Return base parameters from values of base or of standard parameters; others are 0.

    Raises:
        SettingError: if a name is neither, or both kinds are mixed.
    """
    for names, convert in ((base.names, read_only), (base.standard_names, base.values)):
        if set(given) <= set(names):
            return convert([given.get(name, 0.0) for name in names])
    unknown = sorted(set(given) - {*base.names, *base.standard_names})
    if unknown:
        raise SettingError("names", ", ".join(unknown), "no such parameter of the robot")
    raise SettingError("names", ", ".join(given), "give base or standard parameters, not both")


def named_values(names: list[str], values: list[float]) -> Mapping[str, float]:
    """Return values by name.

    Raises:
        SettingError: if there is not one finite value per name, or a name stands twice.
    """
    if len(names) != len(values):
        problem = f"one is needed for each of {len(names)} names"
        raise SettingError("values", f"{len(values)} of them", problem)
    for name, value in zip(names, values, strict=True):
        if not math.isfinite(value):
            raise SettingError(name, value, "must be finite")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SettingError("names", twice, "stands twice; give every parameter one value")
    return dict(zip(names, (float(value) for value in values), strict=True))


def processing_of(message: msg.ProcessingSettings) -> ProcessingSettings:
    """Return the settings of the signal processing that a request states.

    Raises:
        SettingError: if one has a value that it cannot have.
    """
    return ProcessingSettings(**stated(message, ProcessingSettings))
