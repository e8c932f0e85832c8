"""Blocks of filtered samples whose motion can be moved against their efforts.

The motion is interpolated with cubic splines: its band is limited, so that moving it loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from robot_identification.errors import RecordingError
from robot_identification.robot.arrays import Array, by_value
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.complete import Processing

_BLOCKS = 10
_MOST_SECONDS = 40.0
_SPLINE = 3


@by_value
@dataclass(frozen=True)
class MovableBlock:
    """A block of filtered samples whose motion can be moved against its efforts.

    Attributes:
        segment: the samples, with a margin on both sides.
        splines: coefficients of position, velocity and acceleration.
        margin: samples on each side that moving uses up.
    """

    segment: FilteredSegment
    splines: tuple[Array, Array, Array]
    margin: int

    @classmethod
    def of(cls, segment: FilteredSegment, largest: float) -> MovableBlock:
        """Return the block of a segment, to be moved by no more than the largest delay in s."""
        position, velocity, acceleration = (
            np.asarray(scipy.ndimage.spline_filter1d(signal, _SPLINE, axis=1, mode="mirror"))
            for signal in (segment.position, segment.velocity, segment.acceleration)
        )
        return cls(segment, (position, velocity, acceleration), margin_of(largest, segment.period))

    def moved(self, delay: float) -> FilteredSegment:
        """Return the block with the motion later by a delay in s, without the margins."""
        used = slice(self.margin, self.segment.samples - self.margin)
        shift = delay / self.segment.period
        position, velocity, acceleration = (
            np.array([_shifted_signal(joint, shift) for joint in spline]) for spline in self.splines
        )
        motion = replace(
            self.segment, position=position, velocity=velocity, acceleration=acceleration
        )
        return motion.part(used)


def _shifted_signal(spline: Array, shift: float) -> Array:
    shifted: Array = scipy.ndimage.shift(
        spline, shift, order=_SPLINE, mode="mirror", prefilter=False
    )
    return shifted


def margin_of(largest: float, period: float) -> int:
    """Return how many samples on each side a block needs to be moved by a delay in s."""
    return int(np.ceil(largest / period)) + 1


def spread_blocks(
    segments: Sequence[FilteredSegment], processing: Processing, largest: float
) -> list[MovableBlock]:
    """Return segments as movable blocks: whole, or where there is much parts spread over them all.

    Each block loses rows to the end effects of decimation, so little is not cut into many.

    Args:
        segments: filtered samples.
        processing: says how long a block must be at least.
        largest: delay in s by which the blocks can be moved, to both sides.

    Raises:
        RecordingError: none of them is long enough.
    """
    total = sum(_seconds(segment) for segment in segments)
    parts: list[FilteredSegment] = []
    for segment in segments:
        least = processing.shortest_segment(segment.period) + 2 * margin_of(largest, segment.period)
        wanted = round(_MOST_SECONDS / _BLOCKS / segment.period)
        size = segment.samples if total <= _MOST_SECONDS else min(wanted, segment.samples)
        size = max(size, least)
        count = min(segment.samples // size, max(round(_BLOCKS * _seconds(segment) / total), 1))
        begins = np.linspace(0, segment.samples - size, count).astype(int)
        parts.extend(segment.part(slice(begin, begin + size)) for begin in begins)
    if not parts:
        raise RecordingError(
            f"{total:.1f} s of unbroken samples are too short to estimate the delay between "
            "efforts and motion; record longer"
        )
    apart = max(1, int(sum(map(_seconds, parts)) / _MOST_SECONDS))
    return [MovableBlock.of(part, largest) for part in parts[::apart]]


def _seconds(segment: FilteredSegment) -> float:
    return segment.samples * segment.period
