"""Compiled walk over the records of an unpacked MCAP chunk.

A record is one byte of kind, eight bytes of length and as many bytes of content, all numbers little
endian (https://mcap.dev/spec).  The content of a message begins with

    channel (uint16), sequence (uint32), time of recording (uint64), time of publication (uint64)

and the rest is the serialised message.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled

_RECORD, _MESSAGE, _HEAD = 9, 5, 22  # head of a record; kind and head of a message


@compiled(inline="always")
def _number(chunk, place, size):
    """Return an unsigned integer of ``size`` bytes."""
    value = np.uint64(0)
    for i in range(size):
        value |= np.uint64(chunk[place + i]) << np.uint64(8 * i)
    return value


@compiled()
def message_places(chunk, wanted, earliest, latest, times, firsts, lengths):
    """Find the messages of a chunk.

    Args:
        chunk: (bytes,) the records.
        wanted: (65536,) whether messages of a channel are wanted.
        earliest: first time of recording that counts.
        latest: last one.
        times: filled with the times of recording; as long as messages can be there.
        firsts: filled with the places of the first bytes of messages.
        lengths: filled with the numbers of their bytes.

    Returns:
        How many messages there are, and the place of the first record that is damaged or goes on
        behind the chunk, -1 where none does.
    """
    size = chunk.size
    found = place = np.int64(0)
    while place < size:
        begin = place + _RECORD
        if begin > size:
            return found, place
        length = _number(chunk, place + 1, 8)
        if length > np.uint64(size - begin):
            return found, place
        end = begin + np.int64(length)
        if chunk[place] == _MESSAGE:
            if end - begin < _HEAD:
                return found, place
            time = _number(chunk, begin + 6, 8)
            if wanted[_number(chunk, begin, 2)] and earliest <= time <= latest:
                times[found] = time
                firsts[found] = begin + _HEAD
                lengths[found] = end - begin - _HEAD
                found += 1
        place = end
    return found, -1
