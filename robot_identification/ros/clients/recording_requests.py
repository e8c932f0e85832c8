"""Requests of recordings: begin and end one, and have one that lasts as long as a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from std_srvs.srv import Trigger

from robot_identification.errors import RobotIdentificationError
from robot_identification.ros.clients.asking import ANSWER_WITHIN, SOON, Asking
from robot_identification.ros.clients.client import ClientTimeoutError, RequestRefusedError
from robot_identification.ros.clients.interruption import signals_ignored
from robot_identification.ros.clients.recording import Recorded, RecordingEndedError

BEGIN_RECORDING = "acquisition/start"
_END_RECORDING = "acquisition/stop"
_LAST_BLOCK_WITHIN = 10.0


class RecordingRequests(Asking):
    """Asks the node acquisition for recordings."""

    def start_recording(self) -> Any:
        """Record from now on; the message of the response is the identifier of the recording."""
        return self._call(Trigger, BEGIN_RECORDING)

    def stop_recording(self) -> Any:
        """End the recording; the message is its identifier, or that of what continues it."""
        return self._call(Trigger, _END_RECORDING)

    def clear_recordings(self) -> Any:
        """Drop what was recorded."""
        return self._call(Trigger, "acquisition/clear")

    @contextmanager
    def recorded(self) -> Iterator[Recorded]:
        """Record while the block lasts; the recording ends whatever happens.

        Raises:
            ClientTimeoutError: no samples come, or not the last of them.
            RecordingEndedError: somebody else has ended it meanwhile.
        """
        with Recorded(self.client.node) as recording:
            recording.name = self._begin_recording()
            try:
                self.wait(lambda: recording.last_stamp, "samples")
                yield recording
            except BaseException:
                self._end_recording()
                raise
            recording.name = self._own_end(recording)
            self.wait(lambda: recording.ended, "last block", _LAST_BLOCK_WITHIN)

    def _begin_recording(self) -> str:
        """Record from now on; return the identifier of the recording.

        One whose beginning nobody waits for any more ends: the node may have taken the request.
        """
        beginning = self.begun.start_recording()

        def begun(within: float) -> str:
            return str(self._answer(Trigger, BEGIN_RECORDING, beginning, within).message)

        try:
            return begun(ANSWER_WITHIN)
        except (KeyboardInterrupt, ClientTimeoutError):
            with signals_ignored(), suppress(RobotIdentificationError):
                with suppress(ClientTimeoutError):
                    begun(SOON)  # refused: what is recorded is of somebody else, and goes on
                self._end_recording()
            raise

    def _own_end(self, recording: Recorded) -> str:
        """End a recording; return the identifier of its last part."""
        try:
            stopped = str(self.stop_recording().message)
        except RequestRefusedError as error:
            raise RecordingEndedError(recording.name, str(error)) from error
        recording.require_own(stopped)
        return stopped

    def _end_recording(self) -> None:
        """End the recording, if it can be: something went wrong already."""
        with signals_ignored(), suppress(RobotIdentificationError):
            self._call(Trigger, _END_RECORDING, within=SOON)
