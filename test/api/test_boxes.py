"""Boxes for centres of mass are in the frames that a URDF gives its links."""

import numpy as np
import pytest

from robot_identification.api.boxes import described_boxes
from robot_identification.calibration.consistency.checks import check_consistency
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values

URDF = """
<robot name="lever">
  <link name="base"/>
  <link name="arm"><inertial>
    <origin xyz="0.1 0.02 0.3"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
  <joint name="lift" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
  </joint>
</robot>
"""
NEAR = np.full(3, 1e-3)


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "lever.urdf"
    path.write_text(URDF)
    robot = load_robot(path, effort_meaning="joint_torque")
    return robot, load_values(path, robot)


@pytest.mark.parametrize("centre", [(0.1, 0.02, 0.3), (0.1, 0.02, 0.31)])
def test_a_box_is_in_the_frame_of_the_urdf(arm, centre):
    robot, values = arm
    boxes = described_boxes(robot, {"arm": (centre - NEAR, centre + NEAR)})
    (link,) = check_consistency(robot, values, boxes=boxes).links
    assert link.centre_in_box == (centre[2] == 0.3)
    np.testing.assert_allclose(link.centre_seen, [0.1, 0.02, 0.3], atol=1e-12)
    told = "link arm: the centre of mass (0.1, 0.02, 0.3) is outside its box"
    assert link.problem == ("" if link.centre_in_box else told)


def test_a_box_is_placed_once(arm):
    robot, _ = arm
    boxes = described_boxes(robot, {"arm": (-NEAR, NEAR)})
    assert described_boxes(robot, boxes) == boxes


def test_a_robot_without_a_urdf_has_the_frames_of_its_joints():
    boxes = described_boxes(load_robot("scara"), {"link_2": (-NEAR, NEAR)})
    np.testing.assert_array_equal(boxes["link_2"].rotation, np.eye(3))
