"""Frames of payloads: links, joints, frames of the URDF, and frames placed in them."""

import numpy as np
import pytest

from payload_runs import BODY
from random_robots import random_robot
from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.bodies import body_of
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.mounting import mounting, placed, urdf_frames

URDF = """<robot name="arm">
  <link name="base"/><link name="upper"/><link name="fore"/><link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit effort="1" velocity="1" lower="-1" upper="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/>
    <origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
    <limit effort="1" velocity="1" lower="-1" upper="1"/></joint>
  <joint name="flange" type="fixed"><parent link="fore"/><child link="tool"/>
    <origin xyz="0 0 0.3" rpy="0 0 1.5707963267948966"/></joint>
</robot>"""


def test_the_last_link_is_where_a_payload_is_unless_said_otherwise():
    robot = load_robot("ur10")
    assert mounting(robot).frame == robot.joints[-1].link
    assert mounting(robot, "elbow_joint").joint == 2
    assert mounting(robot, "forearm_link").joint == 2


def test_a_frame_behind_fixed_joints_of_the_urdf(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    robot = load_robot(path, effort_meaning="joint_torque")
    frames = urdf_frames(path, robot)
    tool = mounting(robot, "tool", frames)
    assert tool.joint == 1
    fore = mounting(robot, "fore", frames)
    in_fore = BODY.seen_from(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]]), np.array([0, 0, 0.3]))
    np.testing.assert_allclose(
        tool.to_link @ BODY.standard, fore.to_link @ in_fore.standard, atol=1e-12
    )
    with pytest.raises(SettingError, match="does not move"):
        mounting(robot, "base", frames)


def test_a_joint_of_a_urdf_is_where_the_link_is_that_it_moves(tmp_path):
    """The robot's own frame is turned, so that its z axis is the axis of motion."""
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    robot = load_robot(path, effort_meaning="joint_torque")
    frames = urdf_frames(path, robot)
    joint, link = (mounting(robot, name, frames) for name in ("elbow", "fore"))
    assert joint.frame == "fore", "transforms know links"
    np.testing.assert_array_equal(joint.to_link, link.to_link)
    assert not np.allclose(joint.rotation, np.eye(3))


def test_a_body_keeps_itself_when_its_frame_moves():
    place = placed(mounting(load_robot("ur10")), [0.1, -0.2, 0.3], [0.3, 0.2, -1.0])
    seen = BODY.seen_from(place.rotation, place.translation)
    np.testing.assert_allclose(place.to_link @ BODY.standard, seen.standard, atol=1e-14)
    back = body_of(np.linalg.solve(place.to_link, seen.standard))
    np.testing.assert_allclose(back.inertia, BODY.inertia, atol=1e-13)


def test_frames_that_cannot_be_are_refused():
    robot = load_robot("ur10")
    with pytest.raises(SettingError, match="did you mean"):
        mounting(robot, "wrist_3_lin")
    with pytest.raises(ShapeError):
        placed(mounting(robot), [0.0, 0.0], [0.0, 0.0, 0.0])
    with pytest.raises(SettingError, match="finite"):
        placed(mounting(robot), [0.0, 0.0, np.nan], [0.0, 0.0, 0.0])


def test_a_tree_with_several_last_links_asks_for_one():
    rng = np.random.default_rng(0)
    trees = (random_robot(rng, 6) for _ in range(100))
    tree = next(
        robot
        for robot in trees
        if len({j.antecedent for j in robot.joints if j.antecedent >= 0}) < 4
    )
    with pytest.raises(SettingError, match="several last links"):
        mounting(tree)
