"""Bags through rosbags or through rosbag2_py, whichever is installed.

rosbag2_py is on no package index: a module with its interface stands for it (fake_rosbag2_py.py).
"""

import sys

import numpy as np
import pytest
import yaml

import fake_rosbag2_py
from made_up_bags import NAMES, START, numbers
from packed_bags import packed
from robot_identification.cli.main import main
from robot_identification.errors import BagError, MissingPackageError, OutputError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE
from robot_identification.files.bags.files import open_bag
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.libraries import choice
from robot_identification.files.bags.trajectories import SentTrajectory, read_trajectories
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.mcap import chunks as mcap_chunks
from robot_identification.files.mcap import records as mcap_records
from robot_identification.signals.raw_samples import RawSamples

STAMPS = START + 1_000_000 * np.arange(100, dtype=np.int64)
SAMPLES = RawSamples(STAMPS, numbers(100), numbers(100, seed=1), numbers(100, seed=2))
SENT = SentTrajectory(
    START + 5, Trajectory(NAMES, np.array([0.0, 0.5, 1.25]), numbers(3), numbers(3), None)
)
MODULE = f"{choice.__package__}.with_rosbag2"


@pytest.fixture
def installed(monkeypatch):
    """Return what says which libraries are installed from then on."""
    monkeypatch.setitem(sys.modules, "rosbag2_py", fake_rosbag2_py)
    monkeypatch.setitem(sys.modules, MODULE, None)
    monkeypatch.delitem(sys.modules, MODULE)  # it is loaded anew, and forgotten afterwards

    def say(*names):
        monkeypatch.setattr(choice, "find_spec", lambda name: name if name in names else None)
        choice.library.cache_clear()

    yield say
    choice.library.cache_clear()


def write(path, storage="mcap"):
    write_joint_states(path, NAMES, SAMPLES, trajectory=SENT, storage=storage)


def assert_is_whole(path):
    read = read_joint_states(path, NAMES)
    assert np.array_equal(read.samples.stamps, SAMPLES.stamps)
    for signal in ("position", "velocity", "effort"):
        assert np.array_equal(getattr(read.samples, signal), getattr(SAMPLES, signal))
    (sent,) = read_trajectories(path)
    assert sent.start_stamp == SENT.start_stamp
    assert sent.trajectory.joint_names == NAMES
    assert np.array_equal(sent.trajectory.velocities, SENT.trajectory.velocities)
    assert sent.trajectory.accelerations is None
    return read


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize("writer", ["rosbags", "rosbag2_py"])
@pytest.mark.parametrize("reader", ["rosbags", "rosbag2_py"])
def test_whatever_writes_a_bag_both_read_the_same(tmp_path, installed, storage, writer, reader):
    installed(writer)
    write(tmp_path / "bag", storage)
    assert [path.name for path in tmp_path.iterdir()] == ["bag"]
    installed(reader)
    opened = fake_rosbag2_py.SequentialReader.opened
    read = assert_is_whole(tmp_path / "bag")
    assert (fake_rosbag2_py.SequentialReader.opened > opened) is (reader == "rosbag2_py")
    assert any("checksum" in warning for warning in read.warnings) is (storage == "sqlite3")
    (file,) = (tmp_path / "bag").glob("*.mcap" if storage == "mcap" else "*.db3")
    assert_is_whole(file)
    (tmp_path / "bag" / "metadata.yaml").unlink()
    assert_is_whole(tmp_path / "bag")


def test_rosbags_is_taken_where_both_are_installed(tmp_path, installed):
    installed("rosbags", "rosbag2_py")
    assert choice.library().__name__.endswith("with_rosbags")


