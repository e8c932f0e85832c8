"""Where another robot of the cell stands: by the cell file, by its joint states, by its loops."""

import numpy as np
import pytest

from looped_robots import hitachi, parallelogram
from robot_identification.collision.cells.cell import Arm, read_cell
from robot_identification.collision.cells.other_arms import arm_position
from robot_identification.collision.cells.postures import outside_of_limits
from robot_identification.errors import RobotDescriptionError, SettingError
from robot_identification.robot.files.loading import load_robot


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


def test_a_posture_in_degrees_is_refused_and_one_outside_of_the_limits_told(tmp_path):
    (tmp_path / "cell.yaml").write_text("arms: [{name: other, robot: ur10, at: [5, 0, 0]}]\n")
    cell = read_cell(tmp_path / "cell.yaml")
    robot = load_robot("ur10")
    name = robot.joint_names[0]
    with pytest.raises(SettingError, match=f"other: position: {name} = 90.* more than two turns"):
        arm_position(arm({name: 90.0}), robot, None)
    upper = robot.joints[0].limits.upper
    (told,) = outside_of_limits(robot, {name: upper + 1.0, robot.joint_names[1]: 0.0})
    assert told.startswith(f"{name} at {upper + 1.0:g}, outside of its limits")
    assert not outside_of_limits(robot, cell.arms[0].position)


def test_postures_are_in_multiples_of_pi_too(tmp_path):
    path = tmp_path / "cell.yaml"
    text = (
        "rest: {{joint_2: {0}}}\narms: [{{name: one, robot: ur10, position: {{elbow_joint: {0}}}}}]"
    )
    path.write_text(text.format("-pi/2"))
    cell = read_cell(path)
    assert cell.rest == {"joint_2": -np.pi / 2}
    assert cell.arms[0].position == {"elbow_joint": -np.pi / 2}
    path.write_text(text.format("ninety"))
    with pytest.raises(RobotDescriptionError, match=r"rest\.joint_2: ninety is neither a number"):
        read_cell(path)
