"""External joint efforts of recordings, contacts, and the wrench at a frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.api.sources.parameters import FullSource, full_values_of, with_law
from robot_identification.api.sources.recordings import (
    Run,
    measured_of,
    recordings_of,
    some_recordings_of,
)
from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.dynamics.external_efforts.contacts import ContactEvent
from robot_identification.dynamics.external_efforts.learning import LevelLearning
from robot_identification.dynamics.external_efforts.levels import ResidualLevels
from robot_identification.dynamics.external_efforts.momentum_observer import ObservedEfforts
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.external_efforts.stream import EffortStream
from robot_identification.dynamics.external_efforts.watch import (
    ExternalEffortWatch,
    WatchedEfforts,
)
from robot_identification.dynamics.external_efforts.wrench import (
    FrameWrenches,
    WrenchEstimator,
    WrenchSettings,
)
from robot_identification.errors import RecordingError, ResultMismatchError, SettingError
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import mounting, urdf_frames
from robot_identification.signals.recording import Recording


@by_value
@dataclass(frozen=True)
class ExternalEfforts:
    """External joint efforts of a recording, and the contacts in it.

    Attributes:
        joint_names: names of the joints.
        stamps: (samples,) in ns.
        position: (samples, joints) in rad or m.
        effort: (samples, joints) in N m or N, joint side; without the bias of free motion, where
            some was given.
        deviation: (samples, joints) standard deviation; infinite where no free motion was given.
        threshold: (samples, joints) that the magnitude exceeds in a contact; infinite there.
        contacts: their beginnings and ends, in order.
    """

    joint_names: tuple[str, ...]
    stamps: npt.NDArray[np.int64]
    position: Array
    effort: Array
    deviation: Array
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

    The same efforts as the node ``calibration`` publishes for the same states.  Deviations and
    thresholds are those of the free motion alone; the node knows what the identification left, and
    goes below that nowhere.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        parameters: calibrated parameters, (full,) values, or a file.
        run: the recording, or the bag or table that holds it.
        free_motion: recordings without contact from which thresholds are learned; by default there
            are no thresholds and no contacts.
        settings: time constant, stick speeds, false alarms; by default those of the settings.

    Raises:
        ResultMismatchError: the parameters belong to a robot with others.
        SettingError: the robot has terms that are not compiled, a setting is wrong, or only some of
            run and free motion have velocities.
        RecordingError: the robot stands in the free motion.
        EffortSignError, NoEffortError: efforts of the free motion have the wrong sign, or are zero.
        InputError: a recording cannot be read, or its samples are of no use.
    """
    described, _ = with_law(robot_of(robot, closed_loops=True), parameters)
    values = full_values_of(described, parameters)
    free = recordings_of(described, free_motion) if free_motion != () else []
    chosen = settings or ExternalEffortSettings()
    runs = some_recordings_of(described, run)
    watch: EffortStream | ExternalEffortWatch = EffortStream(described, values, chosen)
    if free:
        _refuse_unlike([*free, *runs])
        levels = _levels(described, values, chosen, free)
        watch = ExternalEffortWatch(described, values, chosen, levels=levels)
    found = [_watched(block) for recording in runs for block in _pushed(watch, recording)]
    joined = [_known(block) for block in found]
    position, effort, deviation, threshold = (
        read_only(np.concatenate(parts)) for parts in zip(*joined, strict=True)
    )
    return ExternalEfforts(
        joint_names=described.active_names,
        stamps=np.concatenate([block.observed.stamps for block in found]),
        position=position,
        effort=effort,
        deviation=deviation,
        threshold=threshold,
        contacts=tuple(event for block in found for event in block.events),
    )


def external_wrench(
    robot: RobotSource,
    efforts: ExternalEfforts,
    frame: str,
    *,
    settings: WrenchSettings | None = None,
) -> FrameWrenches:
    """Return the wrench at a frame of the robot that external efforts stand for.

    By weighted least squares with the transposed Jacobian; what the joints do not feel, near
    singular postures or with fewer than six of them, is not told: NaN with an infinite deviation.
    As the node ``calibration`` has it, from efforts with the same deviations.

    Args:
        robot: the robot, its file, or the name of a shipped one; a :class:`RobotModel` has links
            of moving joints only, none behind fixed ones.
        efforts: of :func:`external_joint_efforts`, with free motion.
        frame: link or joint of the robot, or link of its URDF, also behind fixed joints.
        settings: force without moment, largest deviation; by default those of the settings.

    Raises:
        SettingError: nothing that moves has this name, or the efforts have no deviations, as no
            free motion was given.
        ResultMismatchError: the efforts are those of other joints.
    """
    described = robot_of(robot, closed_loops=True)
    if efforts.joint_names != described.active_names:
        raise ResultMismatchError(
            described.name,
            f"the efforts are those of the joints {', '.join(efforts.joint_names)}; give the robot "
            "that they were observed with",
        )
    if not np.isfinite(efforts.deviation).all():
        raise SettingError(
            "efforts", None, "have no deviations; give external_joint_efforts a free_motion"
        )
    frames = None if isinstance(robot, RobotModel) else urdf_frames(robot, described)
    estimator = WrenchEstimator(described, mounting(described, frame, frames), settings)
    return estimator.estimate(efforts.stamps, efforts.position, efforts.effort, efforts.deviation)


def _refuse_unlike(recordings: Sequence[Recording]) -> None:
    """Refuse recordings of which some have velocities of the driver and others none.

    Raises:
        SettingError: there are both; their noise differs by an order of magnitude.
    """
    measured = {s.velocity is not None for recording in recordings for s in recording.segments}
    if len(measured) > 1:
        raise SettingError(
            "free_motion",
            "only partly with velocities",
            "thresholds that are learned with velocities of the driver do not hold without; give "
            "run and free motion all with velocities, or all without",
        )


def _watched(block: ObservedEfforts | WatchedEfforts) -> WatchedEfforts:
    """Return a block with what is known of it; of a run without free motion nothing is judged."""
    return block if isinstance(block, WatchedEfforts) else WatchedEfforts(block, None, ())


def _known(block: WatchedEfforts) -> tuple[Array, Array, Array, Array]:
    """Return positions, efforts, deviations and thresholds of a block."""
    observed, judged = block.observed, block.judged
    if judged is not None:
        return observed.position, judged.effort, judged.deviation, judged.threshold
    unknown = np.full(observed.effort.shape, np.inf)
    return observed.position, observed.effort, unknown, unknown


def _levels(
    robot: RobotModel, values: Array, settings: ExternalEffortSettings, free: Sequence[Recording]
) -> ResidualLevels:
    """Return the levels of recordings of free motion.

    Raises:
        RecordingError: the robot stands in them.
    """
    stream = EffortStream(robot, values, settings)
    floor = np.zeros(len(robot.active_names))
    learning = LevelLearning(robot.active_names, floor, settings.speed_zones(robot))
    for recording in free:
        for block in _pushed(stream, recording):
            learning.add(block)
    if not learning.moved > 0.0:
        raise RecordingError(
            "no joint moves in the free motion beyond its stick speed, so that every motion would "
            "count as a contact: record the robot while it moves as it will later, for two minutes"
        )
    return learning.levels()


def _pushed(stream: EffortStream | ExternalEffortWatch, recording: Recording) -> Iterator[Any]:
    """Yield what comes of the segments of a recording, each of which begins anew."""
    for segment in recording.segments:
        stream.restart()
        yield stream.push(*measured_of(recording, segment))
