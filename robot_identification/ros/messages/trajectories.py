"""Trajectories and the messages that carry them."""

from __future__ import annotations

from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_identification.errors import TrajectoryError
from robot_identification.excitation.motions.trajectory import (
    POINT_FIELDS,
    Trajectory,
    whole_nanoseconds,
)
from robot_identification.robot.arrays import Array
from robot_identification.ros.common.joint_states import NANOSECONDS


def trajectory_of(message: JointTrajectory) -> Trajectory:
    """Return the trajectory in a message; its clock starts at the stamp of the header.

    Raises:
        TrajectoryError: if it cannot be followed: no points, positions missing, fields that some
            points have and others lack, a wrong number of values, NaN, times that do not increase,
            values so large or times so close that what lies between the points overflows.
    """
    if not message.points:
        raise TrajectoryError("a trajectory needs at least one point")
    times = np.array([_seconds(point.time_from_start) for point in message.points])
    if times[0] < 0.0:
        raise TrajectoryError(f"the first point comes before the start, at {times[0]:.9g} s")
    columns = {name: _column(message, field) for name, field in POINT_FIELDS.items()}
    if columns["positions"] is None:
        raise TrajectoryError("the points of a trajectory need positions")
    trajectory = Trajectory(
        tuple(message.joint_names),
        times,
        columns["positions"],
        columns["velocities"],
        columns["accelerations"],
        columns["efforts"],
    )
    require_reference(trajectory)
    return trajectory


def require_reference(trajectory: Trajectory) -> None:
    """Refuse what cannot be interpolated, now and not when it is sampled for the first time.

    Raises:
        TrajectoryError: what lies between its points overflows.
    """
    _ = trajectory.reference


def message_of(trajectory: Trajectory, start: int) -> JointTrajectory:
    """Return the message that starts a trajectory.

    Args:
        trajectory: what to follow; its times count from the start.
        start: stamp of the start in ns; 0 starts it when it is received.
    """
    message = JointTrajectory(joint_names=list(trajectory.joint_names))
    message.header.stamp = Time(sec=start // NANOSECONDS, nanosec=start % NANOSECONDS)
    for i, after in enumerate(whole_nanoseconds(trajectory.times).tolist()):
        point = JointTrajectoryPoint(
            time_from_start=Duration(sec=after // NANOSECONDS, nanosec=after % NANOSECONDS)
        )
        for name, field in POINT_FIELDS.items():
            values = getattr(trajectory, name)
            if values is not None:
                setattr(point, field, values[i].tolist())
        message.points.append(point)
    return message


def _seconds(duration: Any) -> float:
    return float(duration.sec) + float(duration.nanosec) / NANOSECONDS


def _column(message: JointTrajectory, name: str) -> Array | None:
    """Return (points, joints) of one field, None where no point has it."""
    rows = [getattr(point, name) for point in message.points]
    if not any(len(row) for row in rows):
        return None
    for index, row in enumerate(rows):
        if len(row) != len(message.joint_names):
            raise TrajectoryError(
                f"point {index} has {len(row)} {name} for {len(message.joint_names)} joints"
            )
    return np.array(rows, dtype=np.float64)
