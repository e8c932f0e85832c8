"""A recording: what was measured, on one clock, before any filter has seen it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import numpy.typing as npt

from robot_identification.errors import RecordingError, SettingError, ShapeError
from robot_identification.presentation import Presented, sample_records
from robot_identification.robot.arrays import Array, by_value, cover, numbers
from robot_identification.robot.model import RobotModel
from robot_identification.signals.clock.time_units import doubts_of_times
from robot_identification.signals.raw_samples import RawSamples


class Seconds(float):
    """A place in a recording: a time in s after its first sample; negative: before its end."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{float(self):g} s"


@dataclass(frozen=True)
class RecordingStatistics:
    """Counts of the samples of a source on their way into a recording.

    Attributes:
        received: messages read.
        refused: messages that were left out, for a position or effort is NaN or infinite.
        duplicates: messages dropped because an earlier one had the same stamp.
        out_of_order: messages whose stamp was older than one before them; they were sorted in.
        lost: samples missing inside gaps, judged by the nominal period; none in pauses.
        gaps: places where the recording was split into segments.
        discarded: samples between gaps in runs too short for any filter; they were left out.
        resampled: whether jitter made a resampling to a constant period necessary.
        jitter: standard deviation of the sampling period divided by the period.
        bridged: of the lost samples, those in short gaps, which split nothing: their positions
            were interpolated, and they have no efforts.
        longest_bridged: longest gap in s that is bridged; 0 where there is no gap.
        pauses: of the gaps, those in which nothing was lost: the robot stood, or the recording
            was stopped.
        paused: time in s that they took.
        strays: of every joint the samples that were left out as its position went off its way
            and came back at once; empty: none were.
    """

    received: int = 0
    refused: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    lost: int = 0
    gaps: int = 0
    discarded: int = 0
    resampled: bool = False
    jitter: float = 0.0
    bridged: int = 0
    longest_bridged: float = 0.0
    pauses: int = 0
    paused: float = 0.0
    strays: tuple[int, ...] = ()


@by_value
@dataclass(frozen=True)
class Segment:
    """A run of samples with a constant period, joint side, SI units.

    Samples that were lost in it have been bridged: their positions and velocities are those of a
    spline, and their efforts, on straight lines, are there for figures only.

    It looks at the arrays that it is given, read-only: who made them must not change them.

    Attributes:
        time: (samples,) seconds since the first stamp of the recording.
        position: (samples, joints) in rad or m.
        velocity: (samples, joints) in rad/s or m/s, None where not measured.
        effort: (samples, joints) in N m or N.
        reference: (samples, joints) commanded positions, None where not recorded.
        measured: (samples,) which samples were measured; None: all of them.
        torn: whether samples were lost before the first and behind the last one; a pause loses
            none.
    """

    time: Array
    position: Array
    velocity: Array | None
    effort: Array
    reference: Array | None = None
    measured: npt.NDArray[np.bool_] | None = None
    torn: tuple[bool, bool] = (False, False)

    def __post_init__(self) -> None:
        cover(self, "time", "position", "velocity", "effort", "reference", "measured")

    @property
    def missing(self) -> int:
        """Number of samples that were bridged."""
        return 0 if self.measured is None else int(np.count_nonzero(~self.measured))

    def part(self, samples: slice) -> Segment:
        """Return a run of the segment's samples."""
        first, last, _ = samples.indices(len(self.time))
        return Segment(
            time=self.time[samples],
            position=self.position[samples],
            velocity=None if self.velocity is None else self.velocity[samples],
            effort=self.effort[samples],
            reference=None if self.reference is None else self.reference[samples],
            measured=part_of(self.measured, samples),
            torn=(self.torn[0] and first == 0, self.torn[1] and last == len(self.time)),
        )


def part_of(measured: npt.NDArray[np.bool_] | None, samples: slice) -> npt.NDArray[np.bool_] | None:
    """Return which samples of a part were measured; None where all of them were."""
    part = None if measured is None else measured[samples]
    return None if part is None or part.all() else part


