"""Trajectories that a controller was sent, out of bags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_identification.dynamics.reference import Reference, in_sequence, through
from robot_identification.errors import (
    MissingSignalError,
    RobotIdentificationError,
    TopicError,
    TrajectoryError,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.bags.cdr.messages import PointMessage, TrajectoryMessage
from robot_identification.files.bags.cdr.values import NANOSECONDS
from robot_identification.files.bags.files import JOINT_TRAJECTORY, foreign_errors, open_bag
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.signals.recording import Recording

MESSAGE_TYPE = JOINT_TRAJECTORY


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
        message = TrajectoryMessage.read(raw)
    if not message.points:
        return None
    try:
        return _sent(message, time)
    except RobotIdentificationError as error:
        raise TrajectoryError(f"{path}: {place}: {error}") from error


def encoded(sent: SentTrajectory) -> bytes:
    """Return a trajectory as a serialised JointTrajectory (CDR); times are rounded to ns."""
    trajectory = sent.trajectory
    none = np.zeros((len(trajectory.times), 0))
    velocities = none if trajectory.velocities is None else trajectory.velocities
    accelerations = none if trajectory.accelerations is None else trajectory.accelerations
    points = tuple(
        PointMessage(
            time=round(float(time) * NANOSECONDS),
            positions=trajectory.positions[i],
            velocities=velocities[i],
            accelerations=accelerations[i],
        )
        for i, time in enumerate(trajectory.times)
    )
    return TrajectoryMessage(sent.start_stamp, trajectory.joint_names, points).written()


def _sent(message: TrajectoryMessage, time: int) -> SentTrajectory:
    trajectory = Trajectory(
        joint_names=message.joint_names,
        times=np.array([point.time / NANOSECONDS for point in message.points]),
        positions=_stacked([point.positions for point in message.points]),
        velocities=_given([point.velocities for point in message.points]),
        accelerations=_given([point.accelerations for point in message.points]),
    )
    return SentTrajectory(message.stamp or time, trajectory)


def _given(rows: Sequence[Array]) -> Array | None:
    """Return a field of all points, None where no point has it."""
    return _stacked(rows) if any(len(row) for row in rows) else None


def _stacked(rows: Sequence[Array]) -> Array:
    if len({len(row) for row in rows}) > 1:
        raise TrajectoryError("points have different numbers of values")
    return np.array(rows, dtype=np.float64)


TRAJECTORIES = "/joint_trajectory"
_NANOSECONDS = 1e9


def read_reference(
    path: str | Path, recording: Recording, robot: RobotModel, *, topic: str = ""
) -> Reference:
    """Return what the controller followed, its time 0 at the first stamp of a recording.

    Samples of the reference go before trajectories, since nobody has to guess between them.

    Args:
        path: the bag.
        recording: what was read from it; with samples of the reference, if the bag has any.
        robot: says which joints.
        topic: topic of the reference that was named, of samples or of trajectories; trajectories
            on it are used where there are no samples.  Empty: none was, and trajectories on
            :data:`TRAJECTORIES` are used.

    Raises:
        BagError: if the bag cannot be read.
        TopicError: if it lacks the topic that was named.
        MissingSignalError: if it has neither samples nor trajectories.
        TrajectoryError: if a trajectory moves other joints, or none is followed while the recording
            lasts, as by another clock.
    """
    sampled = sampled_reference(recording)
    if sampled is not None:
        return sampled
    try:
        sent = read_trajectories(path, topic=topic or TRAJECTORIES)
    except TopicError as error:
        if topic and topic not in error.available:
            raise
        sent = ()
    if not sent:
        raise MissingSignalError("reference", str(path))
    _require_meeting(path, recording, sent)
    return sent_reference(sent, robot.joint_names, recording.start_stamp)


def _require_meeting(
    path: str | Path, recording: Recording, sent: Sequence[SentTrajectory]
) -> None:
    """Refuse trajectories none of which is followed while a recording lasts.

    Raises:
        TrajectoryError: there is none.
    """
    begin, end = recording.segments[0].time[0], recording.segments[-1].time[-1]
    starts = [(one.start_stamp - recording.start_stamp) / _NANOSECONDS for one in sent]
    ends = [at + float(one.trajectory.times[-1]) for at, one in zip(starts, sent, strict=True)]
    if not any(at <= end and until >= begin for at, until in zip(starts, ends, strict=True)):
        raise TrajectoryError(
            f"{path}: no trajectory is followed while the recording lasts: the first one begins "
            f"{min(starts) - begin:.3f} s after its first state; both need the same clock, and a "
            "trajectory without a start stamp begins when it was recorded; else give the motion "
            "and its begin yourself (--trajectory, --trajectory-start)"
        )


def sampled_reference(recording: Recording) -> Reference | None:
    """Return the spline through the samples of the reference; None where there are none."""
    segments = [s for s in recording.segments if s.reference is not None]
    if len(segments) < len(recording.segments):
        return None
    return through(
        np.concatenate([s.time for s in segments]),
        np.concatenate([s.reference for s in segments if s.reference is not None]),
    )


def sent_reference(
    sent: Sequence[SentTrajectory], joint_names: Sequence[str], start_stamp: int
) -> Reference:
    """Return trajectories that replaced one another as one reference.

    Args:
        sent: at least one, in order of arrival.
        joint_names: joints of the robot, in order.
        start_stamp: stamp that becomes time 0, in ns.

    Raises:
        TrajectoryError: if one of them moves other joints.
    """
    followed: list[SentTrajectory] = []
    for message in sent:
        trajectory = message.trajectory.reordered(joint_names)
        followed = followed_by(followed, SentTrajectory(message.start_stamp, trajectory))
    return in_sequence(
        [
            ((one.start_stamp - start_stamp) / _NANOSECONDS, one.trajectory.reference)
            for one in followed
        ]
    )


def followed_by(followed: Sequence[SentTrajectory], new: SentTrajectory) -> list[SentTrajectory]:
    """Return what a controller follows that was sent one more trajectory.

    That takes the place of all that was to begin no earlier than it does.  Where its first point
    comes after its start, it sets out from where the robot is asked to be by then.

    Args:
        followed: what it would follow without, in order of starts; joints as those of ``new``.
        new: what it was sent.
    """
    before = [one for one in followed if one.start_stamp < new.start_stamp]
    trajectory = new.trajectory
    if before and trajectory.times[0] > 0.0:
        last = before[-1]
        passed = (new.start_stamp - last.start_stamp) / _NANOSECONDS
        there = (signal[0] for signal in last.trajectory.sample([passed]))
        trajectory = trajectory.preceded_by(0.0, *there)
    return [*before, SentTrajectory(new.start_stamp, trajectory)]


def planned_reference(
    trajectory: Trajectory, robot: RobotModel, *, start: float = 0.0
) -> Reference:
    """Return a planned trajectory as the reference of a recording.

    Args:
        trajectory: what the robot was to follow.
        robot: says which joints.
        start: when it began, in s after the first stamp of the recording.

    Raises:
        TrajectoryError: if it moves other joints.
    """
    return in_sequence([(start, trajectory.reordered(robot.joint_names).reference)])
