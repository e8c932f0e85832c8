"""Checks of MCAP files: are they whole, and do they carry checksums?

An MCAP file is a magic number, records of one byte of kind and eight bytes of length each, and the
magic number again (https://mcap.dev/spec).  Messages lie in chunks; a chunk may carry a CRC-32 of
its uncompressed records, without which a flipped bit goes unnoticed.  The record that ends the data
section may carry one of all bytes before it, the footer one of the summary and of itself.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from robot_identification.storage.mcap_chunks import CHUNK, chunk_problem

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
    """What a look at the records of a file says.

    Attributes:
        problem: why the file is damaged; empty where it is whole.
        chunks: number of chunks.
        unchecked: number of chunks without checksum.
    """

    problem: str
    chunks: int
    unchecked: int


def examine(path: Path) -> McapState:
    """Look at the records of a file, without reading the messages.

    Checksums of the data section and of the summary are compared where the file has them; those
    of the chunks are left to the reader of the messages.  Packed chunks are unpacked once, piece by
    piece, and must give what they and the index say.

    Raises:
        OSError: if the file cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return McapState("not an MCAP file" if size else "the file is empty", 0, 0)
        found = list(whole_records(file, size))
        chunks = [first for kind, first, _ in found if kind == CHUNK]
        unchecked = sum(_checksum_at(file, first + _CHUNK_CRC) == 0 for first in chunks)
        end = found[-1][2] if found else len(_MAGIC)
        file.seek(end)
        if file.read(len(_MAGIC) + 1) != _MAGIC:
            problem = (
                f"truncated: the recording broke off after {end} of {size} bytes; "
                f"`mcap recover {path.name}` saves what is whole"
            )
        else:
            problem = _misplaced(file, found) or _mismatch(file, found)
            problem = problem or chunk_problem(file, found)
    return McapState(problem, len(chunks), unchecked)


def _misplaced(file: BinaryIO, found: Sequence[Record]) -> str:
    """Return that footer or summary are not where readers look for them; empty where they are."""
    kind, first, last = found[-1] if found else (0, 0, 0)
    if kind != FOOTER or last - first != _FOOTER_CRC + _CRC.size:
        return "its last record is not a footer"
    file.seek(first)
    (place,) = _PLACE.unpack(file.read(_PLACE.size))
    if place not in (0, _summary_begin(found)):
        return f"the footer names byte {place} as that of the summary, which is elsewhere"
    return ""


def _mismatch(file: BinaryIO, found: Sequence[Record]) -> str:
    """Return which checksum outside of the chunks is wrong; empty where none is."""
    for kind, first, last in found:
        if kind == DATA_END and last - first >= _CRC.size:
            # Writers differ in whether the magic number and the header belong to the section.
            begins = [0, len(_MAGIC), *(end for other, _, end in found[:1] if other == HEADER)]
            stated, before = _checksum_at(file, first), first - _RECORD.size
            if stated and stated not in (_checksum_of(file, begin, before) for begin in begins):
                return "checksum mismatch in the data section: the file was changed or damaged"
        if kind == FOOTER and last - first >= _FOOTER_CRC + _CRC.size:
            place = first + _FOOTER_CRC
            stated = _checksum_at(file, place)
            if stated and stated != _checksum_of(file, _summary_begin(found), place):
                return "checksum mismatch in the summary: the file was changed or damaged"
    return ""


def _summary_begin(found: Sequence[Record]) -> int:
    """Return the place behind the data section, where the summary begins."""
    return next((last for kind, _, last in found if kind == DATA_END), len(_MAGIC))


def whole_records(file: BinaryIO, size: int) -> Iterator[Record]:
    """Yield kind, first byte and byte behind the last one of every record that is all there."""
    place = len(_MAGIC)
    while place + _RECORD.size <= size - len(_MAGIC):
        file.seek(place)
        kind, length = _RECORD.unpack(file.read(_RECORD.size))
        first = place + _RECORD.size
        place = first + length
        if place > size:
            break
        yield kind, first, place


def add_checksums(path: Path) -> None:
    """Give uncompressed chunks, data section and summary of a file their checksums.

    Raises:
        OSError: if the file cannot be changed.
    """
    size = path.stat().st_size
    with path.open("r+b") as file:
        found = list(whole_records(file, size))
        for kind, first, last in found:
            if kind == CHUNK:
                _check_chunk(file, first, last)
        for kind, first, _ in found:
            if kind == DATA_END:
                _put_checksum(file, first, _checksum_of(file, 0, first - _RECORD.size))
            elif kind == FOOTER:
                place = first + _FOOTER_CRC
                _put_checksum(file, place, _checksum_of(file, _summary_begin(found), place))


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


def _checksum_of(file: BinaryIO, begin: int, end: int) -> int:
    """Return the CRC-32 of a part of a file."""
    file.seek(begin)
    checksum, left = 0, end - begin
    while left > 0 and (block := file.read(min(left, _BLOCK))):
        checksum = zlib.crc32(block, checksum)
        left -= len(block)
    return checksum
