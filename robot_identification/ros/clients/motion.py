"""A motion of the excitation node, from its start to its end: followed, and braked if need be."""

from __future__ import annotations

import time

from robot_identification.errors import CancelledError, ResultRefusedError, RobotIdentificationError
from robot_identification.msg import ExcitationStatus as Status
from robot_identification.ros.clients.asking import SILENT, Report
from robot_identification.ros.clients.client import ClientTimeoutError, NodeGoneError
from robot_identification.ros.clients.interruption import signals_ignored
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.common import qos

OVER = (Status.FINISHED, Status.STOPPED, Status.FAULT)
"""States in which no motion is under way any more."""

_STAGES = {Status.APPROACHING: "approach", Status.RUNNING: "trajectory", Status.BRAKING: "braking"}
_SHOWS_WITHIN = 2.0
_SAME_SPEED = 1e-6

ON_THEIR_WAY = 2 * qos.STATUS_LATCHED.depth
"""Messages of the status that sender and receiver may keep."""


class MotionStoppedError(ResultRefusedError):
    """The robot did not reach the end of the trajectory; the text says what became of it.

    Attributes:
        status: what the node said last.
    """

    def __init__(self, status: Status) -> None:
        self.status = status
        super().__init__(f"the motion was stopped: {status.text}; nothing resumes by itself")


class OtherSpeedError(ResultRefusedError):
    """The robot moves at another speed than was agreed to, and is braked.

    Attributes:
        speed: share of the planned speed, as the node says.
        agreed: the one that was agreed to.
        became: what became of the robot.
    """

    def __init__(self, speed: float, agreed: float, became: str = "") -> None:
        self.speed, self.agreed, self.became = speed, agreed, became
        told = f"; {became}" if became else ""
        super().__init__(
            f"the robot was moved at {100.0 * speed:g} % of the planned speed in place of "
            f"{100.0 * agreed:g} %: somebody else has set the parameter speed of excitation "
            f"meanwhile; let one at a time move the robot{told}"
        )


def follow(
    verbs: Verbs,
    report: Report | None = None,
    *,
    resume: bool = False,
    speed: float | None = None,
) -> Status:
    """Start the motion of the last plan, wait for its end, and return the status then.

    An interruption (KeyboardInterrupt) brakes the robot first.

    Args:
        verbs: of the nodes.
        report: told the stage of the motion, and which fraction of it is over; None: nobody.
        resume: go on with a plan of experiments after a stop.
        speed: share of the planned speed that was agreed to; None: any.

    Raises:
        RequestRefusedError: the start is refused.
        OtherSpeedError: the node moves the robot at another speed; it was braked.
        CancelledError: it was interrupted; the message says what became of the robot.
        NodeGoneError: the node does not say anything any more, or has started anew.
    """
    verbs.wait_for_brake()
    try:
        verbs.resume() if resume else verbs.start()
        return _watch(verbs, report or (lambda _stage, _fraction: None), speed)
    except OtherSpeedError as error:
        raise OtherSpeedError(error.speed, error.agreed, brake(verbs)) from error
    except KeyboardInterrupt as error:
        raise CancelledError(brake(verbs)) from error
    except (NodeGoneError, ClientTimeoutError) as error:
        raise NodeGoneError(f"{error}; {brake(verbs)}") from error


def _watch(verbs: Verbs, report: Report, speed: float | None) -> Status:
    """Return the status at the end of the motion that was begun just now.

    Raises:
        OtherSpeedError: the robot moves at another speed than one that is given.
        NodeGoneError: the node says nothing any more, or knows of no motion.
    """
    begun = time.monotonic()
    first = heard = len(verbs.statuses)
    moved = False
    while True:
        known, heard = heard, _hear_more(verbs, heard)
        # What was said before the start may come after its answer.
        shows = moved or time.monotonic() - begun > _SHOWS_WITHIN
        for status in verbs.statuses[known:]:
            if status.state in _STAGES:
                moved = shows = True
                if speed is not None and abs(status.speed - speed) > _SAME_SPEED:
                    raise OtherSpeedError(status.speed, speed)
                fraction = status.elapsed / status.duration if status.duration > 0.0 else 0.0
                report(_STAGES[status.state], min(fraction, 1.0))
            elif status.state in OVER:
                if shows:
                    return status
            elif moved or heard - first > ON_THEIR_WAY:
                raise NodeGoneError(
                    f"the node excitation knows of no motion any more ({status.text}), as after a "
                    "restart: the controller goes on with the trajectory that it has, and nobody "
                    "watches the robot; where it moves, use the emergency stop"
                )


def _hear_more(verbs: Verbs, known: int) -> int:
    """Wait until there are more statuses than are known; return how many."""
    try:
        verbs.wait(lambda: len(verbs.statuses) > known, "status", SILENT)
    except ClientTimeoutError as error:
        last = verbs.statuses[known - 1] if known else None
        if last is not None and last.state == Status.BRAKING:
            became = f"was braking the robot ({last.text}), and nobody has seen it at rest"
        else:
            became = "the controller goes on with the trajectory that it has"
        raise NodeGoneError(
            f"the node excitation has said nothing for {SILENT:g} s, and {became}"
        ) from error
    return len(verbs.statuses)


def brake(verbs: Verbs) -> str:
    """Have the robot brake, wait for rest, and return what became of it, for people.

    No signal interrupts it: whoever presses Ctrl-C meanwhile wants just that.
    """
    try:
        with signals_ignored():
            answer = verbs.answers.stop()
            verbs.next_status()
            verbs.wait(lambda: verbs.status.state not in _STAGES, "rest")
    except RobotIdentificationError as error:
        return f"braking was asked for, but {error}: use the emergency stop"
    return f"{answer.message}; {verbs.status.text}"
