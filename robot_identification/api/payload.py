"""Identify payloads and drive gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_identification.api.sources.parameters import ResultSource, result_of
from robot_identification.api.sources.recordings import Run, recordings_of
from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.calibration.payload_body import ConsistentPayload, with_consistent
from robot_identification.files.payloads import (
    gains_summary,
    payload_mounting,
    payload_summary,
    read_payload,
)
from robot_identification.identification.payload import calibrate_drives, identify
from robot_identification.identification.payload.body import QUANTITIES
from robot_identification.identification.payload.drive_gains import GAIN_METHODS
from robot_identification.identification.payload.known import KnownPayload
from robot_identification.identification.payload.runs import Cancelled, Progress
from robot_identification.presentation import Stored
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting, mounting_from
from robot_identification.robot.processing import ProcessingSettings

_UNITS = ("kg", *["m"] * 3, *["kg m^2"] * 6)


@dataclass(frozen=True, repr=False)
class IdentifiedPayload(Stored):
    """A payload identified from recordings.

    Attributes:
        result: the payload as identified, and its statistics.
        consistent: the nearest physically consistent body; None where the motion does not tell
            all ten quantities, or the mass is not distinguishable from zero, or negative.
    """

    result: identify.PayloadResult
    consistent: ConsistentPayload | None

    @property
    def headline(self) -> str:
        """Summary in one line."""
        body = self.result.estimate.body
        return (
            f"payload of {self.result.robot} in the frame of {self.result.mounting.frame}: "
            f"{body.values[0]:.4g} kg, standard deviation {body.std[0]:.2g} kg"
        )

    def records(self) -> list[dict[str, object]]:
        """Return a row for each of the ten quantities."""
        body = self.result.estimate.body
        columns = zip(
            QUANTITIES, _UNITS, body.values, body.std, body.lower, body.upper, strict=True
        )
        names = ("quantity", "unit", "value", "std", "lower_95", "upper_95")
        return [dict(zip(names, row, strict=True)) for row in columns]

    def summary(self) -> dict[str, Any]:
        """Return its plain data, as ``payload --json`` prints them; the keys are stable."""
        return payload_summary(self.result, self.consistent)


@dataclass(frozen=True, repr=False)
class IdentifiedDriveGains(Stored):
    """Gains of all drives identified from recordings.

    Attributes:
        result: the gains and their statistics.
    """

    result: calibrate_drives.DriveGainResult

    @property
    def headline(self) -> str:
        """Summary in one line."""
        factors = self.result.estimate.factors
        told = zip(self.result.joint_names, factors, strict=True)
        return f"drive gains of {self.result.robot}: {', '.join(f'{n} {f:.4g}' for n, f in told)}"

    def records(self) -> list[dict[str, object]]:
        """Return a row for each joint."""
        result = self.result
        columns = zip(
            result.joint_names,
            result.estimate.factors,
            result.estimate.std,
            *result.interval,
            result.believed,
            result.gains,
            strict=True,
        )
        names = ("joint", "factor", "std", "lower_95", "upper_95", "believed", "drive_gain")
        return [dict(zip(names, row, strict=True)) for row in columns]

    def summary(self) -> dict[str, Any]:
        """Return its plain data, as ``drive-gains --json`` prints them; the keys are stable."""
        return gains_summary(self.result)


def identify_payload(
    robot: RobotSource,
    bare: Run | Sequence[Run],
    loaded: Run | Sequence[Run],
    *,
    result: ResultSource | None = None,
    frame: str | None = None,
    placement: Sequence[float] | None = None,
    separate_friction: bool = False,
    processing: ProcessingSettings | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> IdentifiedPayload:
    """Identify a payload from runs without and with it, as ``payload`` does.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        bare: recordings or bags without the payload; with ``result`` there may be none.
        loaded: recordings or bags with it; the motions need not be the same.
        result: an identification of the bare robot, or its file; counts beside ``bare``.
        frame: link or joint of the robot, or link of its URDF; None: the last link.
        placement: x y z in m, roll pitch yaw in rad of the payload's frame in that frame.
        separate_friction: whether the load may change friction and offsets.
        processing: settings of the signal processing that replace recommended and derived ones.
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        RecordingError: there are too few runs, or they are of no use.
        SettingError: a setting is not possible, or a recording is both bare and loaded or would
            count twice.
        ResultMismatchError: the result has other base parameters, or is of other efforts.
        NotExcitedError: the motion tells nothing of the payload.
        CalibrationError: no payload near the identified one is consistent.
        CancelledError: ``cancelled`` says so.
    """
    described = robot_of(robot)
    found = identify.identify_payload(
        described,
        recordings_of(described, bare),
        recordings_of(described, loaded),
        mounting_of(robot, described, frame, placement),
        earlier=None if result is None else result_of(result, described),
        separate_friction=separate_friction,
        overrides=processing,
        progress=progress,
        cancelled=cancelled,
    )
    return IdentifiedPayload(*with_consistent(found))


def identify_drive_gains(
    robot: RobotSource,
    bare: Run | Sequence[Run],
    loaded: Run | Sequence[Run],
    payload: KnownPayload | str | Path,
    *,
    frame: str | None = None,
    placement: Sequence[float] | None = None,
    method: str = GAIN_METHODS[0],
    trusted: Sequence[str] = (),
    processing: ProcessingSettings | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> IdentifiedDriveGains:
    """Identify the gains of all drives with a known payload, as ``drive-gains`` does.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        bare: recordings or bags without the payload.
        loaded: recordings or bags with it; the motions need not be the same.
        payload: what is known of it, or its file.
        frame: link or joint of the robot, or link of its URDF; None: the frame of a file that
            ``payload`` or :meth:`IdentifiedPayload.save` wrote, else the last link.
        placement: x y z in m, roll pitch yaw in rad of the payload's frame in that frame.
        method: ``currents``, ``tls`` or ``ls``.
        trusted: joints whose gains are taken as right.
        processing: settings of the signal processing that replace recommended and derived ones.
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        RecordingError: there are too few runs, or they are of no use.
        SettingError: a setting is not possible, or a recording is both bare and loaded or would
            count twice.
        DriveGainError: the runs say nothing, or next to nothing, of a gain.
        NotConvergedError: the iterations do not settle.
        CancelledError: ``cancelled`` says so.
    """
    described = robot_of(robot)
    with_gains = calibrate_drives.with_all_gains(described)
    file = None if isinstance(payload, KnownPayload) else payload
    found = calibrate_drives.identify_drive_gains(
        described,
        recordings_of(with_gains, bare),
        recordings_of(with_gains, loaded),
        payload_mounting(file, _file_of(robot), described, frame, placement),
        payload if isinstance(payload, KnownPayload) else read_payload(payload),
        method=method,
        trusted=trusted,
        overrides=processing,
        progress=progress,
        cancelled=cancelled,
    )
    return IdentifiedDriveGains(found)


def mounting_of(
    source: RobotSource,
    robot: RobotModel,
    frame: str | None,
    placement: Sequence[float] | None,
) -> Mounting:
    """Return where a payload is mounted; frames of a URDF are known where the robot has a file."""
    return mounting_from(_file_of(source), robot, frame, placement)


def _file_of(source: RobotSource) -> str | Path | None:
    return source.file if isinstance(source, RobotModel) else source
