"""The experiments that DIDIM simulates: runs of measured efforts and what the robot followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics import reference as references
from robot_identification.dynamics.reference import Reference
from robot_identification.errors import NoEffortError, RecordingError
from robot_identification.robot.arrays import Array, by_value
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.recording import Recording, Segment, part_of


@by_value
@dataclass(frozen=True)
class Experiment:
    """An unbroken run of measured efforts, and the reference that the robot followed.

    Attributes:
        source: where it came from.
        time: (samples,) seconds since the first stamp of its recording.
        period: sampling period in s.
        effort: (samples, joints) measured, in N m or N.
        reference: what the controller followed, its time 0 at the first stamp of the recording.
        drop_start: samples at the start that do not count: the transient reaches them.
        drop_end: samples at the end that do not count.
        measured: (samples,) which efforts were measured; None: all of them.
        recording: place of its recording among all of them.
    """

    source: str
    time: Array
    period: float
    effort: Array
    reference: Reference
    drop_start: int = 0
    drop_end: int = 0
    measured: npt.NDArray[np.bool_] | None = None
    recording: int = 0

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.time)

    @property
    def used(self) -> slice:
        """The samples that count."""
        return slice(self.drop_start, self.samples - self.drop_end)

    @property
    def used_measured(self) -> npt.NDArray[np.bool_] | None:
        """Which of the samples that count were measured; None: all of them."""
        return part_of(self.measured, self.used)

    def followed(self) -> tuple[Array, Array, Array]:
        """Return position, velocity, acceleration (samples, joints) of the reference."""
        return references.sample(self.reference, self.time)


def experiments_of(
    recordings: Sequence[Recording], followed: Sequence[Reference]
) -> tuple[Experiment, ...]:
    """Return one experiment per unbroken run of the recordings.

    Args:
        recordings: only their efforts are used.
        followed: a reference for each of them, its time 0 at the first stamp of the recording.

    Raises:
        RecordingError: if there is no recording, or not one reference for each; NoEffortError
            where nobody measured efforts.
    """
    if not recordings or len(recordings) != len(followed):
        raise RecordingError(
            f"{len(recordings)} recordings and {len(followed)} references: "
            "give at least one recording, and the reference of each"
        )
    for recording in recordings:
        _refuse_without_efforts(recording)
    return tuple(
        Experiment(
            source=recording.source,
            time=segment.time,
            period=recording.period,
            effort=segment.effort,
            reference=reference,
            measured=segment.measured,
            recording=number,
        )
        for number, (recording, reference) in enumerate(zip(recordings, followed, strict=True))
        for segment in recording.segments
    )


def _refuse_without_efforts(recording: Recording) -> None:
    measured = np.any([segment.effort.any(axis=0) for segment in recording.segments], axis=0)
    names = recording.joint_names
    silent = [name for name, some in zip(names, measured, strict=True) if not some]
    if silent:
        raise NoEffortError(silent, recording.source, every=len(silent) == len(names))


def has_positions(recordings: Sequence[Recording]) -> bool:
    """Tell whether the positions of all recordings were measured."""
    return all(np.isfinite(s.position).all() for r in recordings for s in r.segments)


def as_if_followed(recording: Recording, reference: Reference) -> Recording:
    """Return a recording whose positions are those of its reference."""

    def moved(segment: Segment) -> Segment:
        return replace(segment, position=references.sample(reference, segment.time)[0])

    return replace(recording, segments=tuple(moved(segment) for segment in recording.segments))


def along_reference(experiment: Experiment) -> FilteredSegment:
    """Return the samples of an experiment as if the robot had followed its reference exactly."""
    used = experiment.used
    q, qd, qdd = (signal[used].T for signal in experiment.followed())
    return FilteredSegment(
        experiment.time[used],
        q,
        qd,
        qdd,
        experiment.effort[used].T,
        experiment.period,
        measured=experiment.used_measured,
    )
