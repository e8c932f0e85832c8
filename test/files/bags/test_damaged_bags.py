"""Bags that broke on the way: nothing but a BagError may come out of them."""

import sqlite3
import struct
import tracemalloc
import zlib
from contextlib import contextmanager, suppress
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzed_bags import remove_checksums
from made_up_bags import NAMES, START, message, numbers, write_messages
from robot_identification.errors import BagError, CancelledError, InputError
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.writing import write_bag, write_joint_states
from robot_identification.files.mcap import records as mcap_records
from robot_identification.signals.raw_samples import RawSamples


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


def test_a_database_whose_recorder_broke_off_is_refused_with_what_saves_its_messages(
    tmp_path, bag_files
):
    """Messages that were written ahead are in a file beside it: read without, it is shorter."""
    path = written(tmp_path, ".db3", bag_files[".db3"])
    recorder = sqlite3.connect(path, isolation_level=None)
    recorder.execute("PRAGMA journal_mode=WAL")
    row = "topic_id, timestamp, data FROM messages LIMIT 1"
    recorder.execute(f"INSERT INTO messages (topic_id, timestamp, data) SELECT {row}")
    broken = tmp_path / "broken.db3"
    for suffix in ("", "-wal"):  # as they lie on the disk at this moment
        copied = (tmp_path / f"{path.name}{suffix}").read_bytes()
        (tmp_path / f"{broken.name}{suffix}").write_bytes(copied)
    recorder.close()
    with pytest.raises(BagError, match=r"messages are still in broken\.db3-wal") as caught:
        read_joint_states(broken, NAMES)
    assert "sqlite3 broken.db3 'PRAGMA wal_checkpoint(TRUNCATE)'" in str(caught.value)
    saving = sqlite3.connect(broken)
    saving.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    saving.close()
    assert len(read_joint_states(broken, NAMES).samples.stamps) == 301
    assert len(read_joint_states(path, NAMES).samples.stamps) == 301


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"


@pytest.mark.parametrize(
    "statement",
    [
        f"CREATE VIEW messages AS {ENDLESS} i AS id, 1, i, x'00' FROM n",
        f"CREATE VIEW messages AS {ENDLESS} i AS id, 1, i, x'00' FROM n LIMIT 3",
        "CREATE TABLE messages (id, data AS (zeroblob(1000000000)))",
    ],
)
def test_databases_whose_messages_are_computed_are_refused(tmp_path, bag_files, statement):
    path = written(tmp_path, ".db3", bag_files[".db3"])
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE messages")
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(BagError, match="the content of messages is computed"):
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
    with pytest.raises(BagError, match=r"neither a \.db3 nor a \.mcap"):
        read_joint_states(tmp_path, NAMES)
    with pytest.raises(BagError, match="neither a file nor a folder"):
        read_joint_states("/dev/null", NAMES)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("log.dat", r"give the folder of a rosbag2, a file \.db3 or \.mcap, or a table"),
        ("log.csv", "tables are read by identify"),
        ("log.csv.gz", "unpack it first"),
        ("bag.db3.zstd", "unpack it first"),
        ("log.mat", r"ri\.Recording\.from_arrays"),
        ("of ROS 1.bag", r"rosbags-convert --src '.*of ROS 1\.bag' --dst '.*of ROS 1'"),
    ],
)
def test_of_another_file_it_is_told_how_it_can_be_read(tmp_path, name, words):
    (tmp_path / name).write_text("anything")
    with pytest.raises(BagError, match=words):
        read_joint_states(tmp_path / name, NAMES)


