"""Chunks of MCAP files: what they unpack to, checked before a reader unpacks them into memory.

Of a chunk that unpacks to more than it says, readers notice that only when all of it is in memory:
some kilobytes may stand for gigabytes.  Readers find chunks by an index, which must say the same.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from io import BytesIO
from typing import BinaryIO, NamedTuple

from robot_identification.storage.unpacking import is_packing, unpacked_size

CHUNK, CHUNK_INDEX = 6, 8  # kinds of records
MOST_BYTES = 1 << 28
_HEADER = 9  # of every record: kind and length
_CHUNK = struct.Struct("<QQQI")  # two times, unpacked size, checksum
_INDEX = struct.Struct("<QQQQ")  # two times, place and length of the chunk
_LENGTH, _SIZE, _SIZES = struct.Struct("<I"), struct.Struct("<Q"), struct.Struct("<QQ")


class _Chunk(NamedTuple):
    """What a chunk says of itself, or an index of it."""

    place: int
    packing: str
    packed: int
    unpacked: int


def chunk_problem(file: BinaryIO, records: Iterable[tuple[int, int, int]]) -> str:
    """Return why the chunks of a file must not be unpacked; empty where they may be.

    Args:
        file: the file.
        records: kind, first byte and byte behind the last one of every record.
    """
    chunks = set()
    for kind, first, last in records:
        if kind not in (CHUNK, CHUNK_INDEX):
            continue
        try:
            described = _chunk(file, first, last) if kind == CHUNK else _indexed(file, first)
        except (struct.error, UnicodeDecodeError):
            return f"the chunk or index at byte {first - _HEADER} is damaged"
        if kind == CHUNK:
            chunks.add(described)
            problem = _packing_problem(file, described)
            if problem:
                return problem
        elif described not in chunks:
            return f"the index says of the chunk at byte {described.place} what is not there"
    return ""


def _chunk(file: BinaryIO, first: int, last: int) -> _Chunk:
    """Return what a chunk says of itself; the file then stands at its data."""
    file.seek(first)
    _, _, unpacked, _ = _CHUNK.unpack(file.read(_CHUNK.size))
    packing = _text(file)
    (packed,) = _SIZE.unpack(file.read(_SIZE.size))
    if file.tell() + packed > last:
        raise struct.error("the data go on behind the record")
    return _Chunk(first - _HEADER, packing, packed, unpacked)


def _indexed(file: BinaryIO, first: int) -> _Chunk:
    """Return what an index says of its chunk."""
    file.seek(first)
    _, _, place, _ = _INDEX.unpack(file.read(_INDEX.size))
    (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
    file.seek(length + _SIZE.size, 1)  # places and length of the indexes of messages
    packing = _text(file)
    packed, unpacked = _SIZES.unpack(file.read(_SIZES.size))
    return _Chunk(place, packing, packed, unpacked)


def _text(file: BinaryIO) -> str:
    (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
    return file.read(min(length, 64)).decode("utf-8")


def _packing_problem(file: BinaryIO, chunk: _Chunk) -> str:
    """Return why a chunk must not be unpacked; the file stands at its data."""
    if not is_packing(chunk.packing):
        return ""  # nothing to unpack, or refused by the reader
    where = f"the chunk at byte {chunk.place}"
    if max(chunk.unpacked, chunk.packed) > MOST_BYTES:
        return f"{where} unpacks to {chunk.unpacked} bytes, more than {MOST_BYTES}"
    found = unpacked_size(BytesIO(file.read(chunk.packed)), chunk.packing, chunk.unpacked)
    if found != chunk.unpacked:
        return f"{where} says that it unpacks to {chunk.unpacked} bytes, and does not"
    return ""
