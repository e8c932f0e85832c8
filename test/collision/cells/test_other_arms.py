"""Where another robot of the cell stands: by the cell file, by its joint states, by its loops."""

import numpy as np
import pytest

from looped_robots import hitachi, parallelogram
from robot_identification.collision.cells.cell import Arm
from robot_identification.collision.cells.other_arms import arm_position
from robot_identification.errors import SettingError


def arm(position, joint_states=""):
    return Arm("other", "other.yaml", np.eye(3), np.zeros(3), position, joint_states)


def test_joints_that_follow_stand_where_their_relations_put_them():
    told = {"joint_3": 0.5, "joint_4": 0.2, "joint_6": 1.0}
    expected = [0.0, 0.5 - 0.2, 0.5, 0.2, 3.0 * np.pi - 0.2, 1.0, 0.0]
    np.testing.assert_allclose(arm_position(arm(told), hitachi(), None), expected)


def test_a_joint_that_follows_stands_where_the_file_says():
    found = arm_position(arm({"joint_1": 0.5, "joint_2": -0.45}), parallelogram(), None)
    np.testing.assert_allclose(found, [0.5, -0.45, 0.5])


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"joint_1": 0.7}, [0.7, -0.7, 0.7]),
        ({"joint_1": 0.7, "joint_2": -0.69}, [0.7, -0.69, 0.7]),
    ],
)
def test_joint_states_say_where_joints_are_that_follow_what_they_tell(told, expected):
    """That the file has one of them, as it once stood, does not count any more."""
    described = arm({"joint_1": 0.5, "joint_2": -0.5}, "/other/joint_states")
    found = arm_position(described, parallelogram(), {"other": told})
    np.testing.assert_allclose(found, expected)


def test_joints_that_nobody_tells_are_named_without_those_that_follow():
    described = arm({"joint_3": 0.5}, "/other/joint_states")
    told = {"other": {"joint_1": 0.0, "joint_4": 0.0}}
    with pytest.raises(SettingError, match="where its joints joint_6, joint_7 are"):
        arm_position(described, hitachi(), told)