@pytest.mark.parametrize(
    "text", ["", "a: [", "rosbag2_bagfile_information: {}", "rosbag2_bagfile_information: 3"]
)
def test_damaged_metadata_is_refused(tmp_path, text):
    write_messages(tmp_path / "bag", [message(START, NAMES, np.ones(3), None, np.ones(3))])
    (tmp_path / "bag" / "metadata.yaml").write_text(text)
    with pytest.raises(BagError, match="cannot be read"):
        read_joint_states(tmp_path / "bag", NAMES)


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("name: /joint_states", "name: 3", "name a topic, type or count 3"),
        ("name: /joint_states", "name: [x]", r"name a topic, type or count \['x'\]"),
        ("type: sensor_msgs/msg/JointState", "type: 1.5", "name a topic, type or count 1.5"),
        ("  files:\n", "  files: none\n  other:\n", "cannot be read"),
        (
            "  - bag.db3\n  ros_distro",
            "  - bag.db3\n  - bag.db3\n  ros_distro",
            "a data file twice",
        ),
        ("version: 9", "version: 9\n  x: &x [1]\n  y: *x", "line 32: aliases are not accepted"),
        ("version: 9", "version: 9\n  x: " + "[" * 1000, "nested too deeply"),
        ("version: 9", "version: 9\n  x: [" + "1, " * 90_000 + "]", "more than 80000 entries"),
    ],
)
def test_metadata_that_no_recorder_writes_are_refused(tmp_path, before, after, problem):
    write_messages(tmp_path / "bag", [message(START, NAMES, np.ones(3), None, np.ones(3))])
    path = tmp_path / "bag" / "metadata.yaml"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after, 1))
    with pytest.raises(BagError, match=problem):
        read_joint_states(tmp_path / "bag", NAMES)


def test_metadata_larger_than_any_bag_has_are_not_read(tmp_path):
    write_messages(tmp_path / "bag", [message(START, NAMES, np.ones(3), None, np.ones(3))])
    with (tmp_path / "bag" / "metadata.yaml").open("ab") as file:
        file.truncate(2**20 + 1)
    with pytest.raises(BagError, match="larger than 1048576 bytes"):
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


@pytest.mark.parametrize(
    "change", ["timestamp = x'17'", "timestamp = 'noon'", "data = 1000000000000"]
)
def test_a_cell_of_another_type_is_refused(tmp_path, bag_files, change):
    path = written(tmp_path, ".db3", bag_files[".db3"])
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE messages SET {change} WHERE id = 7")
    connection.commit()
    connection.close()
    with pytest.raises(BagError, match=r"message \d+ on /joint_states is damaged"):
        read_joint_states(path, NAMES)


