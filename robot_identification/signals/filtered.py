"""Filtered samples of a recording, the input of identification."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_identification.errors import RecordingError
from robot_identification.robot.arrays import Array, by_value, read_only_view
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.recording import Recording, Segment, part_of
from robot_identification.signals.temperature import temperatures_at
from robot_identification.signals.velocities import filtered_motion, require_measured_velocities


@by_value
@dataclass(frozen=True)
class FilteredSegment:
    """A run of samples at the full rate, ready for regressor and decimation.

    The signals are read-only, one row per joint, with the samples of a joint side by side.

    Attributes:
        time: (samples,) seconds since the first stamp of the recording.
        position: (joints, samples) filtered, in rad or m.
        velocity: (joints, samples) its derivative, or filtered as it was measured.
        acceleration: (joints, samples) the derivative of the velocity.
        effort: (joints, samples) in N m or N, not filtered: decimation does that, in parallel
            with the regressor.
        period: sampling period in s.
        shares: (friction motions, samples) what stands for the signs of their velocities, where
            more is known than these; None elsewhere.
        measured: (samples,) which samples were measured; None: all of them.  The efforts of the
            others are of no meaning.
        temperature: (joints, samples) in degrees Celsius, NaN for joints without; None where none
            was measured.
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array
    period: float
    shares: Array | None = None
    measured: npt.NDArray[np.bool_] | None = None
    temperature: Array | None = None

    def __post_init__(self) -> None:
        if self.measured is not None:
            object.__setattr__(self, "measured", read_only_view(self.measured))
        optional = ("shares", "temperature")
        for name in ("time", "position", "velocity", "acceleration", "effort", *optional):
            if getattr(self, name) is not None:
                array = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
                object.__setattr__(self, name, read_only_view(array))

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.time)

    def with_effort(self, effort: Array) -> FilteredSegment:
        """Return the same motion with other (joints, samples) efforts."""
        return replace(self, effort=effort)

    def part(self, samples: slice) -> FilteredSegment:
        """Return a run of the segment's samples."""
        return replace(
            self,
            time=self.time[samples],
            position=self.position[:, samples],
            velocity=self.velocity[:, samples],
            acceleration=self.acceleration[:, samples],
            effort=self.effort[:, samples],
            shares=None if self.shares is None else self.shares[:, samples],
            measured=part_of(self.measured, samples),
            temperature=None if self.temperature is None else self.temperature[:, samples],
        )


def filter_recording(recording: Recording, processing: Processing) -> tuple[FilteredSegment, ...]:
    """Filter positions, differentiate them, and drop what the ends have spoilt.

    Segments that are too short for the filters are left out.

    Args:
        recording: on the joint side, with a constant period.
        processing: complete settings.

    Returns:
        At least one segment.

    Raises:
        SettingError: if the settings do not suit the sampling rate of the recording.
        RecordingError: if every segment is too short; MeasuredVelocityError where measured
            velocities are wanted that are not there, or contradict the positions.
    """
    require_length(recording, processing)
    needed = processing.shortest_segment(recording.period)
    require_measured_velocities(recording, processing)
    found = (
        _filtered(segment, recording.period, processing)
        for segment in recording.segments
        if len(segment.time) >= needed
    )
    return tuple(replace(own, temperature=temperatures_at(recording, own.time)) for own in found)


def require_length(recording: Recording, processing: Processing, held_out: float = 0.0) -> None:
    """Refuse a recording that is too short for the filters.

    Args:
        recording: on the joint side, with a constant period.
        processing: complete settings.
        held_out: share of a recording of which this is the end, held out; 0: it is all of one.

    Raises:
        RecordingError: with its longest run, what is needed, and what to do.
    """
    needed = processing.shortest_segment(recording.period)
    longest = max((len(segment.time) for segment in recording.segments), default=0)
    if longest >= needed:
        return
    part = f"the last {held_out:g} of it, held out: " if held_out else ""
    advice = "hold out more of it, or another recording; or " if held_out else ""
    raise RecordingError(
        f"{recording.source or 'recording'}: {part}the longest unbroken run has {longest} samples, "
        f"and the filters with these settings need {needed}; {advice}record longer without "
        "interruption, or raise cut-off and rate"
    )


def _filtered(segment: Segment, period: float, processing: Processing) -> FilteredSegment:
    position, velocity, acceleration = filtered_motion(segment, period, processing)
    used = slice(processing.drop_start, len(segment.time) - processing.drop_end)
    return FilteredSegment(
        time=segment.time[used],
        position=position[:, used],
        velocity=velocity[:, used],
        acceleration=acceleration[:, used],
        effort=segment.effort[used].T,
        period=period,
        measured=part_of(segment.measured, used),
    )
