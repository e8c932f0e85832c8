"""Payload files that people write."""

import numpy as np
import pytest

from robot_identification.errors import InputError
from robot_identification.files.payloads import read_payload


def test_what_is_stated_is_known(tmp_path):
    path = tmp_path / "payload.yaml"
    path.write_text("mass: 2\n")
    assert read_payload(path).places == (9,)
    path.write_text("mass: 2.0\ncentre: [0.1, 0, -0.02]\n")
    assert read_payload(path).places == (6, 7, 8, 9)
    path.write_text("mass: 2\ncentre: [0.1, 0, 0]\ninertia: [0.01, 0.001, 0, 0.02, 0, 0.015]\n")
    found = read_payload(path)
    assert len(found.places) == 10
    assert found.inertia[1, 0] == found.inertia[0, 1] == 0.001
    np.testing.assert_allclose(found.values[6:], [0.2, 0.0, 0.0, 2.0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- 1\n", "mass, centre and inertia"),
        ("mass: heavy\n", "a number"),
        ("mass: -2\n", "positive"),
        ("mass: 2\nweight: 3\n", "mass, centre and inertia"),
        ("mass: 2\ncentre: [0, 1]\n", "3 numbers"),
        ("mass: 2\ncentre: [0, 1, true]\n", "3 numbers"),
        ("mass: 2\ninertia: [1, 0, 0, 1, 0, 1]\n", "only with the centre"),
        ("mass: .nan\n", "finite"),
        ("kind: robot_identification/payload\nmass: 2\n", "checksum"),
    ],
)
def test_what_no_payload_file_says_is_refused(tmp_path, text, words):
    path = tmp_path / "payload.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_payload(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="absent"):
        read_payload(tmp_path / "absent.yaml")
