"""A motion of the excitation node, from its start to its end: followed, and braked if need be."""

from __future__ import annotations

import time
from collections.abc import Callable

from std_srvs.srv import Trigger

from robot_identification.errors import (
    CancelledError,
    ResultRefusedError,
    RobotIdentificationError,
)
from robot_identification.msg import ExcitationStatus as Status
from robot_identification.nodes.client import ClientTimeoutError
from robot_identification.nodes.excitation_client import ExcitationClient
from robot_identification.nodes.interruption import signals_ignored

Report = Callable[[str, float], None]

SILENT = 5.0
"""Time without a word after which a node counts as gone, in s."""

_OVER = (Status.FINISHED, Status.STOPPED, Status.FAULT)
_STAGES = {Status.APPROACHING: "approach", Status.RUNNING: "trajectory", Status.BRAKING: "braking"}
_SHOWS_WITHIN = 2.0
_START_WITHIN = 60.0
_STOP_WITHIN = 10.0
_AT_REST_WITHIN = 30.0


class MotionStoppedError(ResultRefusedError):
    """The robot did not reach the end of the trajectory; the text says what became of it.

    Attributes:
        status: what the node said last.
    """

    def __init__(self, status: Status) -> None:
        self.status = status
        super().__init__(f"the motion was stopped: {status.text}; nothing resumes by itself")


class NodeGoneError(RobotIdentificationError):
    """A node has ended, or cannot be reached any more, in the middle of what it was asked."""


def follow(excitation: ExcitationClient, report: Report) -> Status:
    """Start the motion of the last plan, wait for its end, and return the status then.

    An interruption (KeyboardInterrupt) brakes the robot first.

    Args:
        excitation: client of the node.
        report: told the stage of the motion, and which fraction of it is over.

    Raises:
        RequestRefusedError: the start is refused.
        MotionStoppedError: the motion was stopped before its end.
        CancelledError: it was interrupted; the message says what became of the robot.
        NodeGoneError: the node does not say anything any more.
    """
    client = excitation.client
    client.wait_for_service(Trigger, "excitation/stop", _STOP_WITHIN)  # no motion without a brake
    try:
        client.demand(Trigger, "excitation/start", timeout=_START_WITHIN)
        status = _watch(excitation, report)
    except KeyboardInterrupt as error:
        with signals_ignored():
            told = brake(excitation)
        raise CancelledError(told) from error
    except (NodeGoneError, ClientTimeoutError) as error:
        raise NodeGoneError(f"{error}; {brake(excitation)}") from error
    if status.state != Status.FINISHED:
        raise MotionStoppedError(status)
    return status


def _watch(excitation: ExcitationClient, report: Report) -> Status:
    """Return the status at the end of the motion that was begun just now."""
    begun = heard_at = time.monotonic()
    heard, moved = len(excitation.statuses), False
    while True:
        excitation.client.spin(0.1)
        if len(excitation.statuses) == heard:
            if time.monotonic() - heard_at > SILENT:
                raise NodeGoneError(
                    f"the node excitation has said nothing for {SILENT:g} s, and the controller "
                    "goes on with the trajectory that it has"
                )
            continue
        heard, heard_at = len(excitation.statuses), time.monotonic()
        status = excitation.status
        if status.state in _STAGES:
            moved = True
            fraction = status.elapsed / status.duration if status.duration > 0.0 else 0.0
            report(_STAGES[status.state], min(fraction, 1.0))
        # What was said before the start may come after its answer.
        elif status.state in _OVER and (moved or heard_at - begun > _SHOWS_WITHIN):
            return status


def brake(excitation: ExcitationClient) -> str:
    """Have the robot brake, wait for rest, and return what became of it, for people."""
    client = excitation.client
    try:
        answer = client.call(Trigger, "excitation/stop", timeout=_STOP_WITHIN)
        excitation.statuses.clear()
        excitation.wait(
            lambda: excitation.statuses and excitation.status.state not in _STAGES,
            "rest",
            _AT_REST_WITHIN,
        )
    except ClientTimeoutError as error:
        return f"braking was asked for, but there is {error}: use the emergency stop"
    return f"{answer.message}; {excitation.status.text}"
