"""References that a controller followed while a bag was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_identification.dynamics.reference import Reference, in_sequence, sample, through
from robot_identification.errors import MissingSignalError, TopicError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.bags.trajectories import SentTrajectory, read_trajectories
from robot_identification.robot.model import RobotModel
from robot_identification.signals.recording import Recording

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
        TrajectoryError: if a trajectory moves other joints.
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
    return sent_reference(sent, robot.joint_names, recording.start_stamp)


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
        sent: at least one.
        joint_names: joints of the robot, in order.
        start_stamp: stamp that becomes time 0, in ns.

    Raises:
        TrajectoryError: if one of them moves other joints.
    """
    parts: list[tuple[float, Reference]] = []
    for message in sorted(sent, key=lambda m: m.start_stamp):
        start = (message.start_stamp - start_stamp) / _NANOSECONDS
        trajectory = message.trajectory.reordered(joint_names)
        if parts:
            trajectory = _from_where_it_was(trajectory, parts, start)
        parts.append((start, trajectory.reference))
    return in_sequence(parts)


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


def _from_where_it_was(
    trajectory: Trajectory, parts: Sequence[tuple[float, Reference]], start: float
) -> Trajectory:
    """Return a trajectory that begins at once, from what the robot followed before it."""
    if trajectory.times[0] <= 0.0:
        return trajectory
    place = [signal[0] for signal in sample(in_sequence(parts), [start])]
    return trajectory.preceded_by(0.0, *place)
