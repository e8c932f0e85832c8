"""All that the nodes of one namespace are asked to do."""

from __future__ import annotations

from robot_identification.ros.clients.motion_requests import MotionRequests
from robot_identification.ros.clients.recording_requests import RecordingRequests
from robot_identification.ros.clients.work_requests import WorkRequests


class Verbs(WorkRequests, RecordingRequests, MotionRequests):
    """Every verb sends one request and returns its response.

    Args:
        client: to talk through; of the namespace of the nodes.

    Raises:
        RequestRefusedError: by every verb, where the node answers without success.
        ClientTimeoutError: likewise, where it does not answer in time.
        NodeGoneError: likewise, where it ends meanwhile.
    """
