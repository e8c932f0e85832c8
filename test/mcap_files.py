"""A small writer of MCAP files (https://mcap.dev/spec), with chunks as a test wants them."""

import struct
import zlib

import lz4.frame

from robot_identification.files.mcap.chunks import zstd

MAGIC = b"\x89MCAP0\r\n"
PACKERS = {"": bytes, "lz4": lz4.frame.compress, "zstd": zstd.compress}
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
STATISTICS, DATA_END = 11, 15


def text(value):
    raw = value.encode()
    return struct.pack("<I", len(raw)) + raw


def record(kind, *parts):
    content = b"".join(parts)
    return struct.pack("<BQ", kind, len(content)) + content


def message_record(channel, time, content):
    return record(MESSAGE, struct.pack("<HIQQ", channel, 0, time, time), content)


class McapFile:
    """Collects chunks and gives the bytes of a file.

    Args:
        topics: number of the channel and name of each topic.
        message_type: type of all messages.
    """

    def __init__(self, topics, message_type):
        self._declared = record(SCHEMA, b"\1\0", text(message_type), text("ros2msg"), text(""))
        for number, topic in topics.items():
            head = struct.pack("<HH", number, 1)
            self._declared += record(CHANNEL, head, text(topic), text("cdr"), bytes(4))
        self._data = MAGIC + record(HEADER, text("ros2"), text("")) + self._declared
        self._indexes, self._counts, self._times = b"", dict.fromkeys(topics, 0), []

    def add_chunk(self, messages, *, packing="", checksum=True, between=b""):
        """Add messages (channel, time, content) in the order given.

        Args:
            messages: the messages.
            packing: how to pack them.
            checksum: whether the chunk tells its checksum.
            between: record that stands before each message.
        """
        records, places = b"", {}
        for channel, time, content in messages:
            records += between
            places.setdefault(channel, []).append((time, len(records)))
            records += message_record(channel, time, content)
            self._counts[channel] += 1
        times = [time for _, time, _ in messages] or [0]
        self._times += times
        span = struct.pack("<QQ", min(times), max(times))
        packed = PACKERS[packing](records)
        crc = zlib.crc32(records) if checksum else 0
        sizes = struct.pack("<QI", len(records), crc) + text(packing)
        begin = len(self._data)
        self._data += record(CHUNK, span, sizes, struct.pack("<Q", len(packed)), packed)
        end = len(self._data)
        offsets = b""
        for channel, found in places.items():
            offsets += struct.pack("<HQ", channel, len(self._data))
            pairs = b"".join(struct.pack("<QQ", *pair) for pair in found)
            head = struct.pack("<HI", channel, len(pairs))
            self._data += record(MESSAGE_INDEX, head, pairs)
        self._indexes += record(
            CHUNK_INDEX,
            span,
            struct.pack("<QQI", begin, end - begin, len(offsets)),
            offsets,
            struct.pack("<Q", len(self._data) - end),
            text(packing),
            struct.pack("<QQ", len(packed), len(records)),
        )

    def content(self, *, indexed=True):
        """Return the bytes of the file; without index it has no summary."""
        data = self._data + record(DATA_END, bytes(4))
        summary = len(data) if indexed else 0
        if indexed:
            counts = b"".join(struct.pack("<HQ", *pair) for pair in self._counts.items())
            statistics = struct.pack(
                "<QHIIIIQQI",
                sum(self._counts.values()),
                *(1, len(self._counts), 0, 0, 1),
                *(min(self._times, default=0), max(self._times, default=0), len(counts)),
            )
            data += self._declared + self._indexes + record(STATISTICS, statistics, counts)
        return data + record(FOOTER, struct.pack("<QQI", summary, 0, 0)) + MAGIC
