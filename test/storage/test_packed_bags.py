"""Packed bags: read if they unpack to what they say, refused before they fill the memory if not."""

import io
import struct
from io import BytesIO

import lz4.frame
import numpy as np
import pytest

from robot_identification.errors import BagError
from robot_identification.storage import mcap_chunks, mcap_records
from robot_identification.storage.bags import read_joint_states
from robot_identification.storage.unpacking import unpacked_size, zstd
from storage.made_up_bags import NAMES, START, message, write_messages

PACKERS = {"zstd": zstd.compress, "lz4": lz4.frame.compress}
SUMMARY_OFFSET = 14


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The data file of a bag whose chunk is not packed."""
    messages = [message(START + i, NAMES, np.full(3, i), None, np.ones(3)) for i in range(100)]
    folder = write_messages(tmp_path_factory.mktemp("plain") / "bag", messages, storage="mcap")
    return (folder / "bag.mcap").read_bytes()


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


def read(tmp_path, data):
    path = tmp_path / "bag.mcap"
    path.write_bytes(data)
    return read_joint_states(path, NAMES)


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_chunks_are_read(tmp_path, plain, packing):
    samples = read(tmp_path, packed(plain, packing)).samples
    assert samples.position[:, 0].tolist() == list(range(100))


@pytest.mark.parametrize("packing", PACKERS)
def test_chunks_that_unpack_to_more_than_they_say_are_refused(tmp_path, plain, packing):
    bomb = PACKERS[packing](bytes(100 << 20))
    data = packed(plain, packing, pack=lambda _: bomb, says=1000)
    with pytest.raises(BagError, match="says that it unpacks to 1000 bytes, and does not"):
        read(tmp_path, data)


@pytest.mark.parametrize("packing", PACKERS)
def test_chunks_that_say_that_they_are_huge_are_refused(tmp_path, plain, packing):
    with pytest.raises(BagError, match="unpacks to 1099511627776 bytes, more than 268435456"):
        read(tmp_path, packed(plain, packing, says=1 << 40))


def test_an_index_that_says_something_else_is_refused(tmp_path, plain):
    with pytest.raises(BagError, match="the index says of the chunk at byte"):
        read(tmp_path, packed(plain, "zstd", index_says=1 << 40))
    with pytest.raises(BagError, match="the footer names byte"):
        read(tmp_path, packed(plain, "zstd", summary_begin=1))


def test_a_footer_inside_of_another_record_is_refused(tmp_path, plain):
    data = packed(plain, "zstd")
    hidden = data[:-37] + struct.pack("<BQ", 0x80, 29) + data[-37:]
    with pytest.raises(BagError, match="its last record is not a footer"):
        read(tmp_path, hidden)


def test_damaged_packed_chunks_are_refused(tmp_path, plain):
    with pytest.raises(BagError, match="damaged"):
        read(tmp_path, packed(plain, "zstd", pack=lambda _: b"no frame of that kind"))


def test_files_packed_as_a_whole_are_read_with_a_warning_unless_they_are_bombs(tmp_path, plain):
    folder = tmp_path / "bag"
    write_messages(folder, [message(START, NAMES, np.ones(3), None, np.ones(3))], storage="mcap")
    metadata = (folder / "metadata.yaml").read_text()
    for old, new in (
        ("compression_format: ''", "compression_format: zstd"),
        ("compression_mode: ''", "compression_mode: FILE"),
        ("- bag.mcap", "- bag.mcap.zstd"),
    ):
        assert old in metadata
        metadata = metadata.replace(old, new)
    (folder / "metadata.yaml").write_text(metadata)
    data = (folder / "bag.mcap").read_bytes()
    (folder / "bag.mcap").unlink()
    (folder / "bag.mcap.zstd").write_bytes(zstd.compress(data))
    assert "packed as a whole" in read_joint_states(folder, NAMES).warnings[0]
    (folder / "bag.mcap.zstd").write_bytes(zstd.compress(data + bytes(50 << 20)))
    with pytest.raises(BagError, match="more than a thousand times its size"):
        read_joint_states(folder, NAMES)


@pytest.mark.parametrize("packing", PACKERS)
def test_no_more_is_unpacked_than_is_asked_for(packing):
    data = io.BytesIO(PACKERS[packing](bytes(50 << 20)))
    assert 1000 < unpacked_size(data, packing, 1000) <= 1000 + (1 << 20)