def test_without_either_one_sentence_says_what_brings_them(tmp_path, installed, capsys):
    write(tmp_path / "bag")
    installed()
    with pytest.raises(MissingPackageError, match=r"needs rosbags.*pip install rosbags, or source"):
        write(tmp_path / "other")
    assert [path.name for path in tmp_path.iterdir()] == ["bag"]
    assert main(["identify", "scara", str(tmp_path / "bag")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "or source a ROS 2 that has rosbag2_py" in line


def test_a_library_that_cannot_be_loaded_is_named(tmp_path, installed, monkeypatch):
    installed("rosbag2_py")
    monkeypatch.setitem(sys.modules, "rosbag2_py", None)
    with pytest.raises(MissingPackageError, match="mend rosbag2_py, which cannot be loaded"):
        write(tmp_path / "bag")


def no_space(*_):
    raise RuntimeError("No space left on device")


def test_a_bag_that_fails_is_not_left_half_written(tmp_path, installed, monkeypatch):
    installed("rosbag2_py")
    samples = RawSamples(STAMPS, SAMPLES.position, None, None)
    monkeypatch.setattr(fake_rosbag2_py.SequentialWriter, "write", no_space)
    with pytest.raises(OutputError, match="No space left"):
        write_joint_states(tmp_path / "bag", NAMES, samples)
    assert list(tmp_path.iterdir()) == []


def changed(path, **values):
    """Change what the metadata of a bag say of it."""
    file = path / "metadata.yaml"
    document = yaml.safe_load(file.read_text())
    document["rosbag2_bagfile_information"] |= values
    file.write_text(yaml.safe_dump(document))


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"compression_mode": "MESSAGE", "compression_format": "zstd"}, "message by message"),
        ({"compression_mode": "FILE", "compression_format": "zstd"}, "pip install rosbags"),
        ({"relative_file_paths": ["../bag.mcap"]}, "another folder"),
        ({"relative_file_paths": ["/etc/bag.mcap"]}, "another folder"),
        ({"storage_identifier": "hdf5"}, "neither sqlite3 nor mcap"),
    ],
)
def test_what_rosbag2_reads_elsewhere_or_unpacks_into_the_bag_is_refused(
    tmp_path, installed, values, problem
):
    write(tmp_path / "bag")
    installed("rosbag2_py")
    changed(tmp_path / "bag", **values)
    with pytest.raises(BagError, match=problem):
        read_joint_states(tmp_path / "bag", NAMES)


def test_files_that_old_metadata_name_from_the_folder_above_are_read(tmp_path, installed):
    write(tmp_path / "bag")
    installed("rosbag2_py")
    changed(tmp_path / "bag", relative_file_paths=["bag/bag.mcap"])
    assert_is_whole(tmp_path / "bag")


def test_messages_that_are_not_in_cdr_are_refused(tmp_path, installed):
    write(tmp_path / "bag")
    installed("rosbag2_py")
    connection = fake_rosbag2_py.TopicMetadata(0, "/joint_states", MESSAGE_TYPE, "protobuf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fake_rosbag2_py, "TopicMetadata", lambda *_: connection)
        with pytest.raises(BagError, match="/joint_states is serialised as protobuf, not in CDR"):
            read_joint_states(tmp_path / "bag", NAMES)


def test_damage_that_rosbag2_finds_is_an_error_of_the_bag(tmp_path, installed):
    write(tmp_path / "bag")
    installed("rosbag2_py")

    def damaged(_reader):
        raise RuntimeError("unsupported opcode")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fake_rosbag2_py.SequentialReader, "read_next", damaged)
        with pytest.raises(BagError, match="unsupported opcode; the file is damaged"):
            read_joint_states(tmp_path / "bag", NAMES)


@pytest.mark.parametrize("packing", ["lz4", "zstd"])
def test_packed_chunks_are_left_to_rosbag2_where_nothing_else_unpacks_them(
    tmp_path, installed, monkeypatch, packing
):
    write(tmp_path / "bag")
    (file,) = (tmp_path / "bag").glob("*.mcap")
    plain = file.read_bytes()
    file.write_bytes(packed(plain, packing))
    mcap_records.add_checksums(file)
    installed("rosbag2_py")
    monkeypatch.setattr(mcap_chunks, "_MODULES", {"lz4": None, "zstd": None})
    assert_is_whole(tmp_path / "bag")
    file.write_bytes(packed(plain, packing, says=mcap_chunks.MOST_BYTES + 1))
    with pytest.raises(BagError, match="more than"), open_bag(tmp_path / "bag"):
        pass
    (tmp_path / "bag" / "metadata.yaml").unlink()
    file.rename(file.with_suffix(".mcap.zstd"))
    with pytest.raises(MissingPackageError, match=r"unpacking zstd needs backports\.zstd"):
        read_joint_states(tmp_path / "bag", NAMES)
