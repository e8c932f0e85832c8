"""A recording: what was measured, on one clock, before any filter has seen it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from robot_identification.robot.model import Array


@dataclass(frozen=True)
class RecordingStatistics:
    """What happened to the samples of a source on their way into a recording.

    Attributes:
        received: messages read.
        duplicates: messages dropped because an earlier one had the same stamp.
        out_of_order: messages whose stamp was older than the one before; they were sorted in.
        lost: samples missing inside gaps, judged by the nominal period.
        gaps: places where the recording was split into segments.
        resampled: whether jitter made a resampling to a constant period necessary.
        jitter: standard deviation of the sampling period divided by the period.
    """

    received: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    lost: int = 0
    gaps: int = 0
    resampled: bool = False
    jitter: float = 0.0


@dataclass(frozen=True)
class Segment:
    """An unbroken run of samples with a constant period, joint side, SI units.

    Attributes:
        time: (samples,) seconds since the first stamp of the recording.
        position: (samples, joints) in rad or m.
        velocity: (samples, joints) in rad/s or m/s, None where not measured.
        effort: (samples, joints) in N m or N.
        reference: (samples, joints) commanded positions, None where not recorded.
    """

    time: Array
    position: Array
    velocity: Array | None
    effort: Array
    reference: Array | None = None


@dataclass(frozen=True)
class Recording:
    """Joint states of a robot on one clock: the order of the robot's joints, the joint side.

    Attributes:
        joint_names: names of the joints, in the order of the columns.
        period: constant sampling period in s.
        segments: unbroken runs of samples, in order.
        start_stamp: stamp of the first sample in ns.
        source: where it came from: a bag, a topic.
        digest: SHA-256 of the source, empty for a live one.
        statistics: what happened on the way.
    """

    joint_names: tuple[str, ...]
    period: float
    segments: tuple[Segment, ...]
    start_stamp: int = 0
    source: str = ""
    digest: str = ""
    statistics: RecordingStatistics = field(default_factory=RecordingStatistics)

    @property
    def samples(self) -> int:
        """Number of samples in all segments."""
        return sum(len(segment.time) for segment in self.segments)

    @property
    def duration(self) -> float:
        """Time covered by the segments, in s."""
        return sum(float(s.time[-1] - s.time[0]) for s in self.segments if len(s.time))


@dataclass(frozen=True)
class RawSamples:
    """Joint states as they came, mapped to the robot's joints by name, in order of arrival.

    Positions and efforts are still on the side where they were measured.

    Attributes:
        stamps: (samples,) header stamps in ns.
        position: (samples, joints).
        velocity: (samples, joints) or None.
        effort: (samples, joints).
        reference: (samples, joints) or None; commanded positions at the same stamps.
    """

    stamps: npt.NDArray[np.int64]
    position: Array
    velocity: Array | None
    effort: Array
    reference: Array | None = None
