"""Rows that are kept apart: those of every bag, or those of the blocks of a single one.

Each group has triangular factors of its own.  Those of all groups merge into the factors of
everything, so that weights between bags can change, and bags be left out, without a second pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.ahead import sensible_threads
from robot_identification.identification.bands import BandGrams, BandStream
from robot_identification.identification.base import BaseParameters
from robot_identification.identification.factor import JointFactor, merge, scaled
from robot_identification.identification.stream import (
    SHARES,
    FactorStream,
    RowBlock,
    band_stream,
    each_block,
)
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array
from robot_identification.signals.decimation import Window
from robot_identification.signals.processing import Processing
from robot_identification.signals.samples import FilteredSegment

Scheme = Literal["bags", "blocks"]
Bands = Literal["none", "together", "apart"]
Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]  # (outputs,) the group of every decimated row
# Given the number of a segment, a window of it, its rows and which count; may change the efforts.
Change = Callable[[int, Window, Array, Flags], None]
Progress = Callable[[float], None]
Cancelled = Callable[[], bool]

BLOCKS = 5


@by_value
@dataclass(frozen=True)
class Division:
    """Which rows of which segments belong together.

    Attributes:
        scheme: ``bags`` or ``blocks``.
        names: (groups,) of the bags, or the times of the blocks.
        bags: (segments,) number of the bag that a segment comes from.
        places: for each segment (outputs,) the group of every decimated row.
    """

    scheme: Scheme
    names: tuple[str, ...]
    bags: tuple[int, ...]
    places: tuple[npt.NDArray[np.intp], ...]


def divide(
    names: Sequence[str],
    bags: Sequence[Sequence[FilteredSegment]],
    processing: Processing,
    *,
    blocks: bool = True,
) -> Division:
    """Return a group for every bag, or five blocks of a single bag that follow each other.

    Args:
        names: names of the bags.
        bags: the segments of each.
        processing: says how many rows they have after decimation.
        blocks: whether a single bag is cut into blocks; otherwise it is a group like any other.
    """
    outputs = [
        [processing.decimator(s.period).output_count(s.samples) for s in segments]
        for segments in bags
    ]
    numbers = tuple(bag for bag, counts in enumerate(outputs) for _ in counts)
    if len(bags) != 1 or not blocks:
        places = [
            np.broadcast_to(np.intp(bag), count) for bag, own in enumerate(outputs) for count in own
        ]
        return Division("bags", tuple(names), numbers, tuple(places))
    ends = np.cumsum(outputs[0])
    every = np.arange(ends[-1]) * BLOCKS // ends[-1]
    places = np.split(every.astype(np.intp), ends[:-1])
    return Division("blocks", _block_names(bags[0], places, processing), numbers, tuple(places))


def _block_names(
    segments: Sequence[FilteredSegment],
    places: Sequence[npt.NDArray[np.intp]],
    processing: Processing,
) -> tuple[str, ...]:
    times = np.concatenate(
        [s.time[processing.decimator(s.period).kept(s.samples)] for s in segments]
    )
    groups = np.concatenate(places)
    names = []
    for block in range(BLOCKS):
        own = times[groups == block]
        names.append(f"{own[0]:.1f} to {own[-1]:.1f} s" if len(own) else "no rows")
    return tuple(names)


@dataclass(frozen=True)
class GroupedRows:
    """What is kept of the rows of every group.

    Attributes:
        factors: for each group one factor per joint.
        bands: Gram matrices of all rows, or of each group's alone; empty where not asked for.
    """

    factors: tuple[tuple[JointFactor, ...], ...]
    bands: tuple[BandGrams, ...]

    def merged(self, scales: Array | None = None) -> tuple[JointFactor, ...]:
        """Return one factor per joint, of the rows of all groups.

        Args:
            scales: (groups, joints) factor on the rows; 1 by default.
        """
        return merged(self.factors, scales)


def merged(
    groups: Sequence[Sequence[JointFactor]], scales: Array | None = None
) -> tuple[JointFactor, ...]:
    """Return one factor per joint, of the rows of all groups.

    Args:
        groups: for each group one factor per joint.
        scales: (groups, joints) factor on the rows; 1 by default.
    """
    if scales is not None:
        groups = [
            [scaled(factor, float(s)) for factor, s in zip(own, row, strict=True)]
            for own, row in zip(groups, scales, strict=True)
        ]
    if len(groups) == 1:
        return tuple(groups[0])
    return tuple(merge(own) for own in zip(*groups, strict=True))


def fold_groups(
    base: BaseParameters,
    segments: Sequence[FilteredSegment],
    division: Division,
    processing: Processing,
    *,
    change: Change | None = None,
    bands: Bands = "together",
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> GroupedRows:
    """Fold the rows of all segments into the factors of their groups.

    Args:
        base: base parameters, whose columns the rows have.
        segments: of all bags, in their order.
        division: which rows belong together.
        processing: settings of the signal processing.
        change: changes the efforts of rows before they are folded.
        bands: whether Gram matrices of bands are kept of all rows together, of every group apart
            (some megabytes each), or not at all.
        progress: told the fraction that is done, in any thread.
        cancelled: asked now and then whether to stop, in any thread.

    Raises:
        CancelledError: if ``cancelled`` says so.
    """
    robot, columns = base.robot, base.base_columns
    regressor = Regressor(robot, columns, spare=1)
    groups = len(division.names)
    streams = [FactorStream(robot, columns, processing) for _ in range(groups)]
    number_of_bands = {"none": 0, "together": 1, "apart": groups}[bands]
    grams = [band_stream(robot, columns) for _ in range(number_of_bands)]
    total, done = sum(len(own) for own in division.places), 0
    for number, (segment, places) in enumerate(zip(segments, division.places, strict=True)):

        def tell(block: RowBlock, done: int = done) -> None:
            if progress is not None:
                progress((done + block.window.last_output) / total)

        uses = [*_uses(streams, grams, bands, places), tell]
        if change is not None:  # before anything else is done with the rows
            uses = [partial(_one_after_the_other, [partial(_change, change, number), *uses])]
        threads = sensible_threads(len(segment.time))
        each_block(regressor, segment, processing, uses, cancelled=cancelled, threads=threads)
        done += len(places)
    return GroupedRows(
        factors=tuple(stream.factors() for stream in streams),
        bands=tuple(stream.grams() for stream in grams),
    )


def _uses(
    streams: Sequence[FactorStream], grams: Sequence[BandStream], bands: Bands, places: Places
) -> list[Callable[[RowBlock], None]]:
    """Return what is done with the blocks of a segment, independently of each other."""

    def fold(share: int, block: RowBlock) -> None:
        for group, part in _parts(block, places):
            streams[group].add_share(share, block.rows[:, part], block.kept[:, part])

    def add(block: RowBlock) -> None:
        for group, part in _parts(block, places):
            grams[group].add(block.rows[:, part], block.kept[:, part])

    uses: list[Callable[[RowBlock], None]] = [partial(fold, share) for share in range(SHARES)]
    if bands == "together":
        uses.append(lambda block: grams[0].add(block.rows, block.kept))
    elif bands == "apart":
        uses.append(add)
    return uses


def _parts(block: RowBlock, places: Places) -> Iterator[tuple[int, slice]]:
    """Yield the groups that a block has rows of, and where these are."""
    own = places[block.window.outputs]
    for group in np.unique(own):
        yield int(group), slice(*np.searchsorted(own, [group, group + 1]))


def _change(change: Change, number: int, block: RowBlock) -> None:
    change(number, block.window, block.rows, block.kept)


def _one_after_the_other(uses: Sequence[Callable[[RowBlock], None]], block: RowBlock) -> None:
    for use in uses:
        use(block)


def without(
    segments: Sequence[FilteredSegment], division: Division, group: int, processing: Processing
) -> list[FilteredSegment]:
    """Return segments without the samples of a group."""
    parts = []
    for segment, places in zip(segments, division.places, strict=True):
        other = places != group
        if other.all():
            parts.append(segment)
            continue
        kept = processing.decimator(segment.period).kept(segment.samples)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], other.astype(np.int8), [0]])))
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            begin = 0 if first == 0 else int(kept[first - 1]) + 1
            parts.append(segment.part(slice(begin, int(kept[last - 1]) + 1)))
    return parts
