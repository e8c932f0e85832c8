"""Conditions of a start: the robot stands still where its motion begins, which keeps the limits."""

from __future__ import annotations

import numpy as np

from robot_identification.errors import NotCertifiedError, StaleStateError
from robot_identification.excitation.certification.certificate import START_TOLERANCE
from robot_identification.excitation.certification.checks import first_failed
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.phases import MotionSettings
from robot_identification.ros.supervision.states import MotionStates, Reading


def require_start(
    trajectory: Trajectory,
    states: MotionStates,
    settings: MotionSettings,
    declared: MotionLimits,
    now: Instant,
) -> Reading:
    """Return where the robot stands, if it may follow a trajectory from there.

    Args:
        trajectory: what it is to follow.
        states: its joint states.
        settings: how it is watched.
        declared: its limits.
        now: the present moment.

    Raises:
        StaleStateError: the states are stale, or the robot moves or is elsewhere.
        NotCertifiedError: the motion does not keep the limits of the robot.
    """
    reading = states.fresh(now)
    require_rest(trajectory, states, settings.rest_speed)
    require_near(trajectory, reading.position)
    failed = first_failed(trajectory, declared)
    if failed:
        raise NotCertifiedError(failed.name, failed.detail)
    return reading


def require_rest(trajectory: Trajectory, states: MotionStates, speed: float) -> None:
    """Refuse a robot in motion.

    Args:
        trajectory: what it is to follow.
        states: its joint states.
        speed: at which a joint is in motion, in rad/s or m/s.

    Raises:
        StaleStateError: it moves.
    """
    moving = np.abs(states.mean_velocity())
    joint = int(np.argmax(moving))
    if moving[joint] > speed:
        raise StaleStateError(
            f"{trajectory.joint_names[joint]} moves at {moving[joint]:.4g}, more than "
            f"{speed:g}; wait until the robot is at rest"
        )


def require_near(trajectory: Trajectory, position: Array) -> None:
    """Refuse a robot that is not at the beginning of a trajectory.

    Raises:
        StaleStateError: a joint is more than 0.01 rad or m away.
    """
    away = np.abs(trajectory.positions[0] - position)
    joint = int(np.argmax(away))
    if not away[joint] <= START_TOLERANCE:
        raise StaleStateError(
            f"{trajectory.joint_names[joint]} is {away[joint]:.4g} away from the start, more than "
            f"{START_TOLERANCE:g}"
        )
