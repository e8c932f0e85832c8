import dataclasses
import zlib

import numpy as np
import pytest

from made_up_bags import NAMES, START, numbers
from robot_identification.errors import OutputError, ShapeError
from robot_identification.files.bags import writing as bag_writing
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.writing import write_bag, write_joint_states
from robot_identification.files.mcap import records as mcap_records
from robot_identification.signals.raw_samples import RawSamples


@pytest.fixture
def samples():
    stamps = START + 1_000_000 * np.arange(100, dtype=np.int64)
    return RawSamples(stamps, numbers(100), None, numbers(100))


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_nothing_but_the_bag_is_left(tmp_path, samples, storage):
    write_joint_states(tmp_path / "bag", NAMES, samples, storage=storage)
    assert [path.name for path in tmp_path.iterdir()] == ["bag"]


def test_failure_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), write_bag(tmp_path / "bag"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_failure_leaves_the_old_bag(tmp_path, samples, monkeypatch):
    write_joint_states(tmp_path / "bag", NAMES, samples)
    digest = read_joint_states(tmp_path / "bag", NAMES).digest

    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bag_writing.mcap_records, "add_checksums", no_space)
    changed = dataclasses.replace(samples, effort=2.0 * samples.effort)
    with pytest.raises(OutputError, match="No space left"):
        write_joint_states(tmp_path / "bag", NAMES, changed, overwrite=True)
    assert read_joint_states(tmp_path / "bag", NAMES).digest == digest
    assert [path.name for path in tmp_path.iterdir()] == ["bag"]


def test_old_bag_comes_back_where_the_new_one_cannot_take_its_place(tmp_path, samples, monkeypatch):
    write_joint_states(tmp_path / "bag", NAMES, samples)
    rename = type(tmp_path).rename

    def fails_for_the_new_one(path, target):
        if path.parent != tmp_path and path.name == "bag":
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(type(tmp_path), "rename", fails_for_the_new_one)
    with pytest.raises(OutputError, match="Input/output error"):
        write_joint_states(tmp_path / "bag", NAMES, samples, overwrite=True)
    assert len(read_joint_states(tmp_path / "bag", NAMES).samples.stamps) == 100


def test_bag_is_replaced_only_when_asked(tmp_path, samples):
    write_joint_states(tmp_path / "bag", NAMES, samples)
    with pytest.raises(OutputError, match="is already there; name another target, or remove it"):
        write_joint_states(tmp_path / "bag", NAMES, samples)
    changed = dataclasses.replace(samples, effort=2.0 * samples.effort)
    write_joint_states(tmp_path / "bag", NAMES, changed, overwrite=True)
    read = read_joint_states(tmp_path / "bag", NAMES).samples
    np.testing.assert_array_equal(read.effort, changed.effort)


def test_what_is_no_bag_is_never_replaced(tmp_path, samples):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").touch()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("folder")
    for name, problem in (("folder", "not a bag"), ("file", "a file"), ("link", "a link")):
        with pytest.raises(OutputError, match=problem):
            write_joint_states(tmp_path / name, NAMES, samples, overwrite=True)
    assert (tmp_path / "folder" / "thesis.tex").exists()


def test_folder_above_must_exist(tmp_path, samples):
    with pytest.raises(OutputError, match="make it first"):
        write_joint_states(tmp_path / "absent" / "bag", NAMES, samples)


def test_shapes_must_fit(tmp_path, samples):
    with pytest.raises(ShapeError, match="position"):
        write_joint_states(tmp_path / "bag", NAMES[:2], samples)
    assert list(tmp_path.iterdir()) == []


def test_unknown_type_is_refused(tmp_path):
    with pytest.raises(OutputError), write_bag(tmp_path / "bag") as bag:
        bag.write("/topic", "no_msgs/msg/Such", START, b"")
    assert list(tmp_path.iterdir()) == []


def test_every_chunk_has_the_right_checksum(tmp_path):
    many = 12_000
    stamps = START + np.arange(many, dtype=np.int64)
    samples = RawSamples(stamps, numbers(many), None, numbers(many))
    write_joint_states(tmp_path / "bag", NAMES, samples, storage="mcap")
    state = mcap_records.examine(tmp_path / "bag" / "bag.mcap")
    assert state.chunks > 1
    assert (state.problem, state.unchecked) == ("", 0)
    assert len(read_joint_states(tmp_path / "bag", NAMES).samples.stamps) == many
    assert zlib.crc32(b"123456789") == 0xCBF43926  # the CRC that MCAP means
