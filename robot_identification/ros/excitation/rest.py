"""Waiting for rest: of a robot that was braked, and of its controller, which may owe an answer."""

from __future__ import annotations

from collections.abc import Callable

from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.controllers.transport import Transport
from robot_identification.ros.excitation.experiments import Course
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.phases import Phase

_ANSWERED_WITHIN = qos.ARRIVED_WITHIN.nanoseconds / NANOSECONDS


def unanswered(transport: Transport) -> str:
    """Return what is wrong where the controller owes an answer."""
    return (
        f"{transport.name} has not answered what was sent; it may still begin that: "
        "restart the controller"
    )


class Rest:
    """Tells what has become of a robot, asked again and again.

    Args:
        course: the motion that was braked; None: nothing has moved.
        transport: what it goes by.
        busy: tells whether a motion is under way or about to begin.
        now: returns the present moment.
    """

    def __init__(
        self,
        course: Course | None,
        transport: Transport,
        *,
        busy: Callable[[], bool],
        now: Callable[[], Instant],
    ) -> None:
        self._course, self._transport, self._busy, self._now = course, transport, busy, now
        self._over: Instant | None = None  # when the motion was over

    def look(self) -> str | None:
        """Return None while the robot may move, then an empty text, or why rest is not known."""
        if self._busy() or (self._course is not None and self._course.motion.moving):
            return None
        now = self._now()
        self._over = self._over or now
        if self._course is not None and not self._rests(self._course, now):
            return self._course.text
        if self._transport.settled:
            return ""
        if now.seconds_since(self._over) < _ANSWERED_WITHIN:
            return None
        return unanswered(self._transport)

    @staticmethod
    def _rests(course: Course, now: Instant) -> bool:
        """Tell whether a motion that is over has left the robot at rest."""
        return course.motion.phase is not Phase.FAULT or course.motion.rests(now)
