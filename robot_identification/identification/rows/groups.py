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

from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.rows.bands import BandGrams
from robot_identification.identification.rows.factor import JointFactor, merge, scaled
from robot_identification.identification.rows.whole import (
    SHARES,
    FactorStream,
    RowBlock,
    band_stream,
)
from robot_identification.robot.arrays import Array, by_value
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.complete import Processing

Scheme = Literal["bags", "blocks"]
Bands = Literal["none", "together", "apart"]
Places = npt.NDArray[np.intp]  # (outputs,) the group of every decimated row
Use = Callable[[int, RowBlock], None]  # given the number of a segment and a block of its rows

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
    count: int = BLOCKS,
) -> Division:
    """Return a group for every bag, or blocks of a single bag that follow each other.

    Args:
        names: names of the bags.
        bags: the segments of each.
        processing: says how many rows they have after decimation.
        blocks: whether a single bag is cut into blocks; otherwise it is a group like any other.
        count: number of blocks.
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
    every = np.arange(ends[-1]) * count // ends[-1]
    places = np.split(every.astype(np.intp), ends[:-1])
    return Division(
        "blocks", _block_names(bags[0], places, processing, count), numbers, tuple(places)
    )


def _block_names(
    segments: Sequence[FilteredSegment],
    places: Sequence[npt.NDArray[np.intp]],
    processing: Processing,
    count: int,
) -> tuple[str, ...]:
    times = np.concatenate(
        [s.time[processing.decimator(s.period).kept(s.samples)] for s in segments]
    )
    groups = np.concatenate(places)
    names = []
    for block in range(count):
        own = times[groups == block]
        names.append(f"{own[0]:.1f} to {own[-1]:.1f} s" if len(own) else "no rows")
    return tuple(names)


@dataclass(frozen=True)
class GroupedRows:
    """Factors and bands of the rows of every group.

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


class GroupStreams:
    """Factors and bands of the groups of a division, growing with every block of rows.

    Args:
        base: base parameters, whose columns the rows have.
        division: which rows belong together.
        bands: whether Gram matrices of bands are kept of all rows together, of every group apart
            (some megabytes each), or not at all.
    """

    def __init__(self, base: BaseParameters, division: Division, bands: Bands) -> None:
        robot, columns, groups = base.robot, base.base_columns, len(division.names)
        number_of_bands = {"none": 0, "together": 1, "apart": groups}[bands]
        self._division, self._bands = division, bands
        self._streams = [FactorStream(robot, columns) for _ in range(groups)]
        self._grams = [band_stream(robot, columns) for _ in range(number_of_bands)]

    @property
    def uses(self) -> list[Use]:
        """Work on the blocks, independently of each other."""
        own: dict[Bands, list[Use]] = {
            "none": [],
            "together": [lambda _, block: self._grams[0].add(block.rows, block.kept)],
            "apart": [self._add],
        }
        return [*(partial(self._fold, share) for share in range(SHARES)), *own[self._bands]]

    def _fold(self, share: int, segment: int, block: RowBlock) -> None:
        for group, part in _parts(block, self._division.places[segment]):
            self._streams[group].add_share(share, block.rows[:, part], block.kept[:, part])

    def _add(self, segment: int, block: RowBlock) -> None:
        for group, part in _parts(block, self._division.places[segment]):
            self._grams[group].add(block.rows[:, part], block.kept[:, part])

    def rows(self) -> GroupedRows:
        """Return everything taken in so far."""
        return GroupedRows(
            factors=tuple(stream.factors() for stream in self._streams),
            bands=tuple(stream.grams() for stream in self._grams),
        )


def _parts(block: RowBlock, places: Places) -> Iterator[tuple[int, slice]]:
    """Yield the groups that a block has rows of, and where these are."""
    own = places[block.window.outputs]
    for group in np.unique(own):
        yield int(group), slice(*np.searchsorted(own, [group, group + 1]))


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
