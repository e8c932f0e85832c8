"""Joints of a bag beside those that are identified: some follow these, others are held fixed.

Both are where loops and ``fixed_joints`` of the robot file say, or that is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_identification.errors import JointNameError, MissingSignalError, SampleError
from robot_identification.files.bags.files import open_bag
from robot_identification.files.bags.joint_states.columns import collected, kind_of
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.cancelling import Cancelled
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.model import RobotModel
from robot_identification.signals.positions.followers import follower_warning
from robot_identification.signals.positions.held_joints import HeldJoints
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording


def other_joint_warnings(
    path: str | Path,
    robot: RobotModel,
    states: RawSamples | None,
    recording: Recording,
    *,
    topic: str,
    interfaces: Mapping[str, str],
    cancelled: Cancelled | None = None,
) -> list[str]:
    """Return what is to be said of the joints that follow others, or are held, in a part of a bag.

    Args:
        path: the bag.
        robot: says which joints.
        states: of the joints that can be moved independently, as measured, one per message; None
            where their positions do not count.
        recording: the part of the bag that counts.
        topic: of the joint states; those of a gripper may be messages of their own on it.
        interfaces: signal -> name of its interface in a DynamicJointState.
        cancelled: asked now and then whether to give up.

    Raises:
        LoopMismatchError: a joint is not where its relation puts it.
        BagError: the bag cannot be read.
    """
    bag = _Bag(path, topic, interfaces, cancelled)
    told: list[str] = []
    if states is not None and robot.loops:
        told += _of_followers(bag, robot, states, recording)
    if robot.fixed_joints:
        told += _of_held_joints(bag, robot, recording)
    return told


@dataclass(frozen=True)
class _Bag:
    """Where joint states are read from, as :func:`other_joint_warnings` is told."""

    path: str | Path
    topic: str
    interfaces: Mapping[str, str]
    cancelled: Cancelled | None


def _of_followers(
    bag: _Bag, robot: RobotModel, states: RawSamples, recording: Recording
) -> list[str]:
    """Return what is to be said of the joints that follow others, where a bag has them."""
    told: list[str] = []
    first, last = _span(recording)
    states = states.at((first <= states.stamps) & (states.stamps <= last))
    active = to_joint_side(robot, states.position, None, None).position
    if active is None:
        return told
    for loop in robot.loops:
        try:
            own = read_joint_states(
                bag.path,
                (loop.joint,),
                topic=bag.topic,
                efforts_needed=False,
                interfaces=bag.interfaces,
                cancelled=bag.cancelled,
            ).samples
        except (JointNameError, MissingSignalError):
            continue  # it is computed
        except SampleError:  # a column that a driver fills
            own = RawSamples(states.stamps, np.full((len(active), 1), np.nan), None, active[:, :1])
        # States that are not numbers have been left out of one and not of the other.
        _, here, there = np.intersect1d(states.stamps, own.stamps, return_indices=True)
        measured = own.position[there, 0]
        line = follower_warning(robot, loop.joint, active[here], measured, source=str(bag.path))
        told += [] if line is None else [line]
    return told


def _of_held_joints(bag: _Bag, robot: RobotModel, recording: Recording) -> list[str]:
    """Return what is to be said of the joints that a robot holds fixed, where a bag has them.

    A gripper may move before and after the part that counts.
    """
    names, held = tuple(robot.fixed_joints), HeldJoints(robot.fixed_joints)
    first, last = _span(recording)
    with open_bag(bag.path, bag.cancelled) as opened:
        try:
            kind = kind_of(opened, bag.topic)
            states, _ = collected(opened, bag.topic, names, kind, bag.interfaces, partly=True)
        except JointNameError:
            return []  # nobody has recorded them
    inside = states.at((first <= states.stamps) & (states.stamps <= last))
    if inside.position is not None:
        for name, own in zip(names, inside.position.T, strict=True):
            held.add_samples(name, own)
    return [f"{bag.path}: {line}" for line in held.lines()]


def _span(recording: Recording) -> tuple[int, int]:
    """Return the stamps between which a recording lies, in ns."""
    first, last = recording.segments[0].time[0], recording.segments[-1].time[-1]
    return recording.start_stamp + round(1e9 * first), recording.start_stamp + round(1e9 * last)
