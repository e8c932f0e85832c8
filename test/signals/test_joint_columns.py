"""Joints of a robot among recorded ones, found by their names."""

import pytest

from robot_identification.errors import JointNameError, RecordingError
from robot_identification.signals.joint_columns import JointColumns

GRIPPER = ["finger_1", "finger_2"]


@pytest.fixture
def columns():
    return JointColumns(("a", "b"), "/joint_states")


def test_joints_are_found_by_their_names(columns):
    for _ in range(2):
        assert columns.of(["b", "c", "a"]).tolist() == [2, 0]
    assert columns.of(["a", "b"]).tolist() == [0, 1]
    with pytest.raises(JointNameError, match="joint b of the robot"):
        columns.of(["a", "c"])
    with pytest.raises(RecordingError, match="/joint_states: joint a is named twice"):
        columns.of(["a", "b", "a"])


def test_states_of_a_gripper_between_those_of_the_robot_do_not_concern_it(columns):
    for _ in range(300):
        assert columns.concern(["b", "x", "a"])
        columns.of(["b", "x", "a"])
        assert not columns.concern(GRIPPER)
        assert not columns.concern([])


def test_states_with_some_joints_of_the_robot_concern_it(columns):
    columns.of(["a", "b"])
    assert columns.concern(["a"])
    assert columns.concern([*GRIPPER, "b"])


def test_names_that_match_nowhere_concern_the_robot_as_they_are_wrong(columns):
    asked = [columns.concern(GRIPPER) for _ in range(200)]
    assert not any(asked[:100]), "its driver may only have begun before that of the robot"
    assert all(asked[100:])
    with pytest.raises(JointNameError, match="joint a, b of the robot is not among the recorded"):
        columns.of(GRIPPER)


def test_so_do_names_that_have_become_wrong(columns):
    """A driver was started again with a prefix."""
    columns.of(["a", "b"])
    renamed = [columns.concern(["left_a", "left_b"]) for _ in range(200)]
    assert not any(renamed[:100])
    assert all(renamed[100:])
    assert columns.concern(["a", "b"])
    assert not columns.concern(GRIPPER)
