"""Values of serialised messages, one behind the other.

    representation (4 bytes), then the fields of the message in their order

Lengths are uint32; numbers are aligned to their size, counted from behind the representation.
Common Data Representation, OMG DDSI-RTPS 2.5, section 10.
"""

from __future__ import annotations

import struct

import numpy as np

from robot_identification.robot.arrays import Array

LITTLE_ENDIAN, BIG_ENDIAN = b"\x00\x01", b"\x00\x00"
NANOSECONDS = 1_000_000_000
MOST_PADDING = 3  # middlewares fill up to a multiple of four bytes
BODY = 4


class LayoutError(ValueError):
    """Bytes are not a serialised message of the type."""


class Cursor:
    """Reads a message from its beginning, value by value.

    Args:
        message: the whole message.

    Raises:
        LayoutError: the representation is none of CDR, or, from every method, the message ends
            before the value.
    """

    def __init__(self, message: bytes) -> None:
        if message[:2] not in (LITTLE_ENDIAN, BIG_ENDIAN):
            raise LayoutError(f"serialised as {message[:2].hex() or 'nothing'}, not in CDR")
        self.message = message
        self.place = BODY
        self._order = "<" if message[:2] == LITTLE_ENDIAN else ">"

    def align(self, size: int) -> None:
        """Step to the next place for a value of a size in bytes."""
        self.place += -(self.place - BODY) % size

    def length(self) -> int:
        """Return a number of elements, or of bytes of a text (uint32)."""
        return int(self._number("I", 4, "a length"))

    def float64(self) -> float:
        """Return a number."""
        return float(self._number("d", 8, "a number"))

    def nanoseconds(self) -> int:
        """Return a time or a duration (int32 s, uint32 ns) in ns."""
        seconds = int(self._number("i", 4, "a time"))
        return seconds * NANOSECONDS + int(self._number("I", 4, "a time"))

    def text(self) -> str:
        """Return a text, without the zero byte behind it."""
        size = self.length()
        if self.place + size > len(self.message):
            raise LayoutError("the message ends within a text")
        raw = self.message[self.place : self.place + size]
        self.place += size
        try:
            return raw.rstrip(b"\x00").decode("utf-8")
        except UnicodeDecodeError as error:
            raise LayoutError("a text is not UTF-8") from error

    def elements(self, least: int, what: str) -> int:
        """Return the number of elements of a sequence.

        Args:
            least: bytes that each of them takes at least, so that no number is believed for which
                the message is too short.
            what: what they are, for the error.
        """
        count = self.length()
        if least * count > len(self.message):
            raise LayoutError(f"{count} {what} in a message of {len(self.message)} bytes")
        return count

    def place_of_numbers(self) -> tuple[int, int]:
        """Return place and count of an array of float64, and step over it."""
        count = self.length()
        if count:
            self.align(8)
        first = self.place
        self.place += 8 * count
        if self.place > len(self.message):
            raise LayoutError(f"the message ends within an array of {count} numbers")
        return first, count

    def numbers(self) -> Array:
        """Return an array of float64."""
        first, count = self.place_of_numbers()
        values = np.frombuffer(self.message, f"{self._order}f8", count, first if count else 0)
        return values.astype(np.float64)

    def check_end(self) -> None:
        """Refuse a message that goes on behind its last field, but for padding."""
        behind = len(self.message) - self.place
        if behind > MOST_PADDING:
            raise LayoutError(f"{behind} bytes follow the last field")

    def _number(self, kind: str, size: int, what: str) -> int | float:
        self.align(size)
        if self.place + size > len(self.message):
            raise LayoutError(f"the message ends before {what}")
        (value,) = struct.unpack_from(f"{self._order}{kind}", self.message, self.place)
        self.place += size
        return value  # type: ignore[no-any-return]


class Writing:
    """Writes a message, value by value, in little-endian CDR."""

    def __init__(self) -> None:
        self._bytes = bytearray(LITTLE_ENDIAN + b"\x00\x00")

    def length(self, count: int) -> None:
        """Write a number of elements."""
        self._number("<I", 4, count)

    def nanoseconds(self, moment: int) -> None:
        """Write a time or a duration that is given in ns."""
        seconds, fraction = divmod(moment, NANOSECONDS)
        self._number("<i", 4, seconds)
        self._number("<I", 4, fraction)

    def text(self, value: str) -> None:
        """Write a text and the zero byte behind it."""
        raw = value.encode("utf-8") + b"\x00"
        self.length(len(raw))
        self._bytes += raw

    def numbers(self, values: Array | None) -> None:
        """Write an array of float64; None is an empty one."""
        count = 0 if values is None else len(values)
        self.length(count)
        if count:
            self._align(8)
            self._bytes += np.asarray(values, dtype="<f8").tobytes()

    def message(self) -> bytes:
        """Return what was written."""
        return bytes(self._bytes)

    def _number(self, kind: str, size: int, value: int) -> None:
        self._align(size)
        self._bytes += struct.pack(kind, value)

    def _align(self, size: int) -> None:
        self._bytes += bytes(-(len(self._bytes) - BODY) % size)
