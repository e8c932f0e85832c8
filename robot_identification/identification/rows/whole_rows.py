"""Rows of whole recordings, cut into windows: the rows that can be gone over again.

Whatever looks at rows, to fold them, predict their efforts or limit them, is a use of
:meth:`WholeRows.each_block`: which rows there are, what decimation makes of them and which are left
out is decided here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import CancelledError
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.rows.groups import (
    BLOCKS,
    Bands,
    Division,
    GroupedRows,
    GroupStreams,
    Scheme,
    Use,
    divide,
)
from robot_identification.identification.rows.source import RowSource, without_samples
from robot_identification.identification.rows.threads import sensible_threads
from robot_identification.identification.rows.whole import RowBlock, each_block
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.processing import Divisor
from robot_identification.signals.filtered import FilteredSegment, filter_recording
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.recording import Recording
from robot_identification.signals.rows import rows_missed
from robot_identification.signals.temperature import require_temperatures

Progress = Callable[[str, float], None]
Cancelled = Callable[[], bool]


@by_value
@dataclass(frozen=True)
class WholeRows:
    """Rows of filtered recordings, cut into windows; they can be gone over again.

    Attributes:
        base: base parameters.
        segments: of all bags, in their order.
        division: groups of their rows.
        bags: names of the bags.
        processing: settings of the signal processing.
        noise: (bags, joints) standard deviations of the rows, where they are known beforehand.
        progress: told the fraction of a pass that is done, in any thread.
        cancelled: asked now and then whether to stop, in any thread.
        threads: threads that are busy; None: as many as pay.  What is made of the rows is the same
            to the last bit, whatever their number.
    """

    base: BaseParameters
    segments: Sequence[FilteredSegment]
    division: Division
    bags: tuple[str, ...]
    processing: Processing
    noise: Array | None = None
    progress: Callable[[float], None] | None = None
    cancelled: Cancelled | None = None
    threads: int | None = None

    @classmethod
    def of(
        cls,
        base: BaseParameters,
        recordings: Sequence[Recording],
        processing: Processing,
        report: Progress | None = None,
        cancelled: Cancelled | None = None,
        *,
        blocks: bool = True,
    ) -> WholeRows:
        """Return the rows of recordings.

        Args:
            base: base parameters.
            recordings: joint states on the joint side.
            processing: settings of the signal processing.
            report: told the stage and the fraction that is done.
            cancelled: asked now and then whether to stop.
            blocks: whether a single recording is cut into blocks, for cross-validation.

        Raises:
            RecordingError: a recording is too short.
            MissingSignalError: it lacks a temperature that friction depends on.
            CancelledError: if ``cancelled`` says so.
        """
        tell = report or silent
        require_temperatures(base.robot, recordings)
        own = list(_filtered(recordings, processing, tell, cancelled))
        bags = tuple(recording.source for recording in recordings)
        source = cls.of_segments(base, bags, own, processing, blocks=blocks)
        return replace(
            source, progress=lambda fraction: tell("regressor", fraction), cancelled=cancelled
        )

    @classmethod
    def of_segments(
        cls,
        base: BaseParameters,
        bags: Sequence[str],
        segments: Sequence[Sequence[FilteredSegment]],
        processing: Processing,
        *,
        blocks: bool = True,
        count: int = BLOCKS,
    ) -> WholeRows:
        """Return the rows of filtered samples.

        Args:
            base: base parameters.
            bags: names of the bags.
            segments: those of every bag.
            processing: settings of the signal processing.
            blocks: as for :meth:`of`.
            count: number of blocks.
        """
        return cls(
            base=base,
            segments=[segment for own in segments for segment in own],
            division=divide(bags, segments, processing, blocks=blocks, count=count),
            bags=tuple(bags),
            processing=processing,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters."""
        return self.base.names

    @property
    def divisor(self) -> Divisor:
        """Divisor of the squared residual that gives its variance."""
        return self.processing.residual_divisor

    @property
    def scheme(self) -> Scheme:
        """Whether groups are bags, or blocks of a single one."""
        return self.division.scheme

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""
        return self.division.names

    @cached_property
    def regressor(self) -> Regressor:
        """Regressor of the base parameters, with a place for the effort of every joint."""
        return Regressor(self.base.robot, self.base.base_columns, spare=1)

    def rows(self, bands: Bands, change: Use | None = None) -> GroupedRows:
        """Go over the samples and return the rows of all groups.

        Args:
            bands: which Gram matrices of bands to keep.
            change: changes the efforts of rows before they are folded.

        Raises:
            CancelledError: if the caller wants to stop.
        """
        groups = GroupStreams(self.base, self.division, bands)
        uses = groups.uses
        self.each_block(uses if change is None else [_one_after_the_other([change, *uses])])
        return groups.rows()

    def each_block(self, uses: Sequence[Use], regressor: Regressor | None = None) -> None:
        """Go over the samples and hand every block of decimated rows to every use.

        Args:
            uses: each takes the number of a segment and a block of its rows, one at a time in
                their order, in any thread; different ones work at the same time.  The rows are
                overwritten when all uses have returned.
            regressor: made with one spare row per joint; by default that of the base parameters.

        Raises:
            CancelledError: if the caller wants to stop.
        """
        total, done = sum(len(own) for own in self.division.places), 0
        for number, (segment, own) in enumerate(
            zip(self.segments, self.division.places, strict=True)
        ):

            def tell(block: RowBlock, done: int = done) -> None:
                if self.progress is not None:
                    self.progress((done + block.window.last_output) / total)

            each_block(
                regressor or self.regressor,
                segment,
                self.processing,
                [*(partial(use, number) for use in uses), tell],
                cancelled=self.cancelled,
                threads=self.threads or sensible_threads(segment.samples),
            )
            done += len(own)

    def missed(self) -> list[int]:
        """Return for each bag how many rows lost samples cost."""
        found = [0] * len(self.bags)
        for segment, bag in zip(self.segments, self.division.bags, strict=True):
            found[bag] += rows_missed(self.base.robot, [segment], self.processing)
        return found

    def times(self) -> list[Array]:
        """Return for each bag the (rows,) times in s since its first stamp."""
        times: list[list[Array]] = [[] for _ in self.bags]
        for segment, bag in zip(self.segments, self.division.bags, strict=True):
            kept = self.processing.decimator(segment.period).kept(segment.samples)
            times[bag].append(segment.time[kept])
        return [np.concatenate(own) for own in times]


def _one_after_the_other(uses: Sequence[Use]) -> Use:
    def use(segment: int, block: RowBlock) -> None:
        for one in uses:
            one(segment, block)

    return use


def samples_behind(source: RowSource, what: str) -> WholeRows:
    """Return a source as one that can be gone over again.

    Args:
        source: the source.
        what: name of what goes over the samples.

    Raises:
        SettingError: the samples are not kept.
    """
    if isinstance(source, WholeRows):
        return source
    raise without_samples(what)


def _filtered(
    recordings: Sequence[Recording],
    processing: Processing,
    report: Progress,
    cancelled: Cancelled | None,
) -> Iterator[tuple[FilteredSegment, ...]]:
    """Give out the filtered segments of one recording after the other."""
    for done, recording in enumerate(recordings):
        if cancelled is not None and cancelled():
            raise CancelledError(f"cancelled after {done} of {len(recordings)} recordings")
        report("filter", done / len(recordings))
        yield filter_recording(recording, processing)


def silent(_stage: str, _fraction: float) -> None:
    """Report to nobody."""
