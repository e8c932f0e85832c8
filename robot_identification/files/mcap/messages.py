"""Messages of indexed MCAP files, a chunk at a time, in the order in which they were recorded.

Chunks follow each other in time, but may overlap where several publishers wrote.  They are opened
by the time of their first message; what is earlier than all that is still closed can be handed
over.  Messages of one time come in the order of the file.  No more is in memory than the chunks
that overlap.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_identification.errors import BagError
from robot_identification.files.mcap.chunks import ChunkPlace, chunk_records
from robot_identification.files.mcap.kernels import message_places
from robot_identification.files.mcap.message_batches import MessageBatch, joined

_SHORTEST = 31  # bytes of a record with an empty message
_CHANNELS = 1 << 16
_LATEST = np.iinfo(np.int64).max


def indexed_messages(
    path: Path, chunks: Sequence[ChunkPlace], channels: Collection[int]
) -> Iterator[MessageBatch]:
    """Yield the messages of some channels in the order of their times.

    Args:
        path: the file.
        chunks: those that may hold such messages.
        channels: numbers of the channels.

    Raises:
        BagError: a chunk is damaged.
        OSError, EOFError, RuntimeError, ZstdError: it cannot be read or unpacked.
    """
    wanted = np.zeros(_CHANNELS, dtype=np.bool_)
    wanted[list(channels)] = True
    if not chunks:
        return
    chunks = sorted(chunks)
    begins = [min(chunk.begin, _LATEST) for chunk in chunks[1:]]
    opened: list[tuple[int, MessageBatch]] = []
    with path.open("rb") as file:
        for chunk, until in zip(chunks, [*begins, None], strict=True):
            batch = _messages(path, chunk, chunk_records(path, file, chunk), wanted)
            insort(opened, (chunk.place, batch), key=lambda pair: pair[0])
            earlier, opened = _divided(opened, until)
            if earlier:
                yield joined(earlier).in_order_of_time()


def load_compiled_code() -> None:
    """Have the compiled walk over records loaded, or compiled where it never was."""
    _messages(Path(), ChunkPlace(0, 0, 0, "", 0, 0), b"", np.zeros(_CHANNELS, dtype=np.bool_))


def _divided(
    opened: Sequence[tuple[int, MessageBatch]], until: int | None
) -> tuple[list[MessageBatch], list[tuple[int, MessageBatch]]]:
    """Return the messages of open chunks before a time, and what is left of the chunks."""
    earlier, rest = [], []
    for place, batch in opened:
        size = len(batch) if until is None else int(np.searchsorted(batch.times, until))
        if size:
            earlier.append(batch.part(slice(size)))
        if size < len(batch):
            rest.append((place, batch.part(slice(size, None))))
    return earlier, rest


def _messages(
    path: Path, chunk: ChunkPlace, records: bytes, wanted: npt.NDArray[np.bool_]
) -> MessageBatch:
    """Return the messages of a chunk by their times."""
    buffer = np.frombuffer(records, dtype=np.uint8)
    most = len(records) // _SHORTEST
    times = np.empty(most, dtype=np.uint64)
    firsts, lengths = np.empty((2, most), dtype=np.int64)
    begin, end = np.uint64(chunk.begin), np.uint64(chunk.end)
    found, damaged = message_places(buffer, wanted, begin, end, times, firsts, lengths)
    if damaged >= 0:
        raise BagError(
            path, f"the chunk at byte {chunk.place} is damaged: a record of it is not whole"
        )
    if found and times[:found].max() > _LATEST:
        raise BagError(path, f"the chunk at byte {chunk.place} has a message of no possible time")
    return MessageBatch(
        times[:found].astype(np.int64), buffer, firsts[:found].copy(), lengths[:found].copy()
    ).in_order_of_time()
