"""MCAP files whose chunks are packed, honestly or not."""

import struct
from io import BytesIO

import lz4.frame

from robot_identification.files.mcap import chunks as mcap_chunks
from robot_identification.files.mcap import records as mcap_records
from robot_identification.files.mcap.chunks import zstd

PACKERS = {"zstd": zstd.compress, "lz4": lz4.frame.compress}
SUMMARY_OFFSET = 14


def packed(plain, packing, *, pack=None, says=None, index_says=None, summary_begin=0):
    """Return an MCAP file with its chunk packed.

    Args:
        plain: the file with one chunk that is not packed.
        packing: name of the packing.
        pack: makes the packed data; by default it packs what is in the chunk.
        says: size that chunk and index say it unpacks to, if not the true one.
        index_says: size that the index says.
        summary_begin: where the summary begins according to the footer, beside the truth.
    """
    out, moved = bytearray(plain[:8]), 0
    for kind, first, last in mcap_records.whole_records(BytesIO(plain), len(plain)):
        body = plain[first:last]
        if kind == mcap_records.CHUNK:
            place, size = len(out), last - first - 40
            data = (pack or PACKERS[packing])(body[40:])
            name = struct.pack("<I", len(packing)) + packing.encode()
            claimed = size if says is None else says
            body = body[:16] + struct.pack("<Q", claimed) + body[24:28]
            body += name + struct.pack("<Q", len(data)) + data
            length, moved = len(body) + 9, len(body) - (last - first)
        elif kind == mcap_chunks.CHUNK_INDEX:
            (count,) = struct.unpack_from("<I", body, 32)
            offsets = [
                (c, at + moved) for c, at in struct.iter_unpack("<HQ", body[36 : 36 + count])
            ]
            after = body[36 + count : 44 + count]
            body = body[:16] + struct.pack("<QQI", place, length, count)
            body += b"".join(struct.pack("<HQ", *offset) for offset in offsets) + after + name
            body += struct.pack("<QQ", len(data), claimed if index_says is None else index_says)
        elif kind == mcap_records.DATA_END:
            body, summary = bytes(4), len(out) + 13
        elif kind == mcap_records.FOOTER:
            body = struct.pack("<QQI", summary + summary_begin, 0, 0)
        if kind != SUMMARY_OFFSET:
            out += struct.pack("<BQ", kind, len(body)) + body
    return bytes(out) + plain[:8]
