"""Filtered samples of a recording: what identification works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.errors import RecordingError
from robot_identification.robot.model import Array
from robot_identification.signals import filtering
from robot_identification.signals.processing import Processing
from robot_identification.signals.recording import Recording, Segment


@dataclass(frozen=True)
class FilteredSegment:
    """An unbroken run of samples at the full rate, ready for regressor and decimation.

    The signals are read-only, one row per joint, with the samples of a joint side by side.

    Attributes:
        time: (samples,) seconds since the first stamp of the recording.
        position: (joints, samples) filtered, in rad or m.
        velocity: (joints, samples) its derivative.
        acceleration: (joints, samples) its second derivative.
        effort: (joints, samples) in N m or N, not filtered: decimation does that, in parallel
            with the regressor.
        period: sampling period in s.
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array
    period: float

    def __post_init__(self) -> None:
        for name in ("time", "position", "velocity", "acceleration", "effort"):
            array = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.time)


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
        RecordingError: if every segment is too short.
    """
    needed = processing.shortest_segment(recording.period)
    longest = max((len(segment.time) for segment in recording.segments), default=0)
    if longest < needed:
        raise RecordingError(
            f"{recording.source or 'recording'}: the longest unbroken run has {longest} samples, "
            f"and the filters with these settings need {needed}; record longer without "
            "interruption, or raise cut-off and rate"
        )
    return tuple(
        _filtered(segment, recording.period, processing)
        for segment in recording.segments
        if len(segment.time) >= needed
    )


def _filtered(segment: Segment, period: float, processing: Processing) -> FilteredSegment:
    position = filtering.low_pass(
        np.ascontiguousarray(segment.position.T),
        period,
        processing.cutoff_hz,
        processing.filter_order,
    )
    velocity = filtering.differentiate(position, period)
    acceleration = filtering.differentiate(velocity, period)
    used = slice(processing.drop_start, len(segment.time) - processing.drop_end)
    return FilteredSegment(
        time=segment.time[used],
        position=position[:, used],
        velocity=velocity[:, used],
        acceleration=acceleration[:, used],
        effort=segment.effort[used].T,
        period=period,
    )


def kept_rows(segment: FilteredSegment, processing: Processing) -> npt.NDArray[np.bool_]:
    """Tell which decimated rows of a segment take part in the estimation.

    A row of joint j is left out where its own speed is below its threshold at the instant that
    decimation keeps (scope ``joint``), or where any joint is below its own (scope ``sample``).
    With ``ends`` set to ``cut``, the rows that the decimation filter's end effects reach go too.

    Args:
        segment: from :func:`filter_recording`.
        processing: the settings that it was made with.

    Returns:
        (joints, outputs) true for rows that stay.
    """
    decimator = processing.decimator(segment.period)
    speed = np.abs(segment.velocity[:, decimator.kept(segment.samples)])
    moving = speed >= np.asarray(processing.velocity_threshold)[:, None]
    if processing.velocity_threshold_scope == "sample":
        moving = np.broadcast_to(moving.all(axis=0), moving.shape).copy()
    cut = processing.cut_outputs(segment.period)
    if cut:
        moving[:, :cut] = False
        moving[:, -cut:] = False
    return moving
