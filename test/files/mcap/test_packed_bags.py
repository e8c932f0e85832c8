"""Packed bags: read if they unpack to what they say, refused before they fill the memory if not."""

import io
import struct

import numpy as np
import pytest

from made_up_bags import NAMES, START, message, write_messages
from packed_bags import PACKERS, packed
from robot_identification.errors import BagError
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.mcap.chunks import unpacked_size, zstd


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The data file of a bag whose chunk is not packed."""
    messages = [message(START + i, NAMES, np.full(3, i), None, np.ones(3)) for i in range(100)]
    folder = write_messages(tmp_path_factory.mktemp("plain") / "bag", messages, storage="mcap")
    return (folder / "bag.mcap").read_bytes()


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
