"""Outcome of a goal whose motion has ended, and its progress until then."""

from __future__ import annotations

from typing import Any

from robot_identification.action import ExecuteExcitation
from robot_identification.ros.common.jobs import CODES, refuse
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.excitation.experiments import Course
from robot_identification.ros.supervision.phases import Phase, Reason


def conclude(result: ExecuteExcitation.Result, course: Course) -> Any:
    """Return the result of a motion that is over.

    A stop that was asked for is CANCELLED if the robot is at rest; whatever else kept the motion
    from its end is STATE_STALE: the robot is not where it should be, or does not say where it is.
    """
    motion = course.motion
    if motion.phase is Phase.FINISHED:
        result.success, result.error_code = True, CODES.OK
        result.message = course.text
        return result
    asked = motion.phase is Phase.STOPPED and motion.reason is Reason.REQUESTED
    return refuse(result, CODES.CANCELLED if asked else CODES.STATE_STALE, course.text)


def share_done(course: Course, now: int) -> float:
    """Return the share of approach and trajectory that is done, 0 to 1, at a time in ns."""
    motion = course.motion
    way = 0.0 if motion.approach is None else motion.approach.duration
    done = way + motion.reached
    if motion.phase is Phase.APPROACHING and motion.command is not None:
        done = min(max((now - motion.command.start) / NANOSECONDS, 0.0), way)
    return done / (way + motion.run.duration)
