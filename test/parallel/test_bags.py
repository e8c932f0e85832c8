"""Bags that places stand for, packed ones too."""

import numpy as np
import pytest

from made_up_bags import NAMES, START, message, write_messages
from robot_identification.errors import BagError
from robot_identification.files.bags.files import open_bag
from robot_identification.files.mcap.chunks import zstd
from robot_identification.parallel.bags import find_bags


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
