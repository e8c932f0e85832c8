"""The excitation node's status, as the message ExcitationStatus."""

from __future__ import annotations

from robot_identification.msg import ExcitationStatus
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.excitation.experiments import Course, experiment_count
from robot_identification.ros.messages.common import floats, time_of
from robot_identification.ros.planning.requests import trajectory_id
from robot_identification.ros.planning.worker import Planned
from robot_identification.ros.supervision.phases import MotionSettings


def status_message(
    now: int,
    robot: RobotModel,
    settings: MotionSettings,
    *,
    course: Course | None,
    planned: Planned | None,
    planning: bool,
    speed: float,
    stale: str,
    active: bool,
) -> ExcitationStatus:
    """Return the status of the excitation node.

    Args:
        now: time in ns.
        robot: the robot.
        settings: say how far the robot may be from its reference.
        course: the motion under way, or the last one; None: there was none.
        planned: the plan; None: there is none.
        planning: whether one is being computed.
        speed: share of the planned speed.
        stale: what is wrong with the joint states; empty: nothing.
        active: whether a motion may begin.
    """
    message = ExcitationStatus(robot=robot.name, speed=speed)
    message.header.stamp = time_of(now)
    message.joint_names = list(robot.joint_names)
    message.tracking_error_limit = floats(settings.tracking_error)
    if planned is not None:
        message.trajectory_id = trajectory_id(planned)
        message.trajectory_hash = planned.plan.certificate.digest
        message.experiments = experiment_count(planned.plan)
    if planning:
        message.state, message.text = ExcitationStatus.PLANNING, "a plan is being computed"
    elif course is not None:
        _fill_motion(message, course, now)
    elif planned is not None:
        waits = (
            "waits for ~/start" if active else "inactive: waits to be activated, then for ~/start"
        )
        message.state, message.text = ExcitationStatus.PLANNED, stale or waits
    else:
        waits = "waits for ~/plan" if active else "inactive: waits for ~/plan"
        message.state, message.text = ExcitationStatus.IDLE, stale or waits
    return message


def _fill_motion(message: ExcitationStatus, course: Course, now: int) -> None:
    motion = course.motion
    message.state = int(motion.phase)
    message.stop_reason = int(motion.reason)
    message.text = course.text
    message.tracking_error = floats(motion.error)
    message.experiment = course.number
    if motion.command is not None:
        message.duration = float(motion.command.trajectory.times[-1])
        elapsed = (now - motion.command.start) / NANOSECONDS
        message.elapsed = min(max(elapsed, 0.0), message.duration)
