"""The services ~/identify_payload and ~/identify_drive_gains."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.common import qos
from robot_identification.ros.common.jobs import Job, JobSlot
from robot_identification.ros.identification.payload_work import PayloadWork
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.ros.messages.progress import ProgressReporter
from robot_identification.srv import IdentifyDriveGains, IdentifyPayload


class PayloadServices:
    """Serves both on the node that keeps the recordings.

    Args:
        node: the node that answers.
        work: what is done.
        live: recordings in memory.
        slot: one piece of work at a time.
        reporter: makes what tells the progress of a job.
        processing: settings of live recordings, as they are now.
        group: callback group of the services.
    """

    def __init__(
        self,
        node: Node,
        work: PayloadWork,
        live: LiveRecordings,
        slot: JobSlot,
        reporter: Callable[[Job], ProgressReporter],
        processing: Callable[[], ProcessingSettings],
        group: CallbackGroup,
    ) -> None:
        self._live, self._slot = live, slot
        self._reporter, self._processing = reporter, processing
        for kind, name, perform in (
            (IdentifyPayload, "~/identify_payload", work.payload),
            (IdentifyDriveGains, "~/identify_drive_gains", work.drive_gains),
        ):
            node.create_service(
                kind,
                name,
                self._answering(name.removeprefix("~/"), perform),
                qos_profile=qos.SERVICES,
                callback_group=group,
            )

    def _answering(self, name: str, perform: Callable[..., str]) -> Callable[[Any, Any], Any]:
        def answer(request: Any, response: Any) -> Any:
            answered = self._slot.run(
                name,
                response,
                lambda filled, job: perform(
                    request, filled, self._processing(), self._reporter(job), job.cancelled
                ),
            )
            if not answered.success:
                named = chain(request.bare.recordings, request.loaded.recordings)
                spoilt = filter(None, map(self._live.spoilt, named))
                answered.message = "; ".join([answered.message, *spoilt])
            return answered

        return answer
