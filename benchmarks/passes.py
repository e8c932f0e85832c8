"""One pass over filtered samples: the rows of the pipeline, in one group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.complete import Processing


def pass_over(
    base: BaseParameters,
    segments: Sequence[FilteredSegment],
    processing: Processing,
    threads: int = 1,
) -> WholeRows:
    """Return the rows of filtered samples, to be gone over by a number of threads."""
    source = WholeRows.of_segments(base, ("samples",), [segments], processing, blocks=False)
    return replace(source, threads=threads)


def factors_of(
    base: BaseParameters,
    segments: Sequence[FilteredSegment],
    processing: Processing,
    threads: int = 1,
) -> tuple[JointFactor, ...]:
    """Return one factor per joint of filtered samples."""
    return pass_over(base, segments, processing, threads).rows("none").merged()
