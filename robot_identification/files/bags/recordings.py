"""Recordings from bags: read, brought to the joint side, put on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from robot_identification.files.bags.efforts import read_efforts
from robot_identification.files.bags.joint_states import JOINT_STATES, read_joint_states
from robot_identification.files.cancelling import Cancelled
from robot_identification.identification.prepared_recording import prepared_recording
from robot_identification.robot.model import RobotModel
from robot_identification.signals.efforts.separate import EffortSource, MergeCounts, merge_efforts
from robot_identification.signals.recording import Recording


def read_recordings(
    paths: Sequence[str | Path],
    robot: RobotModel,
    *,
    topic: str = JOINT_STATES,
    reference_topic: str | None = None,
    efforts: EffortSource | None = None,
    delay_estimated: bool = False,
    begin: float = 0.0,
    end: float = 1.0,
    positions_needed: bool = True,
    cancelled: Cancelled | None = None,
) -> tuple[Recording, ...]:
    """Read the joint states of a robot from bags; see :func:`.files.prepared_recording`.

    Args:
        paths: folders of rosbag2, or bare .db3 or .mcap files.
        robot: says which joints and what positions and efforts mean.
        topic: topic of the joint states.
        reference_topic: topic of commanded positions; None, absent or not of joint states: no
            reference.
        efforts: where efforts come from that have a topic of their own; None: they come with the
            joint states.  Joint states for which there are none are left out.
        delay_estimated: whether efforts are moved by the estimate of their delay; otherwise
            efforts without stamps need a delay, and what it seems to be beyond that is told.
        begin: where to begin, as a fraction of each bag.
        end: where to end, likewise.
        positions_needed: whether positions must be there and finite; without, those of a bag in
            which some are not are all NaN.
        cancelled: asked now and then whether to give up.

    Returns:
        One recording per bag, with what its reader had to say in ``warnings``.

    Raises:
        BagError: if a bag cannot be read or lacks the topic.
        InputError: if its samples are of no use, or separate efforts have neither stamps nor a
            delay.
        CancelledError: if ``cancelled`` says so.
    """
    recordings = []
    for path in paths:
        bag = read_joint_states(
            path,
            robot.joint_names,
            topic=topic,
            reference_topic=reference_topic,
            efforts_needed=efforts is None,
            positions_needed=positions_needed,
            cancelled=cancelled,
        )
        samples, warnings = bag.samples, list(bag.warnings)
        if efforts is not None:
            separate, told = read_efforts(
                path,
                robot.joint_names,
                efforts,
                delay_needed=not delay_estimated,
                cancelled=cancelled,
            )
            samples, counts = merge_efforts(samples, separate, efforts.delay, source=str(path))
            warnings += [*told, *_merge_warnings(path, efforts.topic, counts)]
        recordings.append(
            prepared_recording(
                samples,
                robot,
                source=str(path),
                digest=bag.digest,
                effort_topic="" if efforts is None else efforts.topic,
                effort_delay=0.0 if efforts is None else efforts.delay,
                delay_estimated=delay_estimated,
                begin=begin,
                end=end,
                positions_needed=positions_needed,
                warnings=warnings,
                cancelled=cancelled,
            )
        )
    return tuple(recordings)


def _merge_warnings(path: str | Path, topic: str, counts: MergeCounts) -> list[str]:
    lines = []
    if counts.without_effort:
        lines.append(
            f"{path}: {counts.without_effort} joint states have no effort on {topic} and were left "
            f"out; the efforts have {counts.gaps} gaps"
        )
    if counts.duplicates or counts.out_of_order:
        lines.append(
            f"{path}: of {counts.efforts} efforts on {topic}, {counts.duplicates} were duplicates "
            f"and {counts.out_of_order} out of order"
        )
    return lines
