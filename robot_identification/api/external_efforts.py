"""External joint efforts and contacts of recordings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.api.sources import (
    FullSource,
    RobotSource,
    Run,
    full_values_of,
    recordings_of,
    robot_of,
    with_law,
)
from robot_identification.dynamics.external_efforts.contacts import ContactEvent
from robot_identification.dynamics.external_efforts.learning import LevelLearning
from robot_identification.dynamics.external_efforts.levels import ResidualLevels
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.external_efforts.stream import EffortStream
from robot_identification.dynamics.external_efforts.watch import ExternalEffortWatch
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array, RobotModel
from robot_identification.signals.recording import Recording


@by_value
@dataclass(frozen=True)
class ExternalEfforts:
    """External joint efforts of a recording, and the contacts in it.

    Attributes:
        joint_names: names of the joints.
        stamps: (samples,) in ns.
        effort: (samples, joints) in N m or N, joint side.
        threshold: (samples, joints) that the magnitude exceeds in a contact; infinite where no
            free motion was given.
        contacts: their beginnings and ends, in order.
    """

    joint_names: tuple[str, ...]
    stamps: npt.NDArray[np.int64]
    effort: Array
    threshold: Array
    contacts: tuple[ContactEvent, ...]


def external_joint_efforts(
    robot: RobotSource,
    parameters: FullSource,
    run: Run,
    *,
    free_motion: Run | Sequence[Run] = (),
    settings: ExternalEffortSettings | None = None,
) -> ExternalEfforts:
    """Return the efforts that act on the joints from outside, by a momentum observer.

    The same numbers as the node ``calibration`` publishes for the same states.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        parameters: calibrated parameters, (full,) values, or a file.
        run: the recording, or the bag or table that holds it.
        free_motion: recordings without contact from which thresholds are learned; by default there
            are no thresholds and no contacts.
        settings: time constant, stick speeds, false alarms; by default those of the settings.

    Raises:
        ResultMismatchError: the parameters belong to a robot with others.
        SettingError: the robot has terms that are not compiled, or a setting is wrong.
        EffortSignError: efforts of the free motion have the wrong sign.
        InputError: a recording cannot be read, or its samples are of no use.
    """
    described, _ = with_law(robot_of(robot, closed_loops=True), parameters)
    values = full_values_of(described, parameters)
    free = recordings_of(described, free_motion) if free_motion != () else []
    chosen = settings or ExternalEffortSettings()
    levels = _levels(described, values, chosen, free) if free else None
    watch = ExternalEffortWatch(described, values, chosen, levels=levels)
    found = [
        block for recording in recordings_of(described, run) for block in _pushed(watch, recording)
    ]
    observed = [block.observed for block in found]
    band = np.concatenate([block.stick_band for block in observed])
    least = np.full(len(watch.names), np.inf) if watch.thresholds is None else watch.thresholds
    return ExternalEfforts(
        joint_names=watch.names,
        stamps=np.concatenate([block.stamps for block in observed]),
        effort=np.concatenate([block.effort for block in observed]),
        threshold=least + band,
        contacts=tuple(event for block in found for event in block.events),
    )


def _levels(
    robot: RobotModel, values: Array, settings: ExternalEffortSettings, free: Sequence[Recording]
) -> ResidualLevels:
    """Return the levels of recordings of free motion."""
    stream = EffortStream(robot, values, settings)
    floor = np.zeros(len(robot.active_names))
    learning = LevelLearning(robot.active_names, floor, settings.stick_speeds(robot))
    for recording in free:
        for block in _pushed(stream, recording):
            learning.add(block)
    return learning.levels()


def _pushed(stream: EffortStream | ExternalEffortWatch, recording: Recording) -> Iterator[Any]:
    """Yield what comes of the segments of a recording, each of which begins anew."""
    for segment in recording.segments:
        stream.restart()
        kept = slice(None) if segment.measured is None else segment.measured
        stamps = recording.start_stamp + np.rint(1e9 * segment.time[kept]).astype(np.int64)
        velocity = None if segment.velocity is None else segment.velocity[kept]
        yield stream.push(stamps, segment.position[kept], velocity, segment.effort[kept])
