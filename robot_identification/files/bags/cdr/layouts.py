"""Layouts of serialised messages that begin with a stamp and names of joints.

Messages of the same layout lie joined in memory like rows of a table, and their stamps and numbers
are read by one NumPy view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.files.bags.cdr.values import (
    LITTLE_ENDIAN,
    MOST_PADDING,
    NANOSECONDS,
    Cursor,
    LayoutError,
)

STAMP = slice(4, 12)

Table = npt.NDArray[np.uint8]
"""(messages, bytes) of messages of one layout."""


@dataclass(frozen=True)
class StampedLayout:
    """Layout of a serialised message that begins with a stamp; others add where numbers are.

    Attributes:
        names: names of the joints.
        fixed: (pieces, 2) first byte and byte behind the last one of every piece that all
            messages of the layout share: names, frame and lengths.
        end: place behind the last byte.
    """

    names: tuple[str, ...]
    fixed: tuple[tuple[int, int], ...]
    end: int

    def check_end(self, size: int) -> None:
        """Refuse messages that go on behind the last array.

        Args:
            size: bytes of each message.

        Raises:
            LayoutError: if there are more than the padding of a middleware.
        """
        if size > self.end + MOST_PADDING:
            raise LayoutError(f"{size - self.end} bytes follow the last array")

    def matches(self, table: Table) -> npt.NDArray[np.bool_]:
        """Tell which messages have the layout of the first one.

        Args:
            table: (messages, bytes) messages, the first of this layout.
        """
        same = np.ones(len(table), dtype=np.bool_)
        for first, last in self.fixed:
            equal = table[:, first:last] == table[0, first:last]
            if not equal.all():  # quicker than row by row, and the rule
                same &= equal.all(axis=1)
        return same

    def stamps(self, table: Table) -> npt.NDArray[np.int64]:
        """Return (messages,) stamps in ns.

        Raises:
            LayoutError: if one has a second or more of nanoseconds.
        """
        stamps = np.ascontiguousarray(table[:, STAMP])
        result: npt.NDArray[np.int64] = stamps[:, :4].copy().view("<i4")[:, 0].astype(np.int64)
        fractions = stamps[:, 4:].copy().view("<u4")[:, 0]
        if (fractions >= NANOSECONDS).any():
            raise LayoutError(f"a stamp has {fractions.max()} nanoseconds, a second or more")
        result *= NANOSECONDS
        result += fractions
        return result


def begin(message: bytes) -> tuple[Cursor, list[tuple[int, int]], tuple[str, ...]]:
    """Return a cursor behind header and names of joints, what is fixed up to there, and the names.

    Raises:
        LayoutError: the message does not begin like that, in little-endian CDR.
    """
    if message[:2] != LITTLE_ENDIAN:
        raise LayoutError(f"serialised as {message[:2].hex() or 'nothing'}, not little-endian CDR")
    cursor = Cursor(message)
    fixed = [(0, 2)]
    cursor.place = STAMP.stop
    if cursor.place > len(message):
        raise LayoutError("the message ends within its stamp")
    shared_text(cursor, fixed)
    return cursor, fixed, shared_texts(cursor, fixed, "names")


def merged(pieces: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return pieces with those made one that follow each other without a gap."""
    merged = [pieces[0]]
    for first, last in pieces[1:]:
        if first == merged[-1][1]:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def shared_texts(cursor: Cursor, fixed: list[tuple[int, int]], what: str) -> tuple[str, ...]:
    """Return the texts of an array that all messages of a layout share, and step over them.

    Args:
        cursor: before the array.
        fixed: what messages share, to which the array is added.
        what: what they are, for the error.

    Raises:
        LayoutError: the message ends before their end.
    """
    cursor.align(4)
    first = cursor.place
    count = cursor.elements(4, what)
    fixed.append((first, cursor.place))
    return tuple(shared_text(cursor, fixed) for _ in range(count))


def shared_text(cursor: Cursor, fixed: list[tuple[int, int]]) -> str:
    """Return a text that all messages of a layout share, and step over it."""
    cursor.align(4)
    first = cursor.place
    text = cursor.text()
    fixed.append((first, cursor.place))
    return text
