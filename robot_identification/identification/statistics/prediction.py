"""Measured efforts beside predicted ones, sample by sample: what plots are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.rows.whole import RowBlock
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array, by_value, checked_vector, cover
from robot_identification.robot.joint import Joint, JointType
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.recording import Recording


@by_value
@dataclass(frozen=True)
class Prediction:
    """Efforts of a recording, measured and predicted, after the same decimation.

    Attributes:
        joint_names: names of the joints.
        units: unit of each joint's effort.
        time: (rows,) seconds since the first stamp of the recording.
        measured: (rows, joints) in N m or N.
        predicted: (rows, joints).
        kept: (rows, joints) whether a row takes part in the estimation; the others are too slow
            for the sign of friction, or reached by end effects.
        velocity: (rows, joints) filtered, at the instants of the rows, in rad/s or m/s.
    """

    joint_names: tuple[str, ...]
    units: tuple[str, ...]
    time: Array
    measured: Array
    predicted: Array
    kept: npt.NDArray[np.bool_]
    velocity: Array

    def __post_init__(self) -> None:
        cover(self, "time", "measured", "predicted", "kept", "velocity")


def predict(
    base: BaseParameters, values: npt.ArrayLike, recording: Recording, processing: Processing
) -> Prediction:
    """Predict the efforts of a recording from base parameters.

    Args:
        base: base parameters of the robot.
        values: (base,) their values.
        recording: joint states on the joint side.
        processing: complete settings of the signal processing.

    Raises:
        ShapeError: if the number of values is not that of the base parameters.
        RecordingError: if the recording is too short for the filters.
    """
    chi = checked_vector("values", values, base.rank)
    source = WholeRows.of(base, [recording], processing, blocks=False)
    joints = source.regressor.joint_rows
    parts: list[tuple[npt.NDArray[np.generic], ...]] = []

    def take(number: int, block: RowBlock) -> None:
        segment = source.segments[number]
        decimator = processing.decimator(segment.period)
        instants = decimator.kept(segment.samples)[block.window.outputs]
        efforts = [chi[joint.columns] @ block.rows[joint.rows] for joint in joints]
        parts.append(
            (
                segment.time[instants],
                block.rows[[joint.rows.stop for joint in joints]].T,
                np.column_stack(efforts),
                block.kept.T,
                segment.velocity[:, instants].T,
            )
        )

    source.each_block([take])
    time, measured, predicted, kept, velocity = (
        np.concatenate(columns) for columns in zip(*parts, strict=True)
    )
    return Prediction(
        joint_names=base.robot.active_names,
        units=tuple(_unit(joint) for joint in base.robot.active_joints),
        time=time,
        measured=measured,
        predicted=predicted,
        kept=kept,
        velocity=velocity,
    )


def _unit(joint: Joint) -> str:
    return "N" if joint.type is JointType.PRISMATIC else "N m"
