"""Serialised messages, many at a time: where each lies in a buffer that they share.

MCAP files with an index are read chunk by chunk, everything else message by message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from robot_identification.files.mcap.chunks import ChunkPlace
from robot_identification.robot.arrays import by_value

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]


@by_value
@dataclass(frozen=True)
class MessageBatch:
    """Messages of a topic in one buffer, which may hold other things beside them.

    Attributes:
        times: (messages,) times of recording in ns.
        buffer: the bytes.
        firsts: (messages,) places of their first bytes in the buffer.
        lengths: (messages,) numbers of their bytes.
    """

    times: npt.NDArray[np.int64]
    buffer: Bytes
    firsts: Places
    lengths: Places

    def __len__(self) -> int:
        return len(self.times)

    def part(self, rows: slice | npt.NDArray[np.intp]) -> MessageBatch:
        """Return some of the messages, in the order asked for."""
        return MessageBatch(self.times[rows], self.buffer, self.firsts[rows], self.lengths[rows])

    def in_order_of_time(self) -> MessageBatch:
        """Return the messages by their times; those of one time keep their order."""
        if (self.times[1:] >= self.times[:-1]).all():
            return self
        return self.part(np.argsort(self.times, kind="stable"))

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield time and bytes of one message after another."""
        lasts = self.firsts + self.lengths
        for time, first, last in zip(
            self.times.tolist(), self.firsts.tolist(), lasts.tolist(), strict=True
        ):
            yield time, self.buffer[first:last].tobytes()

    def table(self, rows: npt.NDArray[np.intp]) -> Bytes:
        """Return (rows, bytes) messages of one length, one in each row.

        Where they lie evenly, as a recorder leaves them, nothing is copied.

        Args:
            rows: which messages, at least one.
        """
        firsts, length = self.firsts[rows], int(self.lengths[rows[0]])
        if not length:
            return np.empty((len(rows), 0), dtype=np.uint8)
        step = int(firsts[1] - firsts[0]) if len(rows) > 1 else 0
        if step >= 0 and (np.diff(firsts) == step).all():
            begin = self.buffer[int(firsts[0]) :]
            return as_strided(begin, (len(rows), length), (step, 1), writeable=False)
        table: Bytes = sliding_window_view(self.buffer, length)[firsts]
        return table


def batch_of(times: Sequence[int], messages: Sequence[bytes]) -> MessageBatch:
    """Return messages joined in memory.

    Raises:
        OverflowError: if a time does not fit 64 bits.
    """
    lengths = np.fromiter(map(len, messages), dtype=np.int64, count=len(messages))
    return MessageBatch(
        np.array(times, dtype=np.int64),
        np.frombuffer(b"".join(messages), dtype=np.uint8),
        np.cumsum(lengths) - lengths,
        lengths,
    )


def joined(batches: Sequence[MessageBatch]) -> MessageBatch:
    """Return the messages of several batches, which may be empty, one behind the other.

    Args:
        batches: at least one.
    """
    if len(batches) == 1:
        return batches[0]
    pieces, firsts, size = [], [], 0
    for batch in batches:
        if not len(batch):
            continue
        begin, end = int(batch.firsts.min()), int((batch.firsts + batch.lengths).max())
        pieces.append(batch.buffer[begin:end])
        firsts.append(batch.firsts + (size - begin))
        size += end - begin
    if not pieces:
        return batches[0]
    return MessageBatch(
        np.concatenate([batch.times for batch in batches]),
        np.concatenate(pieces),
        np.concatenate(firsts),
        np.concatenate([batch.lengths for batch in batches]),
    )


def grouped(batches: Iterable[MessageBatch], least: int) -> Iterator[MessageBatch]:
    """Yield the messages of batches, joined where they are small.

    Args:
        batches: the batches.
        least: messages that a batch must have to be handed over.
    """
    waiting: list[MessageBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= least:
            yield joined(waiting)
            waiting = []
    if waiting:
        yield joined(waiting)


_BATCH, _LEAST = 65536, 2048
_BYTES = (bytes, bytearray, memoryview)


class DamagedMessageError(ValueError):
    """A message is none.

    Attributes:
        number: which of those that follow the batches handed over, counted from 1.
    """

    def __init__(self, number: int) -> None:
        super().__init__(f"message {number} is damaged")
        self.number = number


def message_batches(reader: Any, connections: Sequence[Any]) -> Iterator[MessageBatch]:
    """Yield the messages of some connections in the order of the bag.

    Args:
        reader: an open reader of rosbags.
        connections: those of its connections that are wanted, at least one.

    Raises:
        DamagedMessageError: a cell of a database is no message.
        Exception: whatever reading a damaged file raises.
    """
    if reader.compression_mode == "message":
        yield from in_batches(reader.messages(connections=connections))
        return
    for storage in getattr(reader.storage, "storages", (reader.storage,)):
        own = [x for x in storage.connections if any(_same(x, y) for y in connections)]
        if not own:
            continue
        if getattr(storage, "chunks", ()):
            yield from _indexed(storage, own)
        else:
            yield from in_batches(storage.messages(own))


def _same(own: Any, wanted: Any) -> bool:
    """Tell whether a connection of a file is one that the metadata of its bag name."""
    return (
        (own.topic, own.msgtype, own.ext) == (wanted.topic, wanted.msgtype, wanted.ext)
        and (own.digest == wanted.digest or not own.digest or not wanted.digest)
    )  # fmt: skip


def _indexed(storage: Any, connections: Sequence[Any]) -> Iterator[MessageBatch]:
    """Yield the messages of an MCAP file with an index."""
    from robot_identification.files.mcap.messages import indexed_messages

    channels = [connection.id for connection in connections]
    chunks = [
        ChunkPlace(
            begin=chunk.message_start_time,
            end=chunk.message_end_time,
            place=chunk.chunk_start_offset,
            packing=chunk.compression,
            packed=chunk.compressed_size,
            size=chunk.uncompressed_size,
        )
        for chunk in storage.chunks
        if any(chunk.channel_count.get(channel, 0) for channel in channels)
    ]
    return grouped(indexed_messages(storage.path, chunks, channels), _LEAST)


def in_batches(messages: Iterable[tuple[Any, Any, Any]]) -> Iterator[MessageBatch]:
    """Yield messages that a reader hands over one by one.

    Args:
        messages: for each, what it belongs to, its time in ns, and its bytes.

    Raises:
        DamagedMessageError: a time is no number, or a message no bytes.
    """
    iterator = iter(messages)
    while True:
        times, contents = [], []
        for _, time, content in islice(iterator, _BATCH):
            times.append(time)
            contents.append(content)
        if not times:
            return
        if set(map(type, times)) != {int} or not _all_bytes(contents):
            raise DamagedMessageError(1 + _first_damaged(times, contents))
        yield batch_of(times, contents)


def _all_bytes(contents: Sequence[Any]) -> bool:
    return all(issubclass(kind, _BYTES) for kind in set(map(type, contents)))


def _first_damaged(times: Sequence[Any], contents: Sequence[Any]) -> int:
    """Return the place of the first message that has no time or no bytes, as cells may have."""
    pairs = zip(times, contents, strict=True)
    return next(
        i
        for i, (time, content) in enumerate(pairs)
        if type(time) is not int or not isinstance(content, _BYTES)
    )
