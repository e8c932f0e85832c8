"""Chunks of MCAP files: what they unpack to, and whether it is what they say.

Of a chunk that unpacks to more than it says, readers notice that only when all of it is in memory:
some kilobytes may stand for gigabytes.  Readers find chunks by an index, which must say the same.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from io import SEEK_CUR, BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from robot_identification.errors import BagError, MissingPackageError
from robot_identification.files.cancelling import Cancelled, give_up_if, until_cancelled

# rosbags brings both.  Without it rosbag2 unpacks, no chunk to more than the chunk says.
try:
    import lz4.frame as lz4
except ImportError:
    lz4 = None
try:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
except ImportError:
    zstd = None  # type: ignore[assignment]

_MODULES: Mapping[str, Any] = {"lz4": lz4, "zstd": zstd}
_PACKAGES = {"lz4": "lz4", "zstd": "backports.zstd"}
_BLOCK = 1 << 20


def is_packing(name: str) -> bool:
    """Tell whether data packed in that way can be unpacked."""
    return name in _MODULES


def _unpacker(packing: str) -> Any:
    """Return the module that unpacks data."""
    module = _MODULES[packing]
    if module is None:
        raise MissingPackageError(_PACKAGES[packing], "", f"unpacking {packing}")
    return module


def unpacked_size(
    packed: BinaryIO, packing: str, most: int, cancelled: Cancelled | None = None
) -> int:
    """Return how many bytes packed data unpack to.

    No more than a block beyond ``most`` is unpacked.

    Args:
        packed: where to read them from, to its end.
        packing: ``lz4`` or ``zstd``.
        most: what is too much.
        cancelled: asked at every block whether to give up.

    Returns:
        The number of bytes, or one larger than ``most``.

    Raises:
        OSError, EOFError, RuntimeError, ZstdError: the data are damaged.
        MissingPackageError: what unpacks them is not installed.
        CancelledError: ``cancelled`` says so.
    """
    total = 0
    with _unpacker(packing).open(packed) as unpacked:
        while total <= most and (block := unpacked.read(_BLOCK)):
            give_up_if(cancelled)
            total += len(block)
    return total


def unpacked(packed: bytes, packing: str) -> bytes:
    """Return what packed data unpack to; see :func:`unpacked_size` for how much that is.

    Args:
        packed: the data.
        packing: ``lz4`` or ``zstd``; empty for data that are not packed.

    Raises:
        ValueError: they are packed in another way.
        OSError, EOFError, RuntimeError, ZstdError: the data are damaged.
        MissingPackageError: what unpacks them is not installed.
    """
    if not packing:
        return packed
    if not is_packing(packing):
        raise ValueError(f"packed as {packing!r:.40}, neither lz4 nor zstd")
    return bytes(_unpacker(packing).decompress(packed))


CHUNK, CHUNK_INDEX = 6, 8  # kinds of records
MOST_BYTES = 1 << 28
_HEADER = 9  # of every record: kind and length
_CHUNK = struct.Struct("<QQQI")  # two times, unpacked size, checksum
_INDEX = struct.Struct("<QQQQ")  # two times, place and length of the chunk
_LENGTH, _SIZE, _SIZES = struct.Struct("<I"), struct.Struct("<Q"), struct.Struct("<QQ")


class _Chunk(NamedTuple):
    """Header of a chunk, or its entry in an index."""

    place: int
    packing: str
    packed: int
    unpacked: int


class ChunkPlace(NamedTuple):
    """Entry of the index of a file for a chunk.

    Attributes:
        begin: time of its first message, in ns.
        end: time of its last message.
        place: first byte of its record.
        packing: how its records are packed; empty where they are not.
        packed: number of its bytes in the file.
        size: number of its bytes, unpacked.
    """

    begin: int
    end: int
    place: int
    packing: str
    packed: int
    size: int


def chunk_records(path: Path, file: BinaryIO, chunk: ChunkPlace) -> bytes:
    """Return the unpacked records of a chunk, which have the size and the checksum that it says.

    Args:
        path: the file, for messages.
        file: the same, open.
        chunk: where it lies.

    Raises:
        BagError: it is truncated, damaged, or has another size than its index says.
        ValueError: it is packed in an unknown way.
        OSError, EOFError, RuntimeError, ZstdError: it cannot be read or unpacked.
        MissingPackageError: what unpacks it is not installed.
    """
    where = f"the chunk at byte {chunk.place}"
    file.seek(chunk.place + _HEADER)
    _, _, _, checksum = _CHUNK.unpack(file.read(_CHUNK.size))
    file.seek(_LENGTH.size + len(chunk.packing) + _SIZE.size, SEEK_CUR)
    packed = file.read(chunk.packed)
    if len(packed) != chunk.packed:
        raise BagError(path, f"{where} ends with the file: truncated")
    records = unpacked(packed, chunk.packing)
    if len(records) != chunk.size:
        raise BagError(path, f"{where} says that it has {chunk.size} bytes, and has {len(records)}")
    if checksum and zlib.crc32(records) != checksum:
        raise BagError(path, f"checksum mismatch in {where}: the file was changed or damaged")
    return records


def chunk_problem(
    file: BinaryIO, records: Iterable[tuple[int, int, int]], cancelled: Cancelled | None = None
) -> str:
    """Return why the chunks of a file must not be unpacked; empty where they may be.

    Args:
        file: the file.
        records: kind, first byte and byte behind the last one of every record.
        cancelled: asked now and then whether to give up.

    Raises:
        CancelledError: ``cancelled`` says so.
    """
    places = array("Q")  # of the chunks, in order: what they say is read again where it is needed
    for kind, first, last in until_cancelled(records, cancelled):
        if kind not in (CHUNK, CHUNK_INDEX):
            continue
        try:
            if kind == CHUNK:
                places.append(first)
                problem = _packing_problem(file, _chunk(file, first, last), cancelled)
                if problem:
                    return problem
                continue
            indexed = _indexed(file, first)
            if not _is_there(file, indexed, places):
                return f"the index says of the chunk at byte {indexed.place} what is not there"
        except (struct.error, UnicodeDecodeError):
            return f"the chunk or index at byte {first - _HEADER} is damaged"
    return ""


def _is_there(file: BinaryIO, indexed: _Chunk, places: array[int]) -> bool:
    """Tell whether a chunk says of itself what an index says of it."""
    first = indexed.place + _HEADER
    at = bisect_left(places, first)
    if at == len(places) or places[at] != first:
        return False
    file.seek(first - _SIZE.size)
    (length,) = _SIZE.unpack(file.read(_SIZE.size))
    return _chunk(file, first, first + length) == indexed


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
    file.seek(length + _SIZE.size, SEEK_CUR)  # places and length of the indexes of messages
    packing = _text(file)
    packed, unpacked = _SIZES.unpack(file.read(_SIZES.size))
    return _Chunk(place, packing, packed, unpacked)


def _text(file: BinaryIO) -> str:
    (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
    return file.read(min(length, 64)).decode("utf-8")


def _packing_problem(file: BinaryIO, chunk: _Chunk, cancelled: Cancelled | None) -> str:
    """Return why a chunk must not be unpacked; the file stands at its data."""
    if not is_packing(chunk.packing):
        return ""  # nothing to unpack, or refused by the reader
    where = f"the chunk at byte {chunk.place}"
    if max(chunk.unpacked, chunk.packed) > MOST_BYTES:
        return f"{where} unpacks to {chunk.unpacked} bytes, more than {MOST_BYTES}"
    if _MODULES[chunk.packing] is None:
        return ""
    packed = BytesIO(file.read(chunk.packed))
    found = unpacked_size(packed, chunk.packing, chunk.unpacked, cancelled)
    if found != chunk.unpacked:
        return f"{where} says that it unpacks to {chunk.unpacked} bytes, and does not"
    return ""
