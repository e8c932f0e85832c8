"""Messages of a topic out of an open reader of bags, many at a time.

MCAP files with an index are read chunk by chunk, everything else message by message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from robot_identification.files.mcap.message_batches import MessageBatch, batch_of, grouped

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
        yield from _in_batches(reader.messages(connections=connections))
        return
    for storage in getattr(reader.storage, "storages", (reader.storage,)):
        own = [x for x in storage.connections if any(_same(x, y) for y in connections)]
        if not own:
            continue
        if getattr(storage, "chunks", ()):
            yield from _indexed(storage, own)
        else:
            yield from _in_batches(storage.messages(own))


def _same(own: Any, wanted: Any) -> bool:
    """Tell whether a connection of a file is one that the metadata of its bag name."""
    return (
        (own.topic, own.msgtype, own.ext) == (wanted.topic, wanted.msgtype, wanted.ext)
        and (own.digest == wanted.digest or not own.digest or not wanted.digest)
    )  # fmt: skip


def _indexed(storage: Any, connections: Sequence[Any]) -> Iterator[MessageBatch]:
    """Yield the messages of an MCAP file with an index."""
    from robot_identification.files.mcap.messages import ChunkPlace, indexed_messages

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


def _in_batches(messages: Iterable[tuple[Any, Any, Any]]) -> Iterator[MessageBatch]:
    """Yield messages that a reader hands over one by one."""
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
