"""Trajectories that a controller was sent, out of bags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.errors import RobotIdentificationError, TrajectoryError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.bags.files import foreign_errors, open_bag
from robot_identification.files.bags.message_types import JOINT_TRAJECTORY, message_types
from robot_identification.robot.model import Array

MESSAGE_TYPE = JOINT_TRAJECTORY
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class SentTrajectory:
    """A trajectory and when it starts.

    Attributes:
        start_stamp: start in ns: the header stamp, or the time of recording where that is zero,
            which means "at once".
        trajectory: what the joints are to do from then on.
    """

    start_stamp: int
    trajectory: Trajectory


def read_trajectories(
    path: str | Path, *, topic: str = "/joint_trajectory"
) -> tuple[SentTrajectory, ...]:
    """Read the trajectories on a topic of a bag, in the order of the bag.

    Args:
        path: folder of a rosbag2, or a bare .db3 or .mcap file.
        topic: topic of the trajectories (trajectory_msgs/JointTrajectory).

    Raises:
        BagError: if the bag cannot be read.
        TopicError: if there are no trajectories on the topic.
        TrajectoryError: if one of them cannot be followed.
    """
    with open_bag(path) as bag:
        sent = [
            decoded(raw, time, bag.path, f"message {number} on {topic}")
            for number, (time, raw) in enumerate(bag.messages(topic, MESSAGE_TYPE))
        ]
    return tuple(trajectory for trajectory in sent if trajectory is not None)


def decoded(raw: bytes, time: int, path: Path, place: str) -> SentTrajectory | None:
    """Return the trajectory in a serialised JointTrajectory (CDR).

    Args:
        raw: the message.
        time: when it was recorded, in ns.
        path: the bag, named in errors.
        place: where in the bag, named in errors.

    Returns:
        The trajectory; None where there are no points, which stops the controller.

    Raises:
        BagError: if the message is damaged.
        TrajectoryError: if the trajectory cannot be followed.
    """
    with foreign_errors(path):
        message: Any = message_types().deserialize_cdr(raw, MESSAGE_TYPE)
    if not message.points:
        return None
    try:
        return _sent(message, time)
    except RobotIdentificationError as error:
        raise TrajectoryError(f"{path}: {place}: {error}") from error


def encoded(sent: SentTrajectory) -> bytes:
    """Return a trajectory as a serialised JointTrajectory (CDR); times are rounded to ns."""
    store = message_types()
    types = store.types
    moment, duration = (
        types["builtin_interfaces/msg/Time"],
        types["builtin_interfaces/msg/Duration"],
    )
    trajectory = sent.trajectory
    none = np.zeros(0)
    points = [
        types["trajectory_msgs/msg/JointTrajectoryPoint"](
            positions=np.array(trajectory.positions[i]),
            velocities=none if trajectory.velocities is None else trajectory.velocities[i],
            accelerations=none if trajectory.accelerations is None else trajectory.accelerations[i],
            effort=none,
            time_from_start=duration(*divmod(round(float(time) * _NANOSECONDS), _NANOSECONDS)),
        )
        for i, time in enumerate(trajectory.times)
    ]
    message = types[MESSAGE_TYPE](
        header=types["std_msgs/msg/Header"](
            stamp=moment(*divmod(sent.start_stamp, _NANOSECONDS)), frame_id=""
        ),
        joint_names=list(trajectory.joint_names),
        points=points,
    )
    return bytes(store.serialize_cdr(message, MESSAGE_TYPE))


def _sent(message: Any, time: int) -> SentTrajectory:
    stamp = _nanoseconds(message.header.stamp)
    trajectory = Trajectory(
        joint_names=tuple(message.joint_names),
        times=np.array([_nanoseconds(p.time_from_start) / _NANOSECONDS for p in message.points]),
        positions=_stacked([point.positions for point in message.points]),
        velocities=_given([point.velocities for point in message.points]),
        accelerations=_given([point.accelerations for point in message.points]),
    )
    return SentTrajectory(stamp or time, trajectory)


def _nanoseconds(moment: Any) -> int:
    return int(moment.sec) * _NANOSECONDS + int(moment.nanosec)


def _given(rows: Sequence[Array]) -> Array | None:
    """Return a field of all points, None where no point has it."""
    return _stacked(rows) if any(len(row) for row in rows) else None


def _stacked(rows: Sequence[Array]) -> Array:
    if len({len(row) for row in rows}) > 1:
        raise TrajectoryError("points have different numbers of values")
    return np.array(rows, dtype=np.float64)
