"""Factors and bands of rows that keep coming, whose size does not grow."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.identification.rows.bands import BLOCK, BandGrams
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.groups import GroupedRows, merged
from robot_identification.identification.rows.whole import FactorStream, band_stream
from robot_identification.robot.arrays import Array
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel

# Parts in time of which the factors are kept apart, at most, and instants of the first ones.
_MOST_PARTS, _INSTANTS = 40, 8


@dataclass(frozen=True)
class _Part:
    """The factors of rows that follow each other in time.

    Attributes:
        factors: one per joint.
        instants: number of instants.
        begin: time of the first one, in s.
        end: time of the last one, in s.
    """

    factors: tuple[JointFactor, ...]
    instants: int
    begin: float
    end: float


class StreamedRows:
    """Factors and bands of all rows so far, whose size does not grow.

    Args:
        robot: the robot.
        columns: columns of the full regressor that the base parameters belong to.
        apart: whether parts in time are kept apart too, for :meth:`groups`.
    """

    def __init__(
        self, robot: RobotModel, columns: npt.NDArray[np.intp], *, apart: bool = False
    ) -> None:
        refuse_loops(robot, "an estimate that follows a recording")
        self._factors = FactorStream(robot, columns)
        self._bands = band_stream(robot, columns)
        self._rows = np.zeros((self._bands.entries, BLOCK))
        self._kept = np.zeros((len(robot.joints), BLOCK), dtype=np.bool_)
        self._filled = 0
        self._parts: list[_Part] = []  # those before the one that is being filled
        self._length = _INSTANTS if apart else sys.maxsize  # of a part
        self._instants = 0  # in the part that is being filled
        self._begin, self._end = 0.0, 0.0  # of that part
        self._count = 0

    @property
    def count(self) -> int:
        """Number of rows so far, of all joints."""
        return self._count

    def take(self, rows: Array, kept: npt.NDArray[np.bool_], times: Array) -> None:
        """Take in rows that follow those before.

        Args:
            rows: (compact rows, instants) regressor and effort.
            kept: (joints, instants) which of them count.
            times: (instants,) in s.
        """
        self._fold(rows, kept, times)
        first = 0
        while first < rows.shape[1]:
            count = min(rows.shape[1] - first, BLOCK - self._filled)
            place = slice(self._filled, self._filled + count)
            self._rows[:, place] = rows[:, first : first + count]
            self._kept[:, place] = kept[:, first : first + count]
            self._filled += count
            first += count
            if self._filled == BLOCK:
                self.interrupt()

    def _fold(self, rows: Array, kept: npt.NDArray[np.bool_], times: Array) -> None:
        self._count += int(np.count_nonzero(kept))
        first = 0
        while first < rows.shape[1]:
            count = min(rows.shape[1] - first, self._length - self._instants)
            place = slice(first, first + count)
            self._factors.add(rows[:, place], kept[:, place])
            if not self._instants:
                self._begin = float(times[first])
            self._instants, self._end = self._instants + count, float(times[first + count - 1])
            first += count
            if self._instants == self._length:
                self._close()

    def _close(self) -> None:
        """Begin another part; where there are too many, two and two become one."""
        self._parts.append(self._open_part())
        self._factors.forget()
        self._instants = 0
        if len(self._parts) == _MOST_PARTS:
            pairs = zip(self._parts[::2], self._parts[1::2], strict=True)
            self._parts = [_joined(pair) for pair in pairs]
            self._length *= 2

    def _open_part(self) -> _Part:
        return _Part(self._factors.factors(), self._instants, self._begin, self._end)

    def interrupt(self) -> None:
        """Say that the rows that follow do not continue those before."""
        if self._filled:
            self._bands.add(*self._waiting())
            self._filled = 0

    def groups(self, count: int, *, bands: bool = True) -> tuple[tuple[str, ...], GroupedRows]:
        """Return the rows so far in groups of about the same length that follow each other.

        Args:
            count: number of groups; there are fewer where there are hardly any rows.
            bands: whether the bands of all rows come with them.

        Returns:
            From when to when each of them is, and the rows.
        """
        parts = self._all_parts()
        ends = np.cumsum([part.instants for part in parts])
        wanted = ends[-1] * np.arange(1, count) / count
        cuts = np.unique([0, *(1 + np.abs(ends[:, None] - wanted).argmin(axis=0)), len(parts)])
        groups = [_joined(parts[begin:end]) for begin, end in itertools.pairwise(cuts)]
        names = tuple(f"{group.begin:.1f} to {group.end:.1f} s" for group in groups)
        grams = (self._grams(),) if bands else ()
        return names, GroupedRows(tuple(group.factors for group in groups), grams)

    def _all_parts(self) -> list[_Part]:
        return [*self._parts, *([self._open_part()] if self._instants else [])]

    def _grams(self) -> BandGrams:
        """Return the Gram matrices of the bands of all rows so far."""
        return self._bands.with_rows(*self._waiting()).grams()

    def _waiting(self) -> tuple[Array, npt.NDArray[np.bool_]]:
        return self._rows[:, : self._filled], self._kept[:, : self._filled]


def _joined(parts: Sequence[_Part]) -> _Part:
    return _Part(
        factors=merged([part.factors for part in parts]),
        instants=sum(part.instants for part in parts),
        begin=parts[0].begin,
        end=parts[-1].end,
    )
