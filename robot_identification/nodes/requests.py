"""What a request is about: recordings, settings and parameters, from its message."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

from robot_identification import msg
from robot_identification.errors import (
    CancelledError,
    ResultFileError,
    SettingError,
    UnknownRobotError,
)
from robot_identification.identification.base import BaseParameters
from robot_identification.identification.effort_delay import with_known_delay
from robot_identification.identification.result import IdentificationResult
from robot_identification.nodes.live import LiveRecording, LiveRecordings
from robot_identification.nodes.services import Cancelled
from robot_identification.robot.model import Array, EffortMeaning, RobotModel, read_only
from robot_identification.robot.processing import (
    Divisor,
    EndTreatment,
    ProcessingSettings,
    ThresholdScope,
)
from robot_identification.signals.joint_side import joint_side_recording
from robot_identification.signals.recording import Recording
from robot_identification.signals.separate_efforts import EffortSource
from robot_identification.srv import Validate
from robot_identification.storage.models import read_base_values

JOINT_STATES = "/joint_states"
JOINT_REFERENCE = "/joint_reference"
_PATIENCE = 5.0  # s: nodes that have just started find each other late on a busy machine


def read_data(
    data: msg.DataSelection,
    robot: RobotModel,
    live: LiveRecordings,
    cancelled: Cancelled,
    *,
    positions_needed: bool = True,
) -> tuple[list[Recording], list[str]]:
    """Return the recordings that a request names, and what a user should know about them.

    A live recording is given five seconds for its first block, and for its last one.

    Args:
        data: the selection; without recordings and bags it is the current recording.
        robot: the robot.
        live: recordings in memory.
        cancelled: asked before every recording whether to stop.
        positions_needed: whether the positions of bags must be there and finite.

    Returns:
        One recording for every bag, then one for every live recording; warnings, one line each.

    Raises:
        CancelledError: if ``cancelled`` says so.
        SettingError: if a field has a value that it cannot have.
        UnknownRecordingError: if a live recording is not in memory.
        InputError: if a bag or the samples are of no use.
    """
    if not 0.0 <= data.begin < data.end <= 1.0:
        raise SettingError("begin", data.begin, f"needs 0 <= begin < end <= 1, end is {data.end}")
    recordings, warnings = _read_bags(data, robot, cancelled, positions_needed), []
    names = list(data.recordings) or ([] if data.bags else [""])
    for name in names:
        if cancelled():
            raise CancelledError("cancelled while reading the data")
        source = live.get(name, patience=_PATIENCE)
        warnings += source.warnings()
        recordings.append(recording_of(source, robot).between(data.begin, data.end))
    known = with_known_delay(
        robot, recordings, estimated=data.estimate_effort_delay, cancelled=cancelled
    )
    return known, warnings


def _read_bags(
    data: msg.DataSelection, robot: RobotModel, cancelled: Cancelled, positions_needed: bool
) -> list[Recording]:
    if not data.bags:
        return []
    from robot_identification.storage.recordings import read_recordings

    efforts = _effort_source(data)
    recordings: list[Recording] = []
    for bag in data.bags:
        if cancelled():
            raise CancelledError("cancelled while reading the bags")
        recordings += read_recordings(
            [bag],
            robot,
            topic=data.joint_states_topic or JOINT_STATES,
            reference_topic=data.reference_topic or JOINT_REFERENCE,
            efforts=efforts,
            delay_needed=not data.estimate_effort_delay,
            begin=data.begin,
            end=data.end,
            positions_needed=positions_needed,
            cancelled=cancelled,
        )
    return recordings


def _effort_source(data: msg.DataSelection) -> EffortSource | None:
    """Return where the efforts of bags are; None where they come with the joint states."""
    if data.effort_topic:
        return EffortSource(data.effort_topic, data.effort_delay, tuple(data.effort_joints))
    if data.effort_delay or data.effort_joints:
        raise SettingError("effort_topic", "", "effort_delay and effort_joints need one")
    return None


def recording_of(source: LiveRecording, robot: RobotModel) -> Recording:
    """Return a live recording on the joint side, ready for identification."""
    meant = replace(robot, effort_meaning=EffortMeaning(source.effort_meaning))
    recording = joint_side_recording(source.samples(), meant, source=source.recording)
    return replace(recording, effort_topic=source.effort_topic, effort_delay=source.effort_delay)


def values_to_validate(
    request: Validate.Request,
    robot: RobotModel,
    base: BaseParameters,
    last: IdentificationResult | None,
) -> Array:
    """Return the base parameters that a request wants compared with data.

    Args:
        request: names a file, or parameters with their values, or nothing.
        robot: the robot.
        base: its base parameters.
        last: result that counts where the request names nothing.

    Returns:
        (base,) values.

    Raises:
        SettingError: if names and values do not fit together.
        ResultFileError: if there is no result, or it is another robot's.
    """
    if request.result:
        return values_of_file(request.result, robot)
    if request.names or request.values:
        return base_values(named_values(request.names, request.values), base)
    if last is None:
        raise ResultFileError("the last result", "there is none: call ~/identify first")
    return last.estimate.values


def values_of_file(path: str, robot: RobotModel) -> Array:
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
    """Return the settings that a request states.

    Raises:
        SettingError: if one that has a few values only has another.
    """
    ends = _choice(message, "ends", EndTreatment)
    divisor = _choice(message, "residual_divisor", Divisor)
    scope = _choice(message, "velocity_threshold_scope", ThresholdScope)
    window = message.velocity_threshold_window
    return ProcessingSettings(
        cutoff_hz=message.cutoff_hz or None,
        filter_order=message.filter_order or None,
        difference_order=message.difference_order or None,
        rate_hz=message.rate_hz or None,
        velocity_threshold=tuple(message.velocity_threshold) or None,
        velocity_threshold_window=None if window < 0.0 else window,
        velocity_threshold_scope=scope,
        drop_start=None if message.drop_start < 0 else message.drop_start,
        drop_end=None if message.drop_end < 0 else message.drop_end,
        ends=ends,
        residual_divisor=divisor,
    )


def _choice(message: msg.ProcessingSettings, name: str, choices: Any) -> Any:
    value = getattr(message, name)
    if value and value not in get_args(choices):
        raise SettingError(name, value, f"choose one of {', '.join(get_args(choices))}")
    return value or None
