"""Checks of MCAP files: are they whole, and do they carry checksums?

An MCAP file is a magic number, records of one byte of kind and eight bytes of length each, and the
magic number again (https://mcap.dev/spec).  Messages lie in chunks; a chunk may carry a CRC-32 of
its uncompressed records, without which a flipped bit goes unnoticed.  The record that ends the data
section may carry one of all bytes before it, the footer one of the summary and of itself.

A file may hold a record for every nine bytes: none is kept but the few that a file has one of.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from robot_identification.files.cancelling import Cancelled, give_up_if, until_cancelled
from robot_identification.files.mcap.chunks import CHUNK, chunk_problem

_MAGIC = b"\x89MCAP0\r\n"
_RECORD = struct.Struct("<BQ")
_CRC = struct.Struct("<I")
_PLACE = struct.Struct("<Q")
HEADER, FOOTER, DATA_END = 1, 2, 15  # kinds of records
_CHUNK_CRC = 24  # behind two times and the uncompressed size, eight bytes each
_FOOTER_CRC = 16  # behind two places of eight bytes
_BLOCK = 1 << 20

Record = tuple[int, int, int]


@dataclass(frozen=True)
class McapState:
    """Outline of a file from its records.

    Attributes:
        problem: why the file is damaged; empty where it is whole.
        chunks: number of chunks.
        unchecked: number of chunks without checksum.
    """

    problem: str
    chunks: int
    unchecked: int


@dataclass
class _Outline:
    """Sums over all records of a file.

    Attributes:
        chunks: number of chunks.
        unchecked: number of chunks without checksum.
        first: the first record.
        data_end: the record that ends the data section.
        footer: the footer.
        last: the last record.
        twice: what must be there once and is there more often; empty where nothing is.
    """

    chunks: int = 0
    unchecked: int = 0
    first: Record | None = None
    data_end: Record | None = None
    footer: Record | None = None
    last: Record | None = None
    twice: str = ""

    @property
    def end(self) -> int:
        """Byte behind the last record."""
        return len(_MAGIC) if self.last is None else self.last[2]

    @property
    def summary_begin(self) -> int:
        """Byte behind the data section, where the summary begins."""
        return len(_MAGIC) if self.data_end is None else self.data_end[2]


def examine(path: Path, cancelled: Cancelled | None = None) -> McapState:
    """Look at the records of a file, without reading the messages.

    Checksums of the data section and of the summary are compared where the file has them; those
    of the chunks are left to the reader of the messages.  Packed chunks are unpacked once, piece by
    piece, and must give what they and the index say.

    Args:
        path: the file.
        cancelled: asked now and then whether to give up.

    Raises:
        OSError: if the file cannot be read.
        CancelledError: if ``cancelled`` says so.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return McapState("not an MCAP file" if size else "the file is empty", 0, 0)
        outline = _outline(file, size, cancelled)
        file.seek(outline.end)
        if (behind := file.read(len(_MAGIC) + 1)) != _MAGIC:
            zeros = "zeros follow, as after a power failure; " if behind and not any(behind) else ""
            problem = (
                f"truncated: the recording broke off after {outline.end} of {size} bytes; {zeros}"
                f"`mcap recover {path.name}` saves what is whole"
            )
        else:
            problem = (
                _misplaced(file, outline)
                or _mismatch(file, outline, cancelled)
                or chunk_problem(file, whole_records(file, size), cancelled)
            )
    return McapState(problem, outline.chunks, outline.unchecked)


def _outline(file: BinaryIO, size: int, cancelled: Cancelled | None) -> _Outline:
    outline = _Outline()
    for record in until_cancelled(whole_records(file, size), cancelled):
        kind, first, _ = record
        if kind == CHUNK:
            outline.chunks += 1
            outline.unchecked += _checksum_at(file, first + _CHUNK_CRC) == 0
        elif kind == DATA_END:
            outline.twice = outline.twice or ("end of its data" if outline.data_end else "")
            outline.data_end = outline.data_end or record
        elif kind == FOOTER:
            outline.twice = outline.twice or ("footer" if outline.footer else "")
            outline.footer = record
        outline.first = outline.first or record
        outline.last = record
    return outline


