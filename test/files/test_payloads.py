"""Payload files that people write."""

import numpy as np
import pytest
import yaml

from robot_identification.errors import InputError, SettingError
from robot_identification.files.payloads import payload_mounting, read_payload
from robot_identification.robot.files.document import DIGEST, content_digest
from robot_identification.robot.files.kinds import PAYLOAD_KIND
from robot_identification.robot.files.loading import load_robot

UR10 = load_robot("ur10")


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


def _identified(path, *, digest=UR10.digest, translation=(0.0, 0.0, 0.08)):
    content = {
        "kind": PAYLOAD_KIND,
        "robot_digest": digest,
        "frame": {
            "name": "wrist_3_link",
            "joint": "wrist_3_joint",
            "rotation": np.eye(3).tolist(),
            "translation": list(translation),
        },
        "consistent": {"mass": 2.0, "centre": [0.1, 0.0, 0.02]},
    }
    path.write_text(yaml.safe_dump({**content, DIGEST: content_digest(content)}))
    return path


def test_an_identified_payload_is_mounted_in_the_frame_of_its_file(tmp_path):
    path = _identified(tmp_path / "payload.yaml")
    assert read_payload(path).mass == 2.0
    found = payload_mounting(path, "ur10", UR10)
    assert (found.frame, found.joint) == ("wrist_3_link", 5)
    np.testing.assert_array_equal(found.translation, [0.0, 0.0, 0.08])


def test_a_frame_that_people_state_counts_and_one_by_hand_is_the_last(tmp_path):
    path = _identified(tmp_path / "payload.yaml")
    assert payload_mounting(path, "ur10", UR10, "wrist_2_link").joint == 4
    np.testing.assert_array_equal(
        payload_mounting(path, "ur10", UR10, "wrist_3_link").translation, np.zeros(3)
    )
    path.write_text("mass: 2\n")
    for file in (path, None):
        assert payload_mounting(file, "ur10", UR10).frame == "wrist_3_link"


def test_a_frame_of_another_robot_file_is_taken_only_where_it_is_at_the_same_place(tmp_path):
    path = _identified(tmp_path / "payload.yaml", digest="other", translation=(0.0, 0.0, 0.0))
    assert payload_mounting(path, "ur10", UR10).joint == 5
    _identified(path, digest="other")
    with pytest.raises(SettingError, match=r"a frame at wrist_3_link of another robot file"):
        payload_mounting(path, "ur10", UR10)