@by_value
@dataclass(frozen=True)
class TemperatureSeries:
    """Temperatures of a joint, which are measured more seldom than its motion.

    Attributes:
        time: (measurements,) seconds since the first stamp of the recording, rising.
        celsius: (measurements,) in degrees Celsius.
    """

    time: Array
    celsius: Array


@dataclass(frozen=True, repr=False)
class Recording(Presented):
    """Joint states of a robot on one clock: the order of the robot's joints, the joint side.

    Attributes:
        joint_names: names of the joints, in the order of the columns.
        period: constant sampling period in s.
        segments: unbroken runs of samples, in order.
        start_stamp: stamp of the first sample in ns.
        source: where it came from: a bag, a topic.
        digest: SHA-256 of the source, or of the samples of a program; empty for a live one.
        statistics: what happened on the way.
        warnings: what a user should know about the source, one line each.
        effort_topic: topic that the efforts came on; empty: they came with the joint states.
        effort_delay: time by which the efforts' stamps lay behind those of the motion, in s; it
            is accounted for.
        without_velocity: joints whose velocities were not measured, where others have some.
        temperatures: name of a joint -> its temperatures, where they were measured.
    """

    joint_names: tuple[str, ...]
    period: float
    segments: tuple[Segment, ...]
    start_stamp: int = 0
    source: str = ""
    digest: str = ""
    statistics: RecordingStatistics = field(default_factory=RecordingStatistics)
    warnings: tuple[str, ...] = ()
    effort_topic: str = ""
    effort_delay: float = 0.0
    without_velocity: tuple[str, ...] = ()
    temperatures: Mapping[str, TemperatureSeries] = field(default_factory=dict)

    @classmethod
    def from_arrays(
        cls,
        robot: RobotModel,
        time: npt.ArrayLike,
        position: npt.ArrayLike,
        effort: npt.ArrayLike,
        *,
        velocity: npt.ArrayLike | None = None,
        reference: npt.ArrayLike | None = None,
        temperature: npt.ArrayLike | None = None,
        source: str = "arrays",
    ) -> Recording:
        """Return the recording of samples that a program holds, as if they came from a bag.

        The arrays are copied.

        Args:
            robot: says what positions and efforts mean, and the order of the columns.
            time: (samples,) in s, from any origin; gaps, doubles and jitter are dealt with.
            position: (samples, joints) as measured, in rad or m.
            effort: (samples, joints) as measured: N m, N or A, as the robot file says.
            velocity: (samples, joints) in rad/s or m/s, None where not measured.
            reference: (samples, joints) commanded positions, None where not known.
            temperature: (samples, joints) in degrees Celsius, None where not measured; NaN where a
                joint has none, or none at that time.
            source: a name, for messages and results.

        Raises:
            ShapeError: an array does not have a row per sample and a column per joint.
            SettingError: nobody has said what effort means, a drive gain is missing, something is
                no array of numbers, or a table has the joints in another order.
            SampleError: a value is not finite.
            RecordingError: the samples are too few, or the times of no use, as those that are not
                in seconds.
        """
        # That module makes recordings, and needs this one.
        from robot_identification.signals.conditioning import joint_side_recording
        from robot_identification.signals.temperature import of_samples, with_temperatures

        if not isinstance(robot, RobotModel):
            raise SettingError("robot", robot, "load it first: load_robot(...)")
        seconds = numbers("time", time)
        if seconds.ndim != 1:
            raise ShapeError("time", seconds.shape, "(samples,)")
        if not np.isfinite(seconds).all():
            raise RecordingError(f"{source}: a time is not finite")
        told = doubts_of_times(seconds, source)
        stamps = np.rint((seconds - seconds[:1].sum()) * 1e9).astype(np.int64)
        signals = {
            "position": position, "velocity": velocity, "effort": effort, "reference": reference,
        }  # fmt: skip
        joints = robot.active_names
        copied = {n: None if a is None else numbers(n, a, joints) for n, a in signals.items()}
        raw = RawSamples(stamps, **copied)  # type: ignore[arg-type]  # two are never None
        recording = joint_side_recording(raw, robot, source=source, digest=raw.digest())
        recording = replace(recording, warnings=(*told, *recording.warnings))
        if temperature is None:
            return recording
        celsius = numbers("temperature", temperature, joints)
        return with_temperatures(recording, of_samples(joints, stamps, celsius))

    @property
    def headline(self) -> str:
        """Source, number of samples, duration and rate, in one line."""
        return (
            f"{self.source or 'a recording'}: {self.samples} samples of "
            f"{len(self.joint_names)} joints, {self.duration:.4g} s at {1.0 / self.period:.5g} Hz"
        )

    def records(self) -> list[dict[str, object]]:
        """Return one row per sample, joint side."""
        rows: list[dict[str, object]] = []
        for segment in self.segments:
            names = ("position", "velocity", "effort", "reference")
            signals = {name: getattr(segment, name) for name in names}
            rows += sample_records(segment.time, self.joint_names, signals)
        return rows

    def summary(self) -> dict[str, object]:
        """Return where it came from and what happened on the way, as plain data."""
        return {
            "source": self.source,
            "digest": self.digest,
            "joints": list(self.joint_names),
            "samples": self.samples,
            "duration": self.duration,
            "period": self.period,
            "segments": len(self.segments),
            "effort_topic": self.effort_topic,
            "effort_delay": self.effort_delay,
            **asdict(self.statistics),
            "warnings": list(self.warnings),
        }

    @property
    def samples(self) -> int:
        """Number of samples in all segments."""
        return sum(len(segment.time) for segment in self.segments)

    @property
    def duration(self) -> float:
        """Time covered by the segments, in s."""
        return sum(float(s.time[-1] - s.time[0]) for s in self.segments if len(s.time))

    def between(self, begin: float, end: float) -> Recording:
        """Return the part of the recording between two places.

        Args:
            begin: where the part begins: a fraction of the samples, 0 for the start, or
                :class:`Seconds`.
            end: where it ends, likewise; 1 for the whole rest.

        Raises:
            SettingError: if a place is neither a fraction from 0 to 1 nor ``Seconds``.
            RecordingError: if no sample lies between.
        """
        for name, place in (("begin", begin), ("end", end)):
            _check_place(name, place)
        first, last = self._samples_before(begin), self._samples_before(end)
        segments = []
        passed = 0
        for segment in self.segments:
            count = len(segment.time)
            part = slice(max(first - passed, 0), max(min(last - passed, count), 0))
            if part.start < part.stop:
                segments.append(segment.part(part))
            passed += count
        if not segments:
            raise RecordingError(
                f"{self.source or 'recording'}: no sample lies between {_told(begin)} and "
                f"{_told(end)}; choose fractions 0 <= begin < end <= 1, or seconds within the "
                f"{self.duration:.4g} s of it"
            )
        return replace(self, segments=tuple(segments))

    def _samples_before(self, place: float) -> int:
        """Return how many samples lie before a fraction of them, or before a time."""
        if not isinstance(place, Seconds):
            return round(place * self.samples)
        first, last = self.segments[0].time[0], self.segments[-1].time[-1] + self.period
        # Half a period keeps rounding from deciding on a sample.
        instant = (first if place >= 0.0 else last) + float(place) - 0.5 * self.period
        return sum(int(np.searchsorted(segment.time, instant)) for segment in self.segments)


def _check_place(name: str, place: float) -> None:
    """Refuse what is no place in a recording, such as a time that looks like a fraction."""
    if not math.isfinite(place):
        raise SettingError(name, place, "must be a finite number")
    if not isinstance(place, Seconds) and not 0.0 <= place <= 1.0:
        problem = f"is no fraction from 0 to 1; a time in s is Seconds({place:g})"
        raise SettingError(name, place, problem)


def _told(place: float) -> str:
    return str(place) if isinstance(place, Seconds) else f"the fraction {place:g}"
