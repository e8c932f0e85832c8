"""Recordings from bags: read, brought to the joint side, put on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from robot_identification.robot.model import RobotModel
from robot_identification.signals.joint_side import joint_side_recording
from robot_identification.signals.recording import Recording
from robot_identification.storage.bags import JOINT_STATES, read_joint_states


def read_recordings(
    paths: Sequence[str | Path],
    robot: RobotModel,
    *,
    topic: str = JOINT_STATES,
    reference_topic: str | None = None,
    begin: float = 0.0,
    end: float = 1.0,
    positions_needed: bool = True,
) -> tuple[Recording, ...]:
    """Read the joint states of a robot from bags.

    Args:
        paths: folders of rosbag2, or bare .db3 or .mcap files.
        robot: says which joints and what positions and efforts mean.
        topic: topic of the joint states.
        reference_topic: topic of commanded positions; None or absent: no reference.
        begin: where to begin, as a fraction of each bag.
        end: where to end, likewise.
        positions_needed: whether positions must be there and finite; without, those of a bag in
            which some are not are all NaN.

    Returns:
        One recording per bag, with what its reader had to say in ``warnings``.

    Raises:
        BagError: if a bag cannot be read or lacks the topic.
        InputError: if its samples are of no use.
    """
    recordings = []
    for path in paths:
        bag = read_joint_states(
            path,
            robot.joint_names,
            topic=topic,
            reference_topic=reference_topic,
            positions_needed=positions_needed,
        )
        recording = joint_side_recording(
            bag.samples,
            robot,
            source=str(path),
            digest=bag.digest,
            positions_needed=positions_needed,
        ).between(begin, end)
        recordings.append(replace(recording, warnings=bag.warnings))
    return tuple(recordings)
