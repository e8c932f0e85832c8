"""Bags that places stand for: packed ones, and what cannot be looked at."""

from pathlib import Path

import numpy as np
import pytest

from made_up_bags import NAMES, START, message, write_messages
from robot_identification.errors import BagError
from robot_identification.files.bags.files import open_bag
from robot_identification.files.mcap.chunks import zstd
from robot_identification.parallel.bags import find_bags, without_copies


def packed_bag(folder, *, efforts):
    """Write a bag whose data file is packed as a whole, as recorders do that are asked to."""
    messages = [message(START, NAMES, np.ones(3), None, np.array(efforts))]
    data = write_messages(folder, messages, storage="mcap") / "bag.mcap"
    data.with_name("bag.mcap.zstd").write_bytes(zstd.compress(data.read_bytes()))
    data.unlink()
    return folder


def test_a_packed_bag_that_has_changed_is_another_bag(tmp_path):
    (before,) = find_bags([packed_bag(tmp_path / "bag", efforts=(1.0, 2.0, 3.0))])
    data = tmp_path / "bag" / "bag.mcap.zstd"
    assert (before.size, before.modified) == (data.stat().st_size, data.stat().st_mtime_ns)
    data.write_bytes(data.read_bytes() + zstd.compress(bytes(100)))
    assert find_bags([tmp_path / "bag"]) != (before,)


def test_packed_data_files_without_metadata_are_bags_that_are_named(tmp_path):
    packed_bag(tmp_path / "bag", efforts=(1.0, 2.0, 3.0))
    (tmp_path / "bag" / "metadata.yaml").unlink()
    (found,) = find_bags([tmp_path])
    assert found.path.endswith("/bag/bag.mcap.zstd")
    with pytest.raises(BagError, match="unpack it first"), open_bag(found.path):
        pass


def test_a_bag_that_is_not_there_any_more_is_left_to_who_reads_it(tmp_path):
    messages = [message(START, NAMES, np.ones(3), None, np.ones(3))]
    write_messages(tmp_path / "good", messages, storage="mcap")
    (tmp_path / "not_fetched.mcap").symlink_to("/nowhere/annexed.mcap")
    found = find_bags([tmp_path])
    assert [Path(bag.path).name for bag in found] == ["good", "not_fetched.mcap"]
    assert without_copies(found) == (found, ())
    with (
        pytest.raises(BagError, match=r"not_fetched\.mcap: does not exist"),
        open_bag(found[1].path),
    ):
        pass


def test_a_folder_that_may_not_be_searched_is_named(tmp_path, monkeypatch):
    closed, listed = tmp_path / "lost+found", Path.iterdir
    closed.mkdir()

    def iterdir(path):
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    with pytest.raises(BagError, match=r"lost\+found: cannot be searched .*Permission denied"):
        find_bags([tmp_path])
