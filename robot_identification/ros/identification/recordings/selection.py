"""Recordings that requests select: live ones and bags, from their messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from robot_identification import msg
from robot_identification.errors import CancelledError, SettingError
from robot_identification.files.bags.cdr.dynamic_states import INTERFACES
from robot_identification.files.tables.columns import Columns
from robot_identification.identification.prepared_recording import prepared_recording
from robot_identification.robot.model import EffortMeaning, RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.acquisition.recorder import continuation
from robot_identification.ros.common.jobs import Cancelled
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.ros.identification.recordings.recording import LiveRecording
from robot_identification.signals.efforts.separate import EffortSource
from robot_identification.signals.recording import Recording
from robot_identification.signals.temperature import joined

JOINT_STATES = "/joint_states"
JOINT_REFERENCE = "/joint_reference"
_OF_BAGS = (
    "joint_states_topic", "interfaces", "effort_topic", "effort_joints", "effort_delay",
    "reference_topic",
)  # fmt: skip
_PATIENCE = 5.0  # s: nodes that have just started find each other late on a busy machine


def live_recordings(
    data: msg.DataSelection, live: LiveRecordings, cancelled: Cancelled = lambda: False
) -> list[LiveRecording]:
    """Return the live recordings that a request names, as they are now.

    One that is named is given five seconds for its first block, and one that was stopped for its
    last one.  One that runs is taken as it is.

    Args:
        data: the selection; without recordings and bags it is the current recording.
        live: recordings in memory.
        cancelled: asked while one is waited for whether to stop.

    Raises:
        CancelledError: ``cancelled`` says so.
        SettingError: a recording or a bag is selected twice, or a field says something of bags, and
            there is none.
        UnknownRecordingError: if one is not in memory.
    """
    _refuse_twice("bags", [str(Path(bag).absolute()) for bag in data.bags])
    for field in _OF_BAGS:
        value = getattr(data, field)
        if not data.bags and value:
            raise SettingError(field, value, "is about bags, and none is selected; leave it out")
    names = list(data.recordings) or ([] if data.bags else [""])
    _refuse_twice("recordings", names)
    found = [live.get(name, patience=_PATIENCE, cancelled=cancelled) for name in names]
    _refuse_twice("recordings", [one.recording for one in found])  # "" is the current one
    return [_linked(one, found) for one in found]


def _linked(recording: LiveRecording, found: Sequence[LiveRecording]) -> LiveRecording:
    """Return a recording that knows the one that goes on where the clock was set back.

    That may have begun to come while the first was already taken.
    """
    following = continuation(recording.recording)
    known = any(one.recording == following for one in found)
    return replace(recording, after=following) if known else recording


def _refuse_twice(field: str, names: Sequence[str]) -> None:
    """Refuse data that would count twice: standard deviations would be too small.

    Raises:
        SettingError: a name stands twice.
    """
    (name, count), *_ = Counter(names).most_common(1) or [("", 0)]
    if count > 1:
        raise SettingError(field, name, "stands twice; select it once")


def measured_as(robot: RobotModel, effort_meaning: str) -> RobotModel:
    """Return a robot whose recorded efforts are what a live recording says of its own."""
    meaning = EffortMeaning(effort_meaning)
    if meaning is robot.effort_meaning:
        return robot
    return replace(robot, effort_meaning=meaning, effort_meaning_reason="recording")


def measured_robot(
    robot: RobotModel, data: msg.DataSelection, sources: Sequence[LiveRecording]
) -> RobotModel:
    """Return a robot whose recorded efforts are those of the data of a request.

    Where there are bags too, or live recordings of two kinds, they are what the node says of bags.

    Args:
        robot: the robot.
        data: the selection.
        sources: the live recordings that it names, from :func:`live_recordings`.
    """
    meanings = {source.effort_meaning for source in sources}
    if data.bags or len(meanings) != 1:
        return robot
    return measured_as(robot, meanings.pop())


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
        measured_as(robot, source.effort_meaning),
        source=source.recording,
        effort_topic=source.effort_topic,
        effort_delay=source.effort_delay,
        temperatures=joined(source.temperatures),
        **further,
    )
