"""Parameters of a robot are not taken for those of the same robot with other link frames."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.robot.files.link_frames import geometry_entries, other_link_frames
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.geometry import rotation_z

UR10 = load_robot("ur10")


def _with(index, **changes):
    joints = list(UR10.joints)
    joints[index] = replace(joints[index], geometry=None, **changes)
    return replace(UR10, joints=tuple(joints))


def test_a_robot_has_its_own_link_frames_also_as_matrices():
    stated = geometry_entries(UR10)
    assert other_link_frames(UR10, stated) is None
    assert other_link_frames(UR10, geometry_entries(_with(3))) is None


@pytest.mark.parametrize(
    ("index", "turn", "move", "words"),
    [
        (
            5,
            np.pi / 2,
            0.0,
            "the frame of wrist_3_joint is turned otherwise in that of wrist_2_joint",
        ),
        (2, 0.0, 0.01, "the frame of elbow_joint is elsewhere in that of shoulder_lift_joint"),
    ],
)
def test_a_frame_that_is_placed_otherwise_is_named(index, turn, move, words):
    joint = UR10.joints[index]
    other = _with(
        index,
        rotation=joint.rotation @ rotation_z(turn),
        translation=joint.translation + np.array([move, 0.0, 0.0]),
    )
    assert other_link_frames(other, geometry_entries(UR10)) == words


def test_where_the_base_stands_has_no_part_in_them():
    mounted = _with(0, rotation=UR10.joints[0].rotation @ rotation_z(0.3))
    assert other_link_frames(mounted, geometry_entries(UR10)) is None


def test_other_joints_and_antecedents_are_named():
    stated = geometry_entries(UR10)
    reordered = {name: stated[name] for name in reversed(stated)}
    assert "in this order" in str(other_link_frames(UR10, reordered))
    stated["elbow_joint"]["antecedent"] = "base"
    words = "the antecedent of elbow_joint was base, here it is shoulder_lift_joint"
    assert other_link_frames(UR10, stated) == words
