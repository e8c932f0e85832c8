"""The newest rows, white by what came before them, segment by segment."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from robot_identification.calibration.running_payload.innovations import Innovations
from robot_identification.calibration.running_payload.knowledge import Knowledge
from robot_identification.calibration.running_payload.noise import (
    NoiseState,
    ResidualNoise,
    whitened,
)
from robot_identification.calibration.running_payload.rows import Segment
from robot_identification.calibration.running_payload.unknowns import Unknowns
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.parameters import LINK_PARAMETERS

SEGMENT = 5
"""Rows of a segment: between two decisions."""
WINDOW = 6
"""Segments that are seen before they are believed."""
NO_LOAD = read_only(np.zeros(LINK_PARAMETERS))
"""Standard parameters of no payload."""


class RowWindow:
    """Segments that are seen one by one before they are believed.

    Args:
        noise: of the rows.
        unknowns: order of the unknowns.
        row_period: time between two rows in s, by which friction warms up from the beginning of
            the oldest segment on; 0: the rows hold it already.
    """

    def __init__(self, noise: ResidualNoise, unknowns: Unknowns, row_period: float = 0.0) -> None:
        self.noise = noise
        self._unknowns, self._row_period = unknowns, row_period
        self._entries = unknowns.count + 1
        self.restart()

    def restart(self) -> None:
        """Forget all segments; the next one begins anew."""
        self.segments: deque[Segment] = deque()
        self._skipped = 0
        self._state = NoiseState.fresh(self.noise, self._entries)

    def add(self, segment: Segment) -> None:
        """Take in the newest segment."""
        if self._skipped:
            kept = segment.kept.copy()
            kept[: self._skipped] = False
            segment, self._skipped = replace(segment, kept=kept), 0
        self.segments.append(segment)

    def keep_from(self, first: int, skipped: int = 0) -> None:
        """Forget the segments before one, and begin anew with that one.

        Args:
            first: number of the segment.
            skipped: rows at its beginning that do not count, be it there or still to come.
        """
        kept = list(self.segments)[first:]
        self.restart()
        self._skipped = skipped
        for segment in kept:
            self.add(segment)

    def oldest(self, load: Array) -> Array:
        """Take out the oldest segment, and return its (rows, entries) white rows that count.

        Args:
            load: (10,) standard parameters of the payload that friction follows.
        """
        segment = self.segments.popleft()
        white, self._state = whitened(
            self.noise, self._state, self._completed(segment, load), segment.kept, segment.begins
        )
        return np.asarray(white[segment.kept])

    @property
    def counting(self) -> int:
        """Number of rows that count."""
        return sum(segment.counting for segment in self.segments)

    def white(self, load: Array, doubt: float = 0.0) -> Array:
        """Return the (rows, entries) white rows that count.

        Args:
            load: (10,) standard parameters of the payload that friction and doubts follow.
            doubt: share of the payload's efforts by which each row may be off.
        """
        return doubted(self._whitened(load, changes=False)[0], load, doubt)

    def innovations(
        self, known: Knowledge, load: Array = NO_LOAD, *, bare: bool = False, doubt: float = 0.0
    ) -> Innovations:
        """Return the innovations of all rows.

        Args:
            known: what is known without them.
            load: (10,) standard parameters of the payload that friction and doubts follow.
            bare: whether it is known that nothing is carried before a change.
            doubt: share by which the efforts of each joint for the payload may be others than
                those of the model, in all rows alike and in each by itself.
        """
        rows, changes = self._whitened(load, changes=True)
        if bare:
            rows[:, :LINK_PARAMETERS] = 0.0
        joints = np.concatenate([np.nonzero(segment.kept)[1] for segment in self.segments])
        carried = rows[:, :LINK_PARAMETERS] @ load
        doubts = doubt * carried[:, None] * (joints[:, None] == np.unique(joints))
        weights = _weights(carried, doubt)
        return Innovations.of(known, weights * rows, weights * changes, weights * doubts)

    def _whitened(self, load: Array, *, changes: bool) -> tuple[Array, Array]:
        """Return the white rows that count, and what the payload of each segment adds to them."""
        whole = Segment.joined(self.segments)
        further = LINK_PARAMETERS * len(self.segments) if changes else 0
        rows = np.zeros((*whole.rows.shape[:2], self._entries + further))
        rows[:, :, : self._entries] = self._completed(whole, load)
        first = 0
        for k in range(len(self.segments) if changes else 0):
            own = slice(first, first + len(self.segments[k].stamps))
            place = self._entries + LINK_PARAMETERS * k
            rows[own, :, place : place + LINK_PARAMETERS] = whole.rows[own, :, :LINK_PARAMETERS]
            first = own.stop
        white, _ = whitened(self.noise, self._state.beside(further), rows, whole.kept, whole.begins)
        counting = white[whole.kept]
        return counting[:, : self._entries], counting[:, self._entries :]

    def _completed(self, segment: Segment, load: Array) -> Array:
        """Return the rows of the oldest segments with what load and warming add to them."""
        rows = segment.rows
        if load.any():
            rows = self._unknowns.loaded(rows, segment.slopes, load)
        if not self._row_period:
            return rows
        seconds = self._row_period * np.arange(0.5, len(rows), dtype=np.float64)
        return self._unknowns.warmed(rows, seconds)


def doubted(rows: Array, load: Array, doubt: float) -> Array:
    """Return rows that are less certain by a share of the payload's efforts.

    Args:
        rows: (rows, entries) white ones.
        load: (10,) standard parameters of the payload.
        doubt: share of its efforts by which each row may be off.
    """
    if not doubt or not load.any():
        return rows
    return rows * _weights(rows[:, :LINK_PARAMETERS] @ load, doubt)


def _weights(carried: Array, doubt: float) -> Array:
    """Return the (rows, 1) weights of rows that a payload's (rows,) efforts make less certain."""
    return np.asarray(1.0 / np.hypot(1.0, doubt * carried))[:, None]
