"""Joints of a bag that a robot file holds fixed: held against where the bag says they stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from robot_identification.errors import JointNameError
from robot_identification.files.bags.files import open_bag
from robot_identification.files.bags.joint_states import collector_of
from robot_identification.files.cancelling import Cancelled
from robot_identification.robot.model import RobotModel
from robot_identification.signals.held_joints import HeldJoints
from robot_identification.signals.recording import Recording


def held_joint_warnings(
    path: str | Path,
    robot: RobotModel,
    recording: Recording,
    *,
    topic: str,
    interfaces: Mapping[str, str],
    cancelled: Cancelled | None = None,
) -> list[str]:
    """Return what is to be said of the joints that a robot holds fixed, where a bag has them.

    Args:
        path: the bag.
        robot: says where they stand.
        recording: the part of the bag that counts; a gripper may move before and after it.
        topic: of the joint states; those of a gripper may be messages of their own on it.
        interfaces: signal -> name of its interface in a DynamicJointState.
        cancelled: asked now and then whether to give up.

    Raises:
        BagError: the bag cannot be read.
    """
    names, held = tuple(robot.fixed_joints), HeldJoints(robot.fixed_joints)
    seconds = recording.segments[0].time[0], recording.segments[-1].time[-1]
    first, last = (recording.start_stamp + round(1e9 * one) for one in seconds)
    with open_bag(path, cancelled) as bag:
        try:
            for states in collector_of(bag, topic, names, interfaces, partly=True).batches():
                inside = states.at((first <= states.stamps) & (states.stamps <= last))
                if inside.position is not None:
                    for name, own in zip(names, inside.position.T, strict=True):
                        told = own[np.isfinite(own)]
                        if len(told):
                            held.add(name, float(told.min()), float(told.max()))
        except JointNameError:
            return []  # nobody has recorded them
    return [f"{path}: {line}" for line in held.lines()]