def test_flipped_bit_in_a_chunk_with_checksum_is_found(tmp_path, bag_files):
    data = bytearray(bag_files[".mcap"])
    data[len(data) // 2] ^= 1
    with pytest.raises(BagError, match="checksum mismatch"):
        read_joint_states(written(tmp_path, ".mcap", bytes(data)), NAMES)


def test_chunks_without_checksum_are_warned_about(tmp_path, bag_files):
    path = written(tmp_path, ".mcap", bag_files[".mcap"])
    remove_checksums(path)
    assert "1 of 1 chunks have no checksum" in read_joint_states(path, NAMES).warnings[0]


def test_databases_are_warned_about_as_they_have_no_checksums(tmp_path, bag_files):
    read = read_joint_states(written(tmp_path, ".db3", bag_files[".db3"]), NAMES)
    assert "damage cannot be noticed" in read.warnings[0]


@pytest.mark.parametrize("before_end", [120, 5000])
def test_flipped_bit_behind_the_chunks_is_found(tmp_path, bag_files, before_end):
    data = bytearray(bag_files[".mcap"])
    data[-before_end] ^= 1
    with pytest.raises(BagError, match=r"checksum mismatch in the (data section|summary)"):
        read_joint_states(written(tmp_path, ".mcap", bytes(data)), NAMES)


@pytest.mark.parametrize("begin", [0, 8, "header"])
def test_data_sections_count_from_where_their_writer_says(tmp_path, bag_files, begin):
    data = bytearray(bag_files[".mcap"])
    path = written(tmp_path, ".mcap", data)
    with path.open("rb") as file:
        records = list(mcap_records.whole_records(file, len(data)))
    (place,) = [first for kind, first, _ in records if kind == mcap_records.DATA_END]
    begin = records[0][2] if begin == "header" else begin
    data[place : place + 4] = zlib.crc32(data[begin : place - 9]).to_bytes(4, "little")
    assert len(read_joint_states(written(tmp_path, ".mcap", data), NAMES).samples.stamps) == 300


def test_a_stamp_with_a_second_of_nanoseconds_is_refused(tmp_path):
    raw = bytearray(message(START, NAMES, np.ones(3), None, np.ones(3)))
    raw[8:12] = (1_000_000_000).to_bytes(4, "little")
    path = write_messages(tmp_path / "bag", [bytes(raw)])
    with pytest.raises(BagError, match="1000000000 nanoseconds, a second or more"):
        read_joint_states(path, NAMES)


def test_a_message_that_goes_on_behind_its_arrays_is_refused(tmp_path):
    raw = message(START, NAMES, np.ones(3), None, np.ones(3))
    padded = write_messages(tmp_path / "padded", [raw + bytes(3)])
    assert len(read_joint_states(padded, NAMES).samples.stamps) == 1
    with pytest.raises(BagError, match="4 bytes follow the last array"):
        read_joint_states(write_messages(tmp_path / "longer", [raw + bytes(4)]), NAMES)


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


def test_a_bag_that_ends_in_zeros_is_refused_at_once(tmp_path, bag_files):
    """A power failure leaves a file with its length and without its end."""
    path = written(tmp_path, ".mcap", bag_files[".mcap"][:-200])
    with path.open("r+b") as file:
        file.truncate(1 << 30)
    with measured() as memory, pytest.raises(BagError, match="zeros follow") as caught:
        read_joint_states(path, NAMES)
    assert "mcap recover damaged.mcap" in str(caught.value)
    assert memory[0] < 5_000_000


def test_a_bag_of_nothing_but_small_records_takes_no_memory(tmp_path, bag_files):
    """A record may have as few as nine bytes, of a kind that nobody has to know."""
    begin = bag_files[".mcap"][:8]
    path = written(tmp_path, ".mcap", begin + struct.pack("<BQ", 200, 0) * 150_000)
    with measured() as memory, pytest.raises(BagError, match="truncated"):
        read_joint_states(path, NAMES)
    assert memory[0] < 5_000_000


@pytest.mark.parametrize("count", [0, 1, 50])
def test_reading_a_bag_is_given_up_when_somebody_asks_for_that(tmp_path, bag_files, count):
    """However long the walk over its records takes, and whatever follows it."""
    data = bag_files[".mcap"]
    small = struct.pack("<BQ", 200, 0) * 100_000  # between the header and the rest
    begin = len(data[:8]) + 9 + struct.unpack("<Q", data[9:17])[0]
    path = written(tmp_path, ".mcap", data[:begin] + small + data[begin:])
    left = iter(range(count))
    with pytest.raises(CancelledError, match="while reading a bag"):
        read_joint_states(path, NAMES, cancelled=lambda: next(left, None) is None)
    assert next(left, None) is None


@pytest.mark.parametrize("suffix", [".db3", ".mcap"])
def test_a_sound_bag_is_given_up_too(tmp_path, bag_files, suffix):
    path = written(tmp_path, suffix, bag_files[suffix])
    asked = []
    assert len(read_joint_states(path, NAMES, cancelled=lambda: asked.append(0)).samples.stamps)
    for last in range(len(asked)):
        left = iter(range(last))
        with pytest.raises(CancelledError):
            read_joint_states(path, NAMES, cancelled=lambda left=left: next(left, None) is None)


@pytest.mark.parametrize(("kind", "words"), [("DATA_END", "end of its data"), ("FOOTER", "footer")])
def test_what_a_file_has_one_of_is_there_once(tmp_path, bag_files, kind, words):
    """Every further one would have all that is before it read again."""
    data, wanted = bag_files[".mcap"], getattr(mcap_records, kind)
    records = list(mcap_records.whole_records(BytesIO(data), len(data)))
    first, last = next((first, last) for number, first, last in records if number == wanted)
    again = data[:last] + data[first - 9 : last] + data[last:]
    with pytest.raises(BagError, match=f"more than one {words}"):
        read_joint_states(written(tmp_path, ".mcap", again), NAMES)


@contextmanager
def measured():
    """Yield a list that holds the most memory that Python objects took, in bytes, at the end."""
    most = []
    tracemalloc.start()
    try:
        yield most
    finally:
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
