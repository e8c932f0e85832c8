"""Identification of payloads and drive gains as the node works on it, without services."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robot_identification import msg
from robot_identification.calibration.payload_body import with_consistent
from robot_identification.errors import SettingError
from robot_identification.files.output_folder import OutputFolder
from robot_identification.files.payloads import (
    gains_text,
    known_payload,
    payload_mounting,
    payload_text,
    read_payload,
)
from robot_identification.files.results import read_result_of
from robot_identification.identification.payload.calibrate_drives import (
    identify_drive_gains,
    with_all_gains,
)
from robot_identification.identification.payload.drive_gains import GAIN_METHODS
from robot_identification.identification.payload.identify import identify_payload
from robot_identification.identification.payload.known import KnownPayload
from robot_identification.identification.payload.runs import EXCHANGED
from robot_identification.identification.source import SPOILT
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.common.jobs import Cancelled
from robot_identification.ros.identification.outputs import check_output
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.ros.identification.recordings.recording import LiveRecording
from robot_identification.ros.identification.recordings.selection import (
    live_recordings,
    measured_robot,
    read_data,
)
from robot_identification.ros.identification.requests import processing_of
from robot_identification.ros.messages.payload import fill_gains, fill_payload
from robot_identification.ros.messages.progress import ProgressReporter
from robot_identification.signals.recording import Recording


@dataclass(frozen=True)
class _Runs:
    """What a request is about.

    Attributes:
        robot: the robot, as the recordings need it.
        bare: recordings without the payload.
        loaded: recordings with it.
        mounting: frame of the payload.
        processing: settings in place of recommended and derived ones.
    """

    robot: RobotModel
    bare: list[Recording]
    loaded: list[Recording]
    mounting: Mounting
    processing: ProcessingSettings


class PayloadWork:
    """Identifies payloads and drive gains as requests say, for one thread at a time.

    Args:
        robot: the robot.
        source: robot file, URDF or name that it was loaded from.
        live: recordings in memory.
        outputs: where results may be written.
    """

    def __init__(
        self, robot: RobotModel, source: str, live: LiveRecordings, outputs: OutputFolder
    ) -> None:
        self._robot, self._source, self._live, self._outputs = robot, source, live, outputs

    def payload(
        self,
        request: Any,
        response: Any,
        live: ProcessingSettings,
        report: ProgressReporter,
        cancelled: Cancelled,
    ) -> str:
        """Identify a payload.

        Args:
            request: of IdentifyPayload.
            response: what to fill.
            live: processing settings of live recordings that the request leaves open.
            report: told the stage and the fraction of the whole that is done.
            cancelled: asked now and then whether to stop.

        Returns:
            A line for people.

        Raises:
            InputError: a field has a value that it cannot have, or the data are of no use.
            OutputError: the file that is asked for cannot be written.
            NotExcitedError: the motion tells nothing of the payload.
            CancelledError: ``cancelled`` says so.
        """
        self._check_output(request, request.result)
        report("reading", 0.0)
        earlier = read_result_of(request.result, self._robot) if request.result else None
        runs = self._runs(request, self._robot, live, cancelled)
        result = identify_payload(
            runs.robot,
            runs.bare,
            runs.loaded,
            runs.mounting,
            earlier=earlier,
            separate_friction=request.separate_friction,
            overrides=runs.processing,
            progress=report,
            cancelled=cancelled,
        )
        result, consistent = with_consistent(result)
        fill_payload(response, result, consistent)
        response.written = self._write(request, payload_text(result, consistent))
        body = result.estimate.body
        return _told(
            f"{body.values[0]:.4g} kg, 95 % within {body.lower[0]:.4g} to {body.upper[0]:.4g} kg",
            result.warnings,
        )

    def drive_gains(
        self,
        request: Any,
        response: Any,
        live: ProcessingSettings,
        report: ProgressReporter,
        cancelled: Cancelled,
    ) -> str:
        """Identify the gains of all drives; arguments and errors as of :meth:`payload`.

        Raises:
            DriveGainError: the runs say nothing, or next to nothing, of a gain.
            NotConvergedError: the iterations do not settle.
        """
        self._check_output(request, request.payload)
        payload = known_of(request)
        report("reading", 0.0)
        robot = self._measured_by(request, cancelled)
        runs = self._runs(request, with_all_gains(robot), live, cancelled, request.payload)
        result = identify_drive_gains(
            robot,
            runs.bare,
            runs.loaded,
            runs.mounting,
            payload,
            method=request.method or GAIN_METHODS[0],
            trusted=list(request.trust),
            overrides=runs.processing,
            progress=report,
            cancelled=cancelled,
        )
        fill_gains(response, result)
        response.written = self._write(request, gains_text(result))
        factors = zip(result.joint_names, result.estimate.factors, strict=True)
        return _told(", ".join(f"{name} {factor:.4g}" for name, factor in factors), result.warnings)

    def _check_output(self, request: Any, read: str) -> None:
        data = [request.bare, request.loaded]
        check_output(request, self._outputs, self._robot, data, [read])

    def _write(self, request: Any, text: str) -> list[str]:
        files = [(request.output, text.encode("utf-8"))] if request.output else []
        return self._outputs.write(files, overwrite=request.overwrite)

    def _measured_by(self, request: Any, cancelled: Cancelled) -> RobotModel:
        """Return the robot with the meaning of efforts that live recordings themselves state."""
        sources = self._sources(request.loaded, cancelled)
        return measured_robot(self._robot, request.loaded, sources)

    def _sources(self, data: msg.DataSelection, cancelled: Cancelled) -> list[LiveRecording]:
        return live_recordings(data, self._live, cancelled)

    def _runs(
        self,
        request: Any,
        robot: RobotModel,
        live: ProcessingSettings,
        cancelled: Cancelled,
        payload: str = "",
    ) -> _Runs:
        mounting = payload_mounting(
            payload or None,
            self._source,
            robot,
            request.frame or None,
            list(request.placement) or None,
        )
        stated = processing_of(request.processing)
        self._refuse_common(request.bare, request.loaded, cancelled)
        bare: list[Recording] = []
        if request.bare.recordings or request.bare.bags:
            bare = self._read(request.bare, robot, stated, cancelled)
        loaded = self._read(request.loaded, robot, stated, cancelled)
        of_bags = bool(request.bare.bags or request.loaded.bags)
        processing = stated if of_bags else live.overridden_by(stated)
        return _Runs(robot, bare, loaded, mounting, processing)

    def _refuse_common(
        self, bare: msg.DataSelection, loaded: msg.DataSelection, cancelled: Cancelled
    ) -> None:
        """Refuse a live recording that is bare and loaded at the same time; bags tell themselves.

        The beginning of a recording may be bare, and its end loaded.
        """
        apart = bare.end <= loaded.begin or loaded.end <= bare.begin
        if apart or not (bare.recordings and (loaded.recordings or not loaded.bags)):
            return
        names = {source.recording for source in self._sources(bare, cancelled)}
        for source in self._sources(loaded, cancelled):
            if source.recording in names:
                raise SettingError("loaded", source.recording, "is given as bare too")

    def _read(
        self,
        data: msg.DataSelection,
        robot: RobotModel,
        stated: ProcessingSettings,
        cancelled: Cancelled,
    ) -> list[Recording]:
        return read_data(data, robot, self._sources(data, cancelled), cancelled, processing=stated)


def known_of(request: Any) -> KnownPayload:
    """Return what a request says of the payload.

    Raises:
        SettingError: nothing, or it says it twice, or no payload can be so.
        ResultFileError, RobotDescriptionError: the file is wrong.
    """
    centre, inertia = list(request.centre), list(request.inertia)
    if request.payload:
        if request.mass or centre or inertia:
            raise SettingError("payload", request.payload, "says it all; leave out mass etc.")
        return read_payload(request.payload)
    if not request.mass:
        raise SettingError("mass", 0.0, "weigh the payload: a known mass is needed at least")
    for name, values, count in (("centre", centre, 3), ("inertia", inertia, 6)):
        if values and len(values) != count:
            raise SettingError(name, values, f"give {count} numbers, or none")
    return known_payload(request.mass, centre or None, inertia or None)


def _told(summary: str, warnings: Sequence[str]) -> str:
    """Return a line for people that does not pass over spoilt or exchanged recordings."""
    grave = (line for line in warnings if SPOILT in line or EXCHANGED in line)
    return "; ".join([summary, *grave])
