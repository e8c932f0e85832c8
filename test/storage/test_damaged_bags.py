"""Bags that broke on the way: nothing but a BagError may come out of them."""

import sqlite3
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_identification.errors import BagError, InputError
from robot_identification.signals.recording import RawSamples
from robot_identification.storage.bag_writing import write_bag, write_joint_states
from robot_identification.storage.bags import read_joint_states
from storage.made_up_bags import NAMES, START, message, numbers, write_messages


@pytest.fixture(scope="session")
def bag_files(tmp_path_factory):
    """Contents of the data file of a bag, by suffix."""
    stamps = START + 1_000_000 * np.arange(300, dtype=np.int64)
    samples = RawSamples(stamps, numbers(300, seed=1), None, numbers(300, seed=2))
    contents = {}
    for storage, suffix in (("sqlite3", ".db3"), ("mcap", ".mcap")):
        folder = tmp_path_factory.mktemp(storage) / "bag"
        write_joint_states(folder, NAMES, samples, storage=storage)
        contents[suffix] = (folder / f"bag{suffix}").read_bytes()
    return contents


def written(folder, suffix, data):
    path = folder / f"damaged{suffix}"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("suffix", [".db3", ".mcap"])
@pytest.mark.parametrize("part", [0.03, 0.3, 0.7, 0.99])
def test_truncated_bag_is_refused(tmp_path, bag_files, suffix, part):
    data = bag_files[suffix]
    path = written(tmp_path, suffix, data[: int(part * len(data))])
    with pytest.raises(BagError, match="truncated") as caught:
        read_joint_states(path, NAMES)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("suffix", [".db3", ".mcap"])
def test_empty_file_is_refused(tmp_path, suffix):
    with pytest.raises(BagError, match="the file is empty"):
        read_joint_states(written(tmp_path, suffix, b""), NAMES)


@pytest.mark.parametrize("suffix", [".db3", ".mcap"])
def test_file_of_another_kind_is_refused(tmp_path, suffix):
    with pytest.raises(BagError, match=r"not an (SQLite|MCAP) file"):
        read_joint_states(written(tmp_path, suffix, b"Lorem ipsum dolor sit amet " * 10), NAMES)


def test_database_that_is_no_bag_is_refused(tmp_path):
    path = tmp_path / "other.db3"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE birds (name TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(BagError, match="no messages and topics"):
        read_joint_states(path, NAMES)


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_bag_without_messages_is_refused(tmp_path, storage):
    with write_bag(tmp_path / "bag", storage=storage):
        pass
    with pytest.raises(BagError, match="holds no messages"):
        read_joint_states(tmp_path / "bag", NAMES)


def test_path_must_lead_to_a_bag(tmp_path):
    with pytest.raises(BagError, match="does not exist"):
        read_joint_states(tmp_path / "absent", NAMES)
    (tmp_path / "notes.txt").write_text("none")
    with pytest.raises(BagError, match="give the folder of a rosbag2"):
        read_joint_states(tmp_path / "notes.txt", NAMES)
    with pytest.raises(BagError, match=r"neither a \.db3 nor a \.mcap"):
        read_joint_states(tmp_path, NAMES)
    with pytest.raises(BagError, match="neither a file nor a folder"):
        read_joint_states("/dev/null", NAMES)


@pytest.mark.parametrize(
    "text", ["", "a: [", "rosbag2_bagfile_information: {}", "rosbag2_bagfile_information: 3"]
)
def test_damaged_metadata_is_refused(tmp_path, text):
    write_messages(tmp_path / "bag", [message(START, NAMES, np.ones(3), None, np.ones(3))])
    (tmp_path / "bag" / "metadata.yaml").write_text(text)
    with pytest.raises(BagError, match="cannot be read"):
        read_joint_states(tmp_path / "bag", NAMES)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x00\x01\x00\x00",
        b"\x00\x00\x00\x00" + bytes(40),
        b"\x00\x01\x00\x00" + bytes(8) + b"\xff\xff\xff\xff",
        b"\x00\x01\x00\x00" + bytes(12) + b"\xff\xff\xff\x00",
        b"\x00\x01\x00\x00" + bytes(12) + b"\x01\0\0\0\x02\0\0\0\xff\0\0\0" + bytes(12),
    ],
)
def test_damaged_message_is_refused(tmp_path, raw):
    path = write_messages(tmp_path / "bag", [raw] * 3)
    with pytest.raises(BagError, match="a message on /joint_states is damaged"):
        read_joint_states(path, NAMES)


def test_flipped_bit_in_a_chunk_with_checksum_is_found(tmp_path, bag_files):
    data = bytearray(bag_files[".mcap"])
    data[len(data) // 2] ^= 1
    with pytest.raises(BagError, match="checksum mismatch"):
        read_joint_states(written(tmp_path, ".mcap", bytes(data)), NAMES)


def test_chunks_without_checksum_are_warned_about(tmp_path, bag_files):
    data = bytearray(bag_files[".mcap"])
    place = data.index(b"\x06", 8 + 9)  # behind magic number and header
    header = 8 + 9 + int.from_bytes(data[9:17], "little")
    assert data[header] == 6
    place = header + 9 + 24
    data[place : place + 4] = bytes(4)
    read = read_joint_states(written(tmp_path, ".mcap", bytes(data)), NAMES)
    assert "1 of 1 chunks have no checksum" in read.warnings[0]


@settings(max_examples=100)
@given(data=st.data(), suffix=st.sampled_from([".db3", ".mcap"]))
def test_nothing_but_our_own_errors_comes_out_of_a_damaged_bag(
    tmp_path_factory, bag_files, data, suffix
):
    contents = bytearray(bag_files[suffix])
    for place in data.draw(st.lists(st.integers(0, len(contents) - 1), min_size=1, max_size=20)):
        contents[place] = data.draw(st.integers(0, 255))
    path = written(tmp_path_factory.mktemp("damaged"), suffix, bytes(contents))
    with suppress(InputError):
        read_joint_states(path, NAMES)
