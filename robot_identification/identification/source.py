"""Recordings that results were made from, as these tell of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.identification.result_warnings import recording_warnings
from robot_identification.signals.recording import Recording, Segment

SPOILT = "is spoilt"
"""Warning of a recording in which blocks of samples contradict each other."""


@dataclass(frozen=True)
class Source:
    """A recording that a result was made from.

    Attributes:
        name: path of the bag, or identifier of a live recording.
        digest: SHA-256 of the data; empty for a live recording.
        samples: number of samples used.
        duration: time covered, in s.
        effort_topic: topic of the efforts, empty where they come with the joint states.
        effort_delay: by which they were taken later, in s.
        warnings: what a user should know about it, one line each.
        bridged: samples beside these that were lost, and of which the positions are interpolated.
        rows_missed: rows of all joints that were left out because too many of the samples that
            they lean on were lost.
    """

    name: str
    digest: str
    samples: int
    duration: float
    effort_topic: str = ""
    effort_delay: float = 0.0
    warnings: tuple[str, ...] = ()
    bridged: int = 0
    rows_missed: int = 0

    @classmethod
    def of(
        cls,
        recording: Recording,
        warnings: Sequence[str] = (),
        rows_missed: int | None = None,
    ) -> Source:
        """Return what a result tells of a recording that it was made from.

        Args:
            recording: the recording.
            warnings: what a user should know about it beside what it tells itself.
            rows_missed: rows that lost samples cost; None where nobody has counted them.
        """
        missing = sum(segment.missing for segment in recording.segments)
        return cls(
            name=recording.source,
            digest=recording.digest,
            samples=recording.samples - missing,
            duration=recording.duration,
            effort_topic=recording.effort_topic,
            effort_delay=recording.effort_delay,
            warnings=(*recording_warnings([recording], [rows_missed]), *warnings),
            bridged=missing,
            rows_missed=rows_missed or 0,
        )


def refuse_double(recordings: Iterable[Recording]) -> None:
    """Refuse recordings of which one would count twice; parts of the same one are several.

    Args:
        recordings: to be fitted or predicted together.

    Raises:
        SettingError: two have samples of the same source in common.
    """
    seen: list[Recording] = []
    for one in recordings:
        for other in seen:
            if not share_samples(one, other):
                continue
            whole = one.samples == other.samples
            same = "" if other.source == one.source else f"; it is the same as {other.source}"
            told = "recording would count twice" if whole else "part shares samples with another"
            advice = "name it once" if whole else "they would count twice; take parts apart"
            raise SettingError("recordings", one.source, f"this {told}{same}; {advice}")
        seen.append(one)


def share_samples(one: Recording, other: Recording) -> bool:
    """Return whether two recordings have samples of the same source in common.

    Several topics of a bag are one source, so that the samples are compared.  A live recording,
    which has no digest, may be that of a bag; two live ones are told apart by those who name them.
    """
    digests = {one.digest, other.digest} - {""}
    if len(digests) != 1:
        return False
    later = 1e-9 * (other.start_stamp - one.start_stamp)
    slack = 0.5 * min(one.period, other.period)
    return any(
        _alike(a, b, later, slack)
        for a in one.segments
        for b in other.segments
        if len(a.time) and len(b.time)
    )


def _alike(a: Segment, b: Segment, later: float, slack: float) -> bool:
    """Return whether two segments have samples, where they overlap, and these are the same."""
    first = max(float(a.time[0]), float(b.time[0]) + later) - slack
    i, j = int(np.searchsorted(a.time, first)), int(np.searchsorted(b.time, first - later))
    count = min(len(a.time) - i, len(b.time) - j)
    if count < 1 or abs(float(a.time[i]) - float(b.time[j]) - later) > slack:
        return False
    return all(
        np.array_equal(of_a[i : i + count], of_b[j : j + count])
        for of_a, of_b in ((a.position, b.position), (a.effort, b.effort))
    )


def source_entries(source: Source) -> dict[str, object]:
    """Return the plain data of a recording that a result was made from."""
    told: dict[str, object] = {
        "effort_topic": source.effort_topic,
        "effort_delay": source.effort_delay,
        "bridged": source.bridged,
        "rows_missed": source.rows_missed,
    }
    return {
        "name": source.name,
        "digest": source.digest,
        "samples": source.samples,
        "duration": source.duration,
        **{key: value for key, value in told.items() if value},
        "warnings": list(source.warnings),
    }
