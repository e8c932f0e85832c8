"""Files with folded recordings: what is damaged or of others counts as absent."""

import numpy as np
import pytest

from robot_identification.files.parts import Skipped, StoredPart, read_part, write_part
from robot_identification.identification.parts import Part
from robot_identification.identification.rows.bands import BandGrams
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.source import Source

COLUMNS = (np.arange(2), np.arange(1))
KEY = "bags and settings"


@pytest.fixture(scope="module")
def stored():
    rng = np.random.default_rng(0)
    factors = tuple(
        JointFactor(joint, own, np.triu(rng.normal(size=(len(own) + 1, len(own) + 1))), 5)
        for joint, own in zip(("hip", "knee"), COLUMNS, strict=True)
    )
    grams = BandGrams(
        COLUMNS, rng.normal(size=(2, 5, 5)), np.ones(2), np.ones((2, 2)), np.ones((2, 2, 2))
    )
    part = Part((Source("bag", "", 3, 1.0),), (factors,), grams)
    return StoredPart(part, (Skipped("other", "empty"),))


def test_a_part_comes_back_by_its_key_alone(stored, tmp_path):
    path = tmp_path / "part.npz"
    write_part(path, KEY, stored)
    assert read_part(path, KEY) == stored
    assert read_part(path, "other settings") is None
    assert read_part(tmp_path / "none.npz", KEY) is None


DIRECTORY = b"PK\x01\x02"  # begin of an entry
NEEDED, FLAGS, PACKING = (
    6,
    8,
    10,
)  # version that is needed, whether it is encrypted, how it is packed


@pytest.mark.parametrize("field", [NEEDED, FLAGS, PACKING])
def test_a_part_whose_archive_is_damaged_counts_as_absent(stored, tmp_path, field):
    path = tmp_path / "part.npz"
    write_part(path, KEY, stored)
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(DIRECTORY) + field] ^= 0x81
    path.write_bytes(damaged)
    assert read_part(path, KEY) is None
