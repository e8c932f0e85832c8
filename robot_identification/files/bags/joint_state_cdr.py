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

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.robot.model import Array

MESSAGE_TYPE = "sensor_msgs/msg/JointState"
CONTROLLER_STATE = "control_msgs/msg/JointTrajectoryControllerState"
LITTLE_ENDIAN = b"\x00\x01"
ARRAYS = ("position", "velocity", "effort")
_BODY = 4
_STAMP = slice(4, 12)
_NANOSECONDS = 1_000_000_000
_MOST_PADDING = 3  # middlewares fill up to a multiple of four bytes

Table = npt.NDArray[np.uint8]


class LayoutError(ValueError):
    """Bytes are not a serialised JointState."""


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
        if size > self.end + _MOST_PADDING:
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
        if (fractions >= _NANOSECONDS).any():
            raise LayoutError(f"a stamp has {fractions.max()} nanoseconds, a second or more")
        result *= _NANOSECONDS
        result += fractions
        return result


@dataclass(frozen=True)
class Layout(StampedLayout):
    """Layout of a serialised JointState.

    Attributes:
        counts: numbers in position, velocity and effort.
        offsets: places of their first numbers.
    """

    counts: tuple[int, int, int]
    offsets: tuple[int, int, int]

    def has(self, signal: str) -> bool:
        """Tell whether there are numbers of a signal."""
        return signal in ARRAYS and self.counts[ARRAYS.index(signal)] > 0

    def numbers(self, table: Table, array: str) -> Array:
        """Return (messages, numbers) of ``position``, ``velocity`` or ``effort``."""
        index = ARRAYS.index(array)
        first, count = self.offsets[index], self.counts[index]
        part = np.ascontiguousarray(table[:, first : first + 8 * count])
        return part.view("<f8").reshape(len(table), count).astype(np.float64, copy=False)


class Cursor:
    """Reads a message from its beginning, piece by piece.

    Attributes:
        message: the bytes.
        place: of what comes next.
    """

    def __init__(self, message: bytes) -> None:
        self.message = message
        self.place = _BODY

    def align(self, size: int) -> None:
        """Step to a multiple of a size."""
        self.place += -(self.place - _BODY) % size

    def length(self) -> int:
        """Return a length, and step over it."""
        self.align(4)
        if self.place + 4 > len(self.message):
            raise LayoutError("the message ends before a length")
        (value,) = struct.unpack_from("<I", self.message, self.place)
        self.place += 4
        return int(value)

    def text(self) -> str:
        """Return a text, and step over it."""
        size = self.length()
        if self.place + size > len(self.message):
            raise LayoutError("the message ends within a text")
        raw = self.message[self.place : self.place + size]
        self.place += size
        try:
            return raw.rstrip(b"\x00").decode("utf-8")
        except UnicodeDecodeError as error:
            raise LayoutError("a text is not UTF-8") from error

    def numbers(self) -> tuple[int, int]:
        """Return place and count of an array of float64, and step over it."""
        count = self.length()
        if count:
            self.align(8)
        first = self.place
        self.place += 8 * count
        if self.place > len(self.message):
            raise LayoutError(f"the message ends within an array of {count} numbers")
        return first, count


def begin(message: bytes) -> tuple[Cursor, list[tuple[int, int]], tuple[str, ...]]:
    """Return a cursor behind header and names of joints, what is fixed up to there, and the names.

    Raises:
        LayoutError: the message does not begin like that, in little-endian CDR.
    """
    if message[:2] != LITTLE_ENDIAN:
        raise LayoutError(f"serialised as {message[:2].hex() or 'nothing'}, not little-endian CDR")
    cursor = Cursor(message)
    fixed = [(0, 2)]
    cursor.place = _STAMP.stop
    if cursor.place > len(message):
        raise LayoutError("the message ends within its stamp")
    shared_text(cursor, fixed)
    return cursor, fixed, shared_texts(cursor, fixed)


def layout_of(message: bytes) -> Layout:
    """Return the layout of a serialised message.

    Raises:
        LayoutError: if it is not a JointState in little-endian CDR.
    """
    cursor, fixed, names = begin(message)
    places = []
    for _ in ARRAYS:
        cursor.align(4)
        fixed.append((cursor.place, cursor.place + 4))
        places.append(cursor.numbers())
    return Layout(
        names=names,
        counts=(places[0][1], places[1][1], places[2][1]),
        offsets=(places[0][0], places[1][0], places[2][0]),
        fixed=merged(fixed),
        end=cursor.place,
    )


def merged(pieces: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return pieces with those made one that follow each other without a gap."""
    merged = [pieces[0]]
    for first, last in pieces[1:]:
        if first == merged[-1][1]:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def shared_texts(cursor: Cursor, fixed: list[tuple[int, int]]) -> tuple[str, ...]:
    """Return the texts of an array that all messages of a layout share, and step over them.

    Raises:
        LayoutError: the message ends before their end.
    """
    cursor.align(4)
    first = cursor.place
    count = cursor.length()
    fixed.append((first, cursor.place))
    if 4 * count > len(cursor.message):
        raise LayoutError(f"{count} names in a message of {len(cursor.message)} bytes")
    return tuple(shared_text(cursor, fixed) for _ in range(count))


def shared_text(cursor: Cursor, fixed: list[tuple[int, int]]) -> str:
    """Return a text that all messages of a layout share, and step over it."""
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
    seconds, nanoseconds = np.divmod(np.asarray(stamps, dtype=np.int64), _NANOSECONDS)
    table[:, 4:8] = seconds.astype("<i4")[:, None].view(np.uint8)
    table[:, 8:12] = nanoseconds.astype("<u4")[:, None].view(np.uint8)
    for first, array in zip(layout.offsets, arrays, strict=True):
        if array is not None and array.size:
            numbers = np.ascontiguousarray(array, dtype="<f8").view(np.uint8)
            table[:, first : first + numbers.shape[1]] = numbers
    return table


def _template(names: tuple[str, ...], counts: tuple[int, ...]) -> bytes:
    """Return a message with stamp and numbers of zero."""
    message = bytearray(LITTLE_ENDIAN + b"\x00\x00" + bytes(8))

    def align(size: int) -> None:
        message.extend(bytes(-(len(message) - _BODY) % size))

    def text(value: str) -> None:
        align(4)
        raw = value.encode("utf-8") + b"\x00"
        message.extend(struct.pack("<I", len(raw)) + raw)

    text("")
    align(4)
    message.extend(struct.pack("<I", len(names)))
    for name in names:
        text(name)
    for count in counts:
        align(4)
        message.extend(struct.pack("<I", count))
        if count:
            align(8)
            message.extend(bytes(8 * count))
    return bytes(message)
