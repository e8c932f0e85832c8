"""Identify from efforts and references alone, by DIDIM."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from robot_identification.api.sources.parameters import ParameterSource, base_values_of
from robot_identification.api.sources.recordings import (
    Run,
    TrajectorySource,
    recordings_of,
    trajectory_of,
)
from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.dynamics.reference import Reference
from robot_identification.errors import MissingSignalError, SettingError
from robot_identification.files.bags.trajectories import (
    planned_reference,
    read_reference,
    sampled_reference,
)
from robot_identification.identification.didim import run as didim
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.starts import IDIM, PRIOR, REGULAR, Start
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.whole_rows import Cancelled
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import Recording

REFERENCES = "/joint_reference"
"""Topic of the samples of the reference."""


def identify_didim(
    robot: RobotSource,
    recordings: Run | Sequence[Run],
    *,
    start: Start | ParameterSource = REGULAR,
    prior: str | Path | None = None,
    trajectory: TrajectorySource | None = None,
    trajectory_start: float = 0.0,
    reference_topic: str = "",
    trajectory_topic: str = "",
    settings: DidimSettings | None = None,
    processing: ProcessingSettings | None = None,
    progress: didim.Progress | None = None,
    cancelled: Cancelled | None = None,
) -> IdentificationResult:
    """Identify from efforts and references alone, as ``identify --method didim`` does.

    Args:
        robot: the robot, its file, or the name of a shipped one; with its controller.
        recordings: recordings or bags; simulated apart, fitted together.
        start: first parameters: ``regular`` (unit inertias), ``idim`` (least squares on the
            measured motion), ``prior``, a result, calibrated parameters, (base,) values, or a
            file of the former.
        prior: parameter file of the start ``prior``, read with no other; by default that named as
            the robot.
        trajectory: what the robot followed in every recording: a trajectory, a plan, a file, or the
            name of a shipped one; by default what these hold.
        trajectory_start: when that began, in s after the first sample.
        reference_topic: topic of the reference in bags, of samples or of trajectories.
        trajectory_topic: topic of trajectories, where there are no samples.
        settings: how the iterations run and end.
        processing: settings of the decimation that replace recommended and derived ones.
        progress: told what is being done, and every set of parameters that was simulated.
        cancelled: asked often, from several threads, whether to stop.

    Raises:
        SettingError: a setting is not possible, a prior is given with another start, or the robot
            declares no controller.
        ShapeError: the number of values is not that of the base parameters.
        MissingSignalError: a recording does not tell what the controller followed.
        NotConvergedError: the iterations do not come to an end; with what was reached.
        ModelMismatchError: they do, but the model does not explain the efforts; with the result.
        CancelledError: ``cancelled`` says so.
    """
    robot = robot_of(robot)
    first = _start(robot, start, prior)
    found = recordings_of(
        robot,
        recordings,
        reference_topic=reference_topic or REFERENCES,
        positions_needed=first == IDIM,
    )
    topic = trajectory_topic or reference_topic
    return didim.identify_didim(
        robot,
        found,
        _references(robot, found, trajectory, trajectory_start, topic),
        start=first,
        settings=settings,
        overrides=processing,
        progress=progress,
        cancelled=cancelled,
    )


def _start(
    robot: RobotModel, start: Start | ParameterSource, prior: str | Path | None
) -> Start | Literal["regular", "idim"]:
    named = start if isinstance(start, str) else None
    if prior is not None and named != PRIOR:
        raise SettingError("prior", prior, f"is read with the start {PRIOR} only; name it as start")
    if isinstance(start, Start):
        return start
    if named == REGULAR:
        return "regular"
    if named == IDIM:
        return "idim"
    source = (prior or robot.name) if named == PRIOR else start
    told = f"{start}, {source}" if isinstance(source, str | Path) else "values"
    return Start(told, base_values_of(robot, source).values)


def _references(
    robot: RobotModel,
    recordings: Sequence[Recording],
    trajectory: TrajectorySource | None,
    begin: float,
    topic: str,
) -> list[Reference]:
    if trajectory is None:
        return [_recorded_reference(robot, recording, topic) for recording in recordings]
    planned = trajectory_of(trajectory)
    return [planned_reference(planned, robot, start=begin) for _ in recordings]


def _recorded_reference(robot: RobotModel, recording: Recording, topic: str) -> Reference:
    if Path(recording.source).exists():
        return read_reference(recording.source, recording, robot, topic=topic)
    sampled = sampled_reference(recording)
    if sampled is None:
        raise MissingSignalError("reference", recording.source)
    return sampled
