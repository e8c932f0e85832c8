"""Checks of MCAP files: are they whole, and do they carry checksums?

An MCAP file is a magic number, records of one byte of kind and eight bytes of length each, and the
magic number again (https://mcap.dev/spec).  Messages lie in chunks; a chunk may carry a CRC-32 of
its uncompressed records, without which a flipped bit goes unnoticed.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_MAGIC = b"\x89MCAP0\r\n"
_HEADER = struct.Struct("<BQ")
_CHUNK_RECORD = 6
_CRC_PLACE = 24  # behind two times and the uncompressed size, eight bytes each
_CRC_SIZE = 4


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

    Raises:
        OSError: if the file cannot be read.
    """
    size = path.stat().st_size
    chunks = unchecked = 0
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return McapState("not an MCAP file" if size else "the file is empty", 0, 0)
        end = file.tell()
        for kind, first, last in _records(file, size):
            if last > size:
                break
            end = last
            if kind == _CHUNK_RECORD:
                chunks += 1
                file.seek(first + _CRC_PLACE)
                unchecked += file.read(_CRC_SIZE) == bytes(_CRC_SIZE)
        file.seek(end)
        rest = file.read(len(_MAGIC) + 1)
    problem = ""
    if rest != _MAGIC:
        problem = (
            f"truncated: the recording broke off after {end} of {size} bytes; "
            f"`mcap recover {path.name}` saves what is whole"
        )
    return McapState(problem, chunks, unchecked)


def _records(file: BinaryIO, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield kind, first byte and byte behind the last one of every record."""
    place = len(_MAGIC)
    while place + _HEADER.size <= size - len(_MAGIC):
        file.seek(place)
        kind, length = _HEADER.unpack(file.read(_HEADER.size))
        first = place + _HEADER.size
        place = first + length
        yield kind, first, place


def add_checksums(path: Path) -> None:
    """Give every uncompressed chunk of a file that has none its checksum.

    Raises:
        OSError: if the file cannot be changed.
    """
    size = path.stat().st_size
    with path.open("r+b") as file:
        chunks = [part for part in _records(file, size) if part[0] == _CHUNK_RECORD]
        for _, first, last in chunks:
            file.seek(first + _CRC_PLACE + _CRC_SIZE)
            (name_length,) = struct.unpack("<I", file.read(4))
            if name_length:  # the name of a compression
                continue
            file.seek(8, os.SEEK_CUR)
            checksum = zlib.crc32(file.read(last - file.tell()))
            file.seek(first + _CRC_PLACE)
            file.write(struct.pack("<I", checksum))
