"""Blocks of samples as messages, and back."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from robot_identification import msg
from robot_identification.errors import RecordingError
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import EffortMeaning, RobotModel
from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.ros.messages.common import floats, time_of
from robot_identification.signals.efforts.separate import EffortSource
from robot_identification.signals.growing.samples import FilteredBlock
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.temperature import StampedTemperatures

_REFERENCE = "reference_position"
_OPTIONAL = ("velocity", _REFERENCE)
_LONGEST_NAME = 255
_LAST_STAMP = 2**62


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
    _put_temperatures(message, block, robot.joint_names)
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


def why_not_of(robot: RobotModel, message: msg.SampleBlock) -> str:
    """Return why samples are not those of a robot, for people; empty where they are.

    Args:
        robot: the robot.
        message: a block of samples.
    """
    if message.robot != robot.name:
        return f"samples of robot {message.robot:.255} ignored: this node is for {robot.name}"
    if tuple(message.joint_names) != robot.joint_names:
        others = ", ".join(message.joint_names)
        return (
            f"samples of robot {robot.name} ignored: they are of {others:.255}, and here it has "
            f"{', '.join(robot.joint_names)}; start all nodes with the same robot file"
        )
    return ""


def raw_block(message: msg.SampleBlock) -> Block:
    """Return the block in a message of kind RAW.

    Raises:
        RecordingError: it is none that an acquisition node sends: an array does not have one value
            per sample and joint, stamps do not rise, a value is not finite, there is no sample and
            it is not the last, or a name or the meaning of the efforts is not one that there is.
    """
    _check_names(message)
    stamps = np.array(message.stamps, dtype=np.int64)
    if not len(stamps) and not message.last:
        raise RecordingError("a block without samples that is not the last one")
    if len(stamps) and not (0 <= stamps[0] and stamps[-1] < _LAST_STAMP):
        raise RecordingError(f"stamps from {stamps[0]} to {stamps[-1]} ns are of no clock")
    if not (stamps[1:] > stamps[:-1]).all():
        raise RecordingError("the stamps of a block must rise")
    position, effort = _matrix(message, "position"), _matrix(message, "effort")
    if position is None or effort is None:
        raise RecordingError("a block needs positions and efforts")
    return Block(
        recording=message.recording,
        sequence=message.sequence,
        first_sample=message.first_sample,
        last=message.last,
        samples=RawSamples(
            stamps=stamps,
            position=position,
            velocity=_matrix(message, "velocity"),
            effort=effort,
            reference=_matrix(message, _REFERENCE),
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
        temperatures=_temperatures(message),
    )


def _put_temperatures(message: msg.SampleBlock, block: Block, names: Sequence[str]) -> None:
    """Put the temperatures of a block into its message, joint by joint."""
    for joint, name in enumerate(names):
        own = block.temperatures.get(name)
        if own is not None:
            message.temperature_joints.extend([joint] * len(own.stamps))
            message.temperature_stamps.extend(own.stamps.tolist())
            message.temperature.extend(own.celsius.tolist())


def _temperatures(message: msg.SampleBlock) -> dict[str, StampedTemperatures]:
    """Return the temperatures in a message, by joint.

    Raises:
        RecordingError: they are none that an acquisition node sends.
    """
    joints = np.array(message.temperature_joints, dtype=np.intp)
    stamps = np.array(message.temperature_stamps, dtype=np.int64)
    celsius = np.array(message.temperature, dtype=np.float64)
    if not len(joints) == len(stamps) == len(celsius):
        raise RecordingError("temperatures of a block need a joint and a stamp each")
    if not len(joints):
        return {}
    if joints.max() >= len(message.joint_names):
        raise RecordingError(f"a temperature is of joint {joints.max()} in a block, which has none")
    if not (np.isfinite(celsius).all() and stamps.min() >= 0 and stamps.max() < _LAST_STAMP):
        raise RecordingError("a temperature of a block is not finite, or of no clock")
    return {
        message.joint_names[joint]: StampedTemperatures(
            stamps[joints == joint], celsius[joints == joint]
        )
        for joint in np.unique(joints)
    }


def _check_names(message: msg.SampleBlock) -> None:
    """Refuse what a block says of itself and cannot be."""
    if message.effort_meaning not in {meaning.value for meaning in EffortMeaning}:
        raise RecordingError(f"efforts of a block cannot be {message.effort_meaning or 'unnamed'}")
    for name, text in (("recording", message.recording), ("effort_topic", message.effort_topic)):
        if len(text) > _LONGEST_NAME or not (text.isprintable() and (text or name != "recording")):
            raise RecordingError(f"{name} of a block cannot be {text!r:.40}")
    EffortSource(message.effort_topic, message.effort_delay)


def _matrix(message: msg.SampleBlock, name: str) -> Array | None:
    """Return the (samples, joints) values of a signal; None where it is absent."""
    values: array[float] = getattr(message, name)
    if not values and name in _OPTIONAL:
        return None
    shape = (len(message.stamps), len(message.joint_names))
    if len(values) != shape[0] * shape[1]:
        raise RecordingError(f"{name}: {len(values)} values in a block of {shape[0]} samples")
    matrix = np.array(values, dtype=np.float64).reshape(shape)
    if not np.isfinite(matrix).all():
        if name == _REFERENCE:
            return None  # what the controller was asked for is not known then
        raise RecordingError(f"{name} of a block holds a value that is not finite")
    return matrix
