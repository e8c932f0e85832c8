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


MESH = "solid plate\nfacet normal 0 0 1\nouter loop\n{}endloop\nendfacet\nendsolid plate\n"


def test_a_mesh_in_millimetres_is_refused_with_the_scale_that_it_needs(tmp_path):
    path = tmp_path / "arm.urdf"
    corners = ("0 0 0", "200 0 0", "0 80 0")
    (tmp_path / "plate.stl").write_text(MESH.format("".join(f"vertex {c}\n" for c in corners)))
    path.write_text(URDF.format('<mesh filename="plate.stl"/>'))
    robot = load_robot(path, effort_meaning="joint_torque")
    with pytest.raises(RobotDescriptionError, match=r"reaches 200 m.*in mm.*0\.001") as caught:
        load_collision_model(path, robot)
    assert (caught.value.line, caught.value.field) == (7, "link[tool0].collision")
    path.write_text(URDF.format('<mesh filename="plate.stl" scale="0.001 0.001 0.001"/>'))
    assert load_collision_model(path, load_robot(path, effort_meaning="joint_torque")).scene.bodies


def test_what_stands_still_may_be_as_large_as_a_hall(tmp_path):
    path = tmp_path / "arm.urdf"
    text = URDF.format('<sphere radius="0.1"/>')
    hall = '<collision><geometry><box size="200 200 0.1"/></geometry></collision>'
    path.write_text(text.replace('<link name="base"/>', f'<link name="base">{hall}</link>'))
    robot = load_robot(path, effort_meaning="joint_torque")
    assert len(load_collision_model(path, robot).scene.bodies) == 4


def test_a_tool_in_millimetres_is_refused(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF.format('<sphere radius="0.1"/>'))
    robot = load_robot(path, effort_meaning="joint_torque")
    cell = tmp_path / "cell.yaml"
    cell.write_text("tools: [{name: gripper, link: tool0, box: [30, 80, 150]}]\n")
    with pytest.raises(RobotDescriptionError, match=r"tools\[0\]: reaches 86.* m; is it in mm"):
        load_collision_model(path, robot, cell=cell)
