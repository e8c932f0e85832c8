"""Joints of a bag that follow others: held against the relations of their loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_identification.errors import JointNameError, MissingSignalError, SampleError
from robot_identification.files.bags.joint_states import read_joint_states
from robot_identification.files.cancelling import Cancelled
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.model import RobotModel
from robot_identification.signals.followers import follower_warning
from robot_identification.signals.recording import RawSamples


def follower_warnings(
    path: str | Path,
    robot: RobotModel,
    states: RawSamples,
    *,
    topic: str,
    cancelled: Cancelled | None = None,
) -> list[str]:
    """Return what is to be said of the joints that follow others, where a bag has them.

    Args:
        path: the bag.
        robot: its loops.
        states: of the joints that can be moved independently, as measured, one per message.
        topic: of the joint states.
        cancelled: asked now and then whether to give up.

    Raises:
        LoopMismatchError: a joint is not where its relation puts it.
        BagError: the bag cannot be read.
    """
    told: list[str] = []
    active = to_joint_side(robot, states.position, None, None).position
    if active is None:
        return told
    for loop in robot.loops:
        try:
            own = read_joint_states(
                path, (loop.joint,), topic=topic, efforts_needed=False, cancelled=cancelled
            ).samples
        except (JointNameError, MissingSignalError):
            continue  # it is computed
        except SampleError:  # a column that a driver fills
            own = RawSamples(states.stamps, np.full((len(active), 1), np.nan), None, active[:, :1])
        # States that are not numbers have been left out of one and not of the other.
        _, here, there = np.intersect1d(states.stamps, own.stamps, return_indices=True)
        measured = own.position[there, 0]
        line = follower_warning(robot, loop.joint, active[here], measured, source=str(path))
        told += [] if line is None else [line]
    return told
