"""sensor_msgs/JointState in its serialised form, many messages at a time.

The layout of a serialised message (CDR, little endian) follows from the names of its joints and
the lengths of its arrays.  Messages of the same layout lie joined in memory like rows of a table,
and their stamps and numbers are read by one NumPy view.

    representation (4 bytes), stamp (int32 s, uint32 ns), frame_id, name[], position[], velocity[],
    effort[]

Lengths are uint32; numbers are aligned to their size, counted from behind the representation.

control_msgs/JointTrajectoryControllerState begins alike: behind the names come position, velocity
and acceleration that the controller is to have.  What follows them differs between its versions.
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
    Writing,
)
from robot_identification.robot.model import Array

MESSAGE_TYPE = "sensor_msgs/msg/JointState"
CONTROLLER_STATE = "control_msgs/msg/JointTrajectoryControllerState"
ARRAYS = ("position", "velocity", "effort")
_STAMP = slice(4, 12)

Table = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Layout:
    """Layout of a serialised message.

    Attributes:
        names: names of the joints.
        counts: numbers in position, velocity and effort.
        offsets: places of their first numbers.
        fixed: (pieces, 2) first byte and byte behind the last one of every piece that all
            messages of the layout share: names, frame and lengths.
        end: place behind the last byte.
    """

    names: tuple[str, ...]
    counts: tuple[int, int, int]
    offsets: tuple[int, int, int]
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
        stamps = np.ascontiguousarray(table[:, _STAMP])
        result: npt.NDArray[np.int64] = stamps[:, :4].copy().view("<i4")[:, 0].astype(np.int64)
        fractions = stamps[:, 4:].copy().view("<u4")[:, 0]
        if (fractions >= NANOSECONDS).any():
            raise LayoutError(f"a stamp has {fractions.max()} nanoseconds, a second or more")
        result *= NANOSECONDS
        result += fractions
        return result

    def numbers(self, table: Table, array: str) -> Array:
        """Return (messages, numbers) of ``position``, ``velocity`` or ``effort``."""
        index = ARRAYS.index(array)
        first, count = self.offsets[index], self.counts[index]
        part = np.ascontiguousarray(table[:, first : first + 8 * count])
        return part.view("<f8").reshape(len(table), count).astype(np.float64, copy=False)


def layout_of(message: bytes) -> Layout:
    """Return the layout of a serialised message.

    Raises:
        LayoutError: if it is not a JointState in little-endian CDR.
    """
    if message[:2] != LITTLE_ENDIAN:
        raise LayoutError(f"serialised as {message[:2].hex() or 'nothing'}, not little-endian CDR")
    cursor = Cursor(message)
    fixed = [(0, 2)]

    def share(first: int) -> None:
        fixed.append((first, cursor.place))

    cursor.place = _STAMP.stop
    if cursor.place > len(message):
        raise LayoutError("the message ends within its stamp")
    _shared_text(cursor, fixed)
    cursor.align(4)
    first = cursor.place
    count = cursor.elements(4, "names")
    share(first)
    names = tuple(_shared_text(cursor, fixed) for _ in range(count))
    places = []
    for _ in ARRAYS:
        cursor.align(4)
        fixed.append((cursor.place, cursor.place + 4))
        places.append(cursor.place_of_numbers())
    return Layout(
        names=names,
        counts=(places[0][1], places[1][1], places[2][1]),
        offsets=(places[0][0], places[1][0], places[2][0]),
        fixed=_merged(fixed),
        end=cursor.place,
    )


def _merged(pieces: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return pieces with those made one that follow each other without a gap."""
    merged = [pieces[0]]
    for first, last in pieces[1:]:
        if first == merged[-1][1]:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def _shared_text(cursor: Cursor, fixed: list[tuple[int, int]]) -> str:
    cursor.align(4)
    first = cursor.place
    text = cursor.text()
    fixed.append((first, cursor.place))
    return text


def encode(
    stamps: npt.NDArray[np.int64],
    names: tuple[str, ...],
    position: Array,
    velocity: Array | None = None,
    effort: Array | None = None,
) -> Table:
    """Serialise messages of one layout.

    Args:
        stamps: (messages,) stamps in ns.
        names: names of the joints.
        position: (messages, joints).
        velocity: (messages, joints); None leaves the array empty.
        effort: (messages, joints); None leaves the array empty.

    Returns:
        (messages, bytes), one row per message.
    """
    arrays = (position, velocity, effort)
    template = _template(names, tuple(0 if array is None else len(names) for array in arrays))
    layout = layout_of(template)
    table = np.tile(np.frombuffer(template, dtype=np.uint8), (len(stamps), 1))
    seconds, nanoseconds = np.divmod(np.asarray(stamps, dtype=np.int64), NANOSECONDS)
    table[:, 4:8] = seconds.astype("<i4")[:, None].view(np.uint8)
    table[:, 8:12] = nanoseconds.astype("<u4")[:, None].view(np.uint8)
    for first, array in zip(layout.offsets, arrays, strict=True):
        if array is not None and array.size:
            numbers = np.ascontiguousarray(array, dtype="<f8").view(np.uint8)
            table[:, first : first + numbers.shape[1]] = numbers
    return table


def _template(names: tuple[str, ...], counts: tuple[int, ...]) -> bytes:
    """Return a message with stamp and numbers of zero."""
    writing = Writing()
    writing.nanoseconds(0)
    writing.text("")
    writing.length(len(names))
    for name in names:
        writing.text(name)
    for count in counts:
        writing.numbers(np.zeros(count))
    return writing.message()
