"""Warnings of a result: recordings, rank, weights and deviations."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from robot_identification.identification.estimators.least_squares import Estimate
from robot_identification.identification.statistics.trust import (
    WEAK_BELOW,
    Reliability,
    verdicts_of,
)
from robot_identification.signals.recording import Recording, RecordingStatistics

NO_CHECKSUMS = "SQLite has no checksums: damage cannot be noticed; record MCAP with CRC"
_MOST_FILES = 3
_POOR_CONDITION = 100.0
_COLOURED = 1.5


def recording_warnings(
    recordings: Sequence[Recording], rows_missed: Sequence[int | None] = ()
) -> tuple[str, ...]:
    """Return a line for every recording that lost samples or came in disorder.

    Args:
        recordings: the recordings.
        rows_missed: for each of them how many rows lost samples cost; by default nobody knows.
    """
    lines: list[str] = []
    for recording, missed in itertools.zip_longest(recordings, rows_missed):
        lines.extend(recording.warnings)
        lines.extend(statistics_warnings(recording.source, recording.statistics, missed))
    return storage_last(lines)


def storage_last(lines: Iterable[str]) -> tuple[str, ...]:
    """Return warnings with that about files without checksums once, at the end.

    It says nothing about what is in the recordings, and must not hide what does.

    Args:
        lines: warnings; those that end with ``NO_CHECKSUMS`` become one.
    """
    told = list(lines)
    files = [line.removesuffix(f": {NO_CHECKSUMS}") for line in told if NO_CHECKSUMS in line]
    found = [line for line in told if NO_CHECKSUMS not in line]
    if files:
        more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
        found.append(f"{', '.join(files[:_MOST_FILES])}{more}: {NO_CHECKSUMS}")
    return tuple(found)


def statistics_warnings(
    source: str, statistics: RecordingStatistics, rows_missed: int | None = None
) -> tuple[str, ...]:
    """Return a line for every disorder of the samples of a recording.

    Args:
        source: where it came from.
        statistics: of the recording.
        rows_missed: how many rows lost samples cost; None where nobody knows.
    """
    lines: list[str] = []
    if statistics.strays:
        lines.append(
            f"{source}: {sum(statistics.strays)} positions went off the way of their joint and "
            "came back at once; their samples count as lost"
        )
    if statistics.bridged:
        cost = "" if rows_missed is None else f"; {rows_missed} rows were left out for it"
        lines.append(
            f"{source}: {statistics.bridged} lost samples bridged, in gaps of at most "
            f"{statistics.longest_bridged:.2g} s, as the band of the motion allows: positions by "
            f"splines, efforts not at all{cost}"
        )
    split, lost = statistics.gaps - statistics.pauses, statistics.lost - statistics.bridged
    if split > 0 and lost > 0:
        lines.append(
            f"{source}: {lost} samples lost in {split} gaps; the recording was split there"
        )
    if statistics.pauses:
        number = "a pause" if statistics.pauses == 1 else f"{statistics.pauses} pauses"
        lines.append(
            f"{source}: {number} of {statistics.paused:.3g} s in all, in which the robot stood or "
            "nothing was recorded; the recording was split there"
        )
    if statistics.resampled:
        lines.append(
            f"{source}: the sampling period varies by {100.0 * statistics.jitter:.2g} %; "
            "resampled to a constant one"
        )
    return tuple(lines)


def warnings_of(names: tuple[str, ...], estimate: Estimate) -> tuple[str, ...]:
    """Return what a user should know before trusting the numbers."""
    lines = []
    if estimate.freedom <= 0:
        lines.append(
            f"no more rows than parameters ({sum(estimate.rows)} rows): they go through every row, "
            "and nothing tells how far off they are, whatever std says: record longer, or raise "
            "the rate"
        )
        return tuple(lines)
    used = zip(names, verdicts_of(estimate), estimate.values, strict=True)
    unknown = Reliability.NOT_IDENTIFIED
    doubtful = [name for name, verdict, v in used if v != 0.0 and verdict is unknown]
    if doubtful:
        lines.append(
            f"{len(doubtful)} of {len(names)} parameters have a standard deviation above "
            f"{100.0 * WEAK_BELOW:g} % and cannot be trusted alone: {', '.join(doubtful)}"
        )
    if estimate.scaled_condition_number > _POOR_CONDITION:
        lines.append(
            f"condition number {estimate.scaled_condition_number:.3g} with scaled columns: "
            "a motion optimised for excitation would give better parameters"
        )
    known = estimate.std > 0.0
    if estimate.std_robust is None:
        lines.append(
            "there is no std_robust, as the rows are not at hand; std takes the residuals for white"
        )
    elif known.any():
        ratio = float(np.median(estimate.std_robust[known] / estimate.std[known]))
        if ratio > _COLOURED:
            lines.append(
                f"the residuals are coloured: std_robust is {ratio:.1f} times std in the median, "
                "and is the one to judge by"
            )
    return tuple(lines)