def _misplaced(file: BinaryIO, outline: _Outline) -> str:
    """Return that footer or summary are not where readers look for them; empty where they are."""
    kind, first, last = outline.last or (0, 0, 0)
    if kind != FOOTER or last - first != _FOOTER_CRC + _CRC.size:
        return "its last record is not a footer"
    if outline.twice:
        return f"it has more than one {outline.twice}"
    file.seek(first)
    (place,) = _PLACE.unpack(file.read(_PLACE.size))
    if place not in (0, outline.summary_begin):
        return f"the footer names byte {place} as that of the summary, which is elsewhere"
    return ""


def _mismatch(file: BinaryIO, outline: _Outline, cancelled: Cancelled | None) -> str:
    """Return which checksum outside of the chunks is wrong; empty where none is."""
    _, first, last = outline.data_end or (DATA_END, 0, 0)
    if last - first >= _CRC.size:
        # Writers differ in whether the magic number and the header belong to the section.
        begins = [0, len(_MAGIC)]
        if outline.first is not None and outline.first[0] == HEADER:
            begins.append(outline.first[2])
        stated, before = _checksum_at(file, first), first - _RECORD.size
        if stated and stated not in (
            _checksum_of(file, begin, before, cancelled) for begin in begins
        ):
            return "checksum mismatch in the data section: the file was changed or damaged"
    _, first, last = outline.footer or (FOOTER, 0, 0)
    if last - first >= _FOOTER_CRC + _CRC.size:
        place = first + _FOOTER_CRC
        stated = _checksum_at(file, place)
        if stated and stated != _checksum_of(file, outline.summary_begin, place, cancelled):
            return "checksum mismatch in the summary: the file was changed or damaged"
    return ""


def whole_records(file: BinaryIO, size: int) -> Iterator[Record]:
    """Yield kind, first byte and byte behind the last one of every record that is all there.

    No record is of kind 0: where zeros begin, the file ends.
    """
    place = len(_MAGIC)
    while place + _RECORD.size <= size - len(_MAGIC):
        file.seek(place)
        kind, length = _RECORD.unpack(file.read(_RECORD.size))
        first = place + _RECORD.size
        place = first + length
        if place > size or not kind:
            break
        yield kind, first, place


def add_checksums(path: Path) -> None:
    """Give uncompressed chunks, data section and summary of a file their checksums.

    Raises:
        OSError: if the file cannot be changed.
    """
    size = path.stat().st_size
    with path.open("r+b") as file:
        for kind, first, last in whole_records(file, size):
            if kind == CHUNK:
                _check_chunk(file, first, last)
        outline = _outline(file, size, None)
        if outline.data_end is not None:
            _, first, _ = outline.data_end
            _put_checksum(file, first, _checksum_of(file, 0, first - _RECORD.size))
        if outline.footer is not None:
            place = outline.footer[1] + _FOOTER_CRC
            _put_checksum(file, place, _checksum_of(file, outline.summary_begin, place))


def _check_chunk(file: BinaryIO, first: int, last: int) -> None:
    """Give a chunk its checksum if it is uncompressed."""
    file.seek(first + _CHUNK_CRC + _CRC.size)
    (name_length,) = struct.unpack("<I", file.read(4))
    if not name_length:  # the name of a compression
        begin = file.tell() + 8
        _put_checksum(file, first + _CHUNK_CRC, _checksum_of(file, begin, last))


def _checksum_at(file: BinaryIO, place: int) -> int:
    file.seek(place)
    raw = file.read(_CRC.size)
    return int(_CRC.unpack(raw)[0]) if len(raw) == _CRC.size else 0


def _put_checksum(file: BinaryIO, place: int, checksum: int) -> None:
    file.seek(place)
    file.write(_CRC.pack(checksum))


def _checksum_of(file: BinaryIO, begin: int, end: int, cancelled: Cancelled | None = None) -> int:
    """Return the CRC-32 of a part of a file."""
    file.seek(begin)
    checksum, left = 0, end - begin
    while left > 0 and (block := file.read(min(left, _BLOCK))):
        give_up_if(cancelled)
        checksum = zlib.crc32(block, checksum)
        left -= len(block)
    return checksum
