"""Bodies of a robot from the collision elements of its URDF."""

import pytest

from robot_identification.collision.model import load_collision_model
from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.files.loading import load_robot

URDF = """<robot name="arm">
  <link name="base"/>
  <link name="arm">
    <collision><geometry><cylinder radius="0.05" length="0.4"/></geometry></collision>
  </link>
  <link name="tool0">
    <collision><geometry>{}</geometry></collision>
  </link>
  <joint name="turn" type="revolute">
    <parent link="base"/> <child link="arm"/>
    <limit lower="-2" upper="2" velocity="2" effort="50"/>
  </joint>
  <joint name="flange" type="fixed"><parent link="arm"/> <child link="tool0"/></joint>
</robot>
"""


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ('<box size="0.1 0 0.1"/>', "size = 0.0: must be positive"),
        ('<sphere radius="0"/>', "radius = 0.0: must be positive"),
        ('<cylinder radius="0.1" length="0"/>', "length = 0.0: must be positive"),
        ('<capsule radius="0.1" length="-1"/>', "length = -1.0: must be 0 or more"),
    ],
)
def test_a_shape_without_a_size_is_refused_with_file_line_and_link(tmp_path, shape, said):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF.format(shape))
    robot = load_robot(path, effort_meaning="joint_torque")
    with pytest.raises(RobotDescriptionError, match=said) as caught:
        load_collision_model(path, robot)
    assert (caught.value.line, caught.value.field) == (7, "link[tool0].geometry")
    assert str(caught.value).startswith(f"{path}:7: ")
