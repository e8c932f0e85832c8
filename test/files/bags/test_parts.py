import numpy as np
import pytest

from robot_identification.errors import OutputError
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE, encode
from robot_identification.files.bags.files import open_bag
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.parts import BagMessage, PartedBag

NAMES = ("a", "b")
START = 1_700_000_000_000_000_000


def messages(first, last):
    numbers = np.arange(first, last)
    values = np.column_stack([numbers, -numbers]).astype(np.float64)
    table = encode(START + numbers * 1_000_000, NAMES, values, None, values)
    return [
        BagMessage("/joint_states", MESSAGE_TYPE, START + int(n) * 1_000_000, row.tobytes())
        for n, row in zip(numbers, table, strict=True)
    ]


@pytest.mark.parametrize("closed", [True, False])
def test_parts_are_one_bag_with_checksums_before_and_after_it_is_closed(tmp_path, closed):
    bag = PartedBag(tmp_path / "run")
    for first in range(0, 1200, 100):
        bag.write(messages(first, first + 100))
    if closed:
        bag.close()
    read = read_joint_states(tmp_path / "run", NAMES)
    assert read.samples.position[:, 0].tolist() == list(range(1200))
    assert not any("checksum" in line for line in read.warnings)
    assert any("metadata" in line for line in read.warnings) is not closed
    with open_bag(tmp_path / "run") as opened:
        assert len(opened.files) == 12


def test_files_without_metadata_are_read_by_their_numbers(tmp_path):
    """As `ros2 bag record` numbers them, without leading zeros."""
    parts = PartedBag(tmp_path / "parts")
    (tmp_path / "run").mkdir()
    for number in range(12):
        parts.write(messages(10 * number, 10 * number + 10))
        made = tmp_path / "parts" / f"parts_{number:05d}.mcap"
        made.rename(tmp_path / "run" / f"run_{number}.mcap")
    read = read_joint_states(tmp_path / "run", NAMES)
    assert read.samples.position[:, 0].tolist() == list(range(120))


def test_a_part_that_was_broken_off_does_not_harm_those_before(tmp_path):
    bag = PartedBag(tmp_path / "run")
    bag.write(messages(0, 100))

    def breaking_off():
        yield from messages(100, 150)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bag.write(_Endless(breaking_off))
    assert len(read_joint_states(tmp_path / "run", NAMES).samples.stamps) == 100
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run_00000.mcap"]


class _Endless(list):
    def __init__(self, make):
        super().__init__([None])
        self._make = make

    def __iter__(self):
        return self._make()


def test_nothing_that_is_there_is_written_over(tmp_path):
    PartedBag(tmp_path / "run").write(messages(0, 10))
    with pytest.raises(OutputError, match="already there"):
        PartedBag(tmp_path / "run")
    with pytest.raises(OutputError, match="does not exist"):
        PartedBag(tmp_path / "nowhere" / "run")
