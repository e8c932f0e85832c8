"""Velocities that were measured, in place of those that follow from the positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robot_identification.errors import MeasuredVelocityError
from robot_identification.robot.arrays import Array
from robot_identification.signals.filters import filtering
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.recording import Recording, Segment

LARGEST_CONTRADICTION = 0.05
"""How far the slope of measured velocities over those of the positions may be from 1.

Tachometers are calibrated to a few percent; a wrong sign, unit, gear ratio or order of the joints
is further off."""
# Displacements that stand so far out of the noise of the positions bias the slope by 1 % at most.
_ABOVE_NOISE = 10.0
_ROUNDING = 1e-12
_SURE = 3.0  # standard deviations
# Seconds of a run that grows which are judged at a time.
_STRETCH = 8.0


def filtered_motion(
    segment: Segment, period: float, processing: Processing
) -> tuple[Array, Array, Array]:
    """Return filtered positions, velocities and accelerations of a segment.

    Measured velocities pass the filter of the positions, so that both belong to the same instants,
    and accelerations are their derivatives.

    Args:
        segment: on the joint side; with velocities where the settings ask for measured ones.
        period: sampling period in s.
        processing: complete settings.

    Returns:
        (joints, samples) each.

    Raises:
        SettingError: the settings do not suit the sampling rate.
        RecordingError: there are too few samples.
    """
    own = processing.velocities == "measured" and segment.velocity is not None
    signals = [segment.position, segment.velocity] if own else [segment.position]
    position, *measured = (
        filtering.low_pass(
            np.ascontiguousarray(np.asarray(signal).T),
            period,
            processing.cutoff_hz,
            processing.filter_order,
            segment.torn,
        )
        for signal in signals
    )
    order = processing.difference_order
    velocity = measured[0] if own else filtering.differentiate(position, period, order)
    return position, velocity, filtering.differentiate(velocity, period, order)


def require_measured_velocities(recording: Recording, processing: Processing) -> None:
    """Refuse a recording whose velocities are wanted, and are not there or contradict positions.

    Raises:
        MeasuredVelocityError: with the joint, and what to do.
    """
    if processing.velocities != "measured":
        return
    if any(segment.velocity is None for segment in recording.segments):
        missing = recording.without_velocity
        raise MeasuredVelocityError(recording.source, missing[0] if missing else "")
    _refuse_contradiction(
        recording.source,
        recording.joint_names,
        velocity_slopes(recording.segments, recording.period, processing),
    )


class VelocityWatch:
    """Refuses measured velocities of a run that grows where they contradict its positions.

    Args:
        source: identifier of the recording, for messages.
        joint_names: names of its joints.
        period: sampling period in s.
        processing: says which cut-off.
    """

    def __init__(
        self, source: str, joint_names: Sequence[str], period: float, processing: Processing
    ) -> None:
        self._source, self._names = source, tuple(joint_names)
        self._period, self._processing = period, processing
        self._waiting: list[tuple[Array, Array]] = []
        self._samples = 0

    def push(self, position: Array, velocity: Array) -> None:
        """Take in (samples, joints) signals that follow.

        Raises:
            MeasuredVelocityError: the velocities contradict the positions.
        """
        self._waiting.append((position, velocity))
        self._samples += len(position)
        if self._samples * self._period >= _STRETCH:
            self.end()

    def end(self) -> None:
        """Judge what is left.

        Raises:
            MeasuredVelocityError: the velocities contradict the positions.
        """
        if not self._waiting:
            return
        position, velocity = (np.concatenate(part) for part in zip(*self._waiting, strict=True))
        self._waiting, self._samples = [], 0
        time: Array = self._period * np.arange(len(position), dtype=np.float64)
        stretch = Segment(time, position, velocity, np.zeros_like(position))
        slopes = velocity_slopes([stretch], self._period, self._processing)
        _refuse_contradiction(self._source, self._names, slopes)


class Slopes(NamedTuple):
    """Slopes of measured velocities over those of the positions, (joints,) each.

    Attributes:
        values: 1 where they agree; NaN of a joint that does not move out of its noise.
        std: their standard deviations.
    """

    values: Array
    std: Array


def velocity_slopes(segments: Sequence[Segment], period: float, processing: Processing) -> Slopes:
    """Compare measured velocities with those of the positions.

    Both are means over a period of the cut-off: displacements on one side, integrals on the other,
    in which hardly anything is left of the noise of either.

    Args:
        segments: with velocities.
        period: sampling period in s.
        processing: says which cut-off.
    """
    joints = segments[0].position.shape[1]
    products, squares, told_squares, noise = np.zeros((4, joints))
    count, lag = 0, max(round(1.0 / (processing.cutoff_hz * period)), 2)
    for segment in segments:
        samples = len(segment.time)
        enough = samples > max(2 * lag, filtering.padding(processing.filter_order))
        if segment.velocity is None or not enough:
            continue
        position = segment.position.T
        smooth = filtering.low_pass(
            position, period, processing.cutoff_hz, processing.filter_order, segment.torn
        )
        steps = 0.5 * period * (segment.velocity[1:] + segment.velocity[:-1])
        travelled = np.concatenate([np.zeros((1, joints)), np.cumsum(steps, axis=0)]).T
        moved, told = (_centred(way[:, lag:] - way[:, :-lag]) for way in (position, travelled))
        products += (moved * told).sum(axis=1)
        squares += (moved**2).sum(axis=1)
        told_squares += (told**2).sum(axis=1)
        # A displacement has the noise of two positions, and these that of their rounding.
        rounding = (_ROUNDING * np.abs(position).max(axis=1)) ** 2
        own = ((position - smooth) ** 2).mean(axis=1) + rounding
        noise += 2.0 * own * moved.shape[1]
        count += moved.shape[1]
    moves = squares > _ABOVE_NOISE**2 * noise
    slopes = np.divide(products, squares, out=np.full(joints, np.nan), where=moves)
    # What is left of neighbours within a window is the same noise.
    left = np.maximum(told_squares - slopes * products, 0.0) / max(count, 1)
    std = np.sqrt(np.divide(left * lag, squares, out=np.full(joints, np.nan), where=moves))
    return Slopes(slopes, std)


def _refuse_contradiction(source: str, names: Sequence[str], slopes: Slopes) -> None:
    off = np.nan_to_num(np.abs(slopes.values - 1.0) - _SURE * slopes.std)
    worst = int(off.argmax())
    if off[worst] > LARGEST_CONTRADICTION:
        raise MeasuredVelocityError(source, names[worst], float(slopes.values[worst]))


def _centred(values: Array) -> Array:
    centred: Array = values - values.mean(axis=1, keepdims=True)
    return centred
