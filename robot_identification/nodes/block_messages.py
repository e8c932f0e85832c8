"""Blocks of samples as messages, and back."""

from __future__ import annotations

from array import array

import numpy as np

from robot_identification import msg
from robot_identification.errors import RecordingError
from robot_identification.nodes.messages import floats, time_of
from robot_identification.nodes.recorder import Block, Counts
from robot_identification.robot.model import Array, EffortMeaning, RobotModel
from robot_identification.signals.online import FilteredBlock
from robot_identification.signals.recording import RawSamples
from robot_identification.signals.separate_efforts import EffortSource


def block_message(
    block: Block, robot: RobotModel, efforts: EffortSource | None = None
) -> msg.SampleBlock:
    """Return a block of raw samples of a robot whose effort_meaning is known.

    Args:
        block: the samples.
        robot: the robot.
        efforts: where their efforts come from; None: they came with the joint states.
    """
    samples = block.samples
    message = msg.SampleBlock(
        robot=robot.name,
        effort_meaning=robot.effort_meaning.value if robot.effort_meaning else "",
        recording=block.recording,
        kind=msg.SampleBlock.RAW,
        sequence=block.sequence,
        first_sample=block.first_sample,
        last=block.last,
        joint_names=list(robot.joint_names),
        stamps=array("q", samples.stamps.tobytes()),
        position=floats(samples.position),
        velocity=floats(samples.velocity),
        effort=floats(samples.effort),
        reference_position=floats(samples.reference),
        **vars(block.counts),
    )
    if efforts is not None:
        message.effort_topic, message.effort_delay = efforts.topic, efforts.delay
    if len(samples.stamps):
        message.header.stamp = time_of(samples.stamps[0])
    return message


def filtered_message(filtered: FilteredBlock, block: Block, robot: RobotModel) -> msg.SampleBlock:
    """Return filtered samples, not yet numbered, of the recording that a raw block is of."""
    message = msg.SampleBlock(
        robot=robot.name,
        effort_meaning=EffortMeaning.JOINT_TORQUE.value,
        recording=block.recording,
        kind=msg.SampleBlock.FILTERED,
        joint_names=list(robot.joint_names),
        stamps=array("q", filtered.stamps.tobytes()),
        position=floats(filtered.position),
        velocity=floats(filtered.velocity),
        acceleration=floats(filtered.acceleration),
        effort=floats(filtered.effort),
        sampling_rate=filtered.rate_hz,
        **vars(block.counts),
    )
    if len(filtered.stamps):
        message.header.stamp = time_of(filtered.stamps[0])
    return message


def raw_block(message: msg.SampleBlock) -> Block:
    """Return the block in a message of kind RAW.

    Raises:
        RecordingError: if an array does not have one value per sample and joint, or the meaning of
            the efforts is not one that there is.
    """
    shape = (len(message.stamps), len(message.joint_names))
    if message.effort_meaning not in {meaning.value for meaning in EffortMeaning}:
        raise RecordingError(f"efforts of a block cannot be {message.effort_meaning or 'unnamed'}")

    def matrix(values: array[float]) -> Array:
        if len(values) != shape[0] * shape[1]:
            raise RecordingError(f"{len(values)} values in a block of {shape[0]} samples")
        return np.array(values, dtype=np.float64).reshape(shape)

    return Block(
        recording=message.recording,
        sequence=message.sequence,
        first_sample=message.first_sample,
        last=message.last,
        samples=RawSamples(
            stamps=np.array(message.stamps, dtype=np.int64),
            position=matrix(message.position),
            velocity=matrix(message.velocity) if message.velocity else None,
            effort=matrix(message.effort),
            reference=matrix(message.reference_position) if message.reference_position else None,
        ),
        counts=Counts(
            received=message.received,
            duplicate=message.duplicate,
            out_of_order=message.out_of_order,
            refused=message.refused,
            without_effort=message.without_effort,
            lost=message.lost,
        ),
        effort_topic=message.effort_topic,
        effort_delay=message.effort_delay,
    )
