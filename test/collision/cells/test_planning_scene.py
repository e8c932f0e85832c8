"""Planning scenes of MoveIt, as ros2 prints them."""

import numpy as np
import pytest

pytest.importorskip("coal", reason="the package coal is not installed")

from made_up_cells import collisions
from robot_identification.collision.bodies.shapes import Box, Cylinder, HalfSpace, Hull
from robot_identification.collision.cells.cell import read_cell
from robot_identification.errors import RobotDescriptionError

SCENE = """
name: (noname)
robot_state:
  is_diff: false
  attached_collision_objects:
  - link_name: link_3
    object:
      header: {frame_id: link_3}
      id: gripper
      primitives: [{type: 2, dimensions: [0.1]}]
      primitive_poses:
      - position: {x: 0.4, y: 0.0, z: 0.0}
        orientation: {x: 0.0, y: 0.0, z: 0.0, w: 1.0}
      operation: "\\0"
world:
  collision_objects:
  - header: {stamp: {sec: 0, nanosec: 0}, frame_id: world}
    pose:
      position: {x: 1.0, y: 0.0, z: 0.0}
      orientation: {x: 0.0, y: 0.0, z: 0.7071067811865476, w: 0.7071067811865476}
    id: table
    primitives:
    - {type: 1, dimensions: [0.4, 0.2, 0.1]}
    - {type: 4, dimensions: [0.3, 0.05]}
    primitive_poses:
    - position: {x: 0.5, y: 0.0, z: 0.0}
      orientation: {x: 0.0, y: 0.0, z: 0.0, w: 1.0}
    - position: {x: 0.0, y: 0.0, z: 0.2}
      orientation: {x: 0.0, y: 0.0, z: 0.0, w: 1.0}
    meshes:
    - vertices:
      - {x: 0.0, y: 0.0, z: 0.0}
      - {x: 0.1, y: 0.0, z: 0.0}
      - {x: 0.0, y: 0.1, z: 0.0}
      - {x: 0.0, y: 0.0, z: 0.1}
      triangles: []
    mesh_poses: []
    planes: [{coef: [0.0, 0.0, 2.0, 1.0]}]
    plane_poses: []
    operation: "\\0"
  - header: {frame_id: world}
    id: taken away
    operation: "\\x01"
  octomap: {octomap: {data: []}}
is_diff: false
---
"""


def read(folder, text=SCENE, entry="{file: scene.yaml, frame: world, at: [0, 0, 0.5]}"):
    (folder / "scene.yaml").write_text(text)
    cell = folder / "cell.yaml"
    cell.write_text(f"planning_scene: {entry}\n")
    return read_cell(cell)


def test_objects_stand_where_the_scene_says(tmp_path):
    box, cone, mesh, plane = read(tmp_path).standing
    assert [type(one.shape) for one in (box, cone, mesh, plane)] == [Box, Cylinder, Hull, HalfSpace]
    assert {one.link for one in (box, cone, mesh, plane)} == {"table"}
    assert box.shape.size == (0.4, 0.2, 0.1)
    np.testing.assert_allclose(box.translation, [1.0, 0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(box.rotation @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-12)
    assert (cone.shape.radius, cone.shape.length) == (0.05, 0.3)
    np.testing.assert_allclose(cone.translation, [1.0, 0.0, 0.7], atol=1e-12)
    np.testing.assert_allclose(plane.translation, [1.0, 0.0, 0.0], atol=1e-12)


def test_what_is_attached_to_a_link_is_its_tool(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE)
    model = collisions(tmp_path, "planning_scene: {file: scene.yaml, frame: world}\n")
    (tool,) = (body for body in model.scene.bodies if body.link == "gripper")
    assert tool.joint == 2
    np.testing.assert_allclose(tool.translation, [0.4, 0.0, 0.0])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("frame_id: world}\n    pose", "frame_id: map}\n    pose", "'map', not in 'world'"),
        ("frame_id: link_3}", "frame_id: world}", "'world', not in 'link_3'"),
        ("data: []", "data: [1, 2]", "octomap"),
        ("dimensions: [0.4, 0.2, 0.1]", "dimensions: [0.4, 0.2]", "3 numbers"),
        ("dimensions: [0.4, 0.2, 0.1]", "dimensions: [0.4, -0.2, 0.1]", "positive"),
        ("dimensions: [0.4, 0.2, 0.1]", "dimensions: [0.4, .nan, 0.1]", "finite"),
        ("type: 1", "type: 5", "box, sphere, cylinder or cone"),
        ("coef: [0.0, 0.0, 2.0, 1.0]", "coef: [0.0, 0.0, 0.0, 1.0]", "normal"),
        ("      - {x: 0.0, y: 0.0, z: 0.1}\n", "      - '...'\n", "full-length"),
        ("is_diff: false\n---", "is_diff: true\n---", "only what has changed"),
        ("world:\n", "worlds:\n", "world is missing"),
    ],
)
def test_what_cannot_be_taken_over_is_refused_with_its_place(tmp_path, old, new, words):
    assert old in SCENE
    with pytest.raises(RobotDescriptionError, match=words) as caught:
        read(tmp_path, SCENE.replace(old, new))
    assert "scene.yaml" in str(caught.value)


def test_a_plane_that_a_link_carries_is_refused_with_its_place(tmp_path):
    """A plane has no end: wherever the link is, it would go through the whole cell."""
    shield = "id: gripper\n      planes: [{coef: [0.0, 0.0, -1.0, 0.5]}]"
    with pytest.raises(RobotDescriptionError, match="a plane cannot be carried") as caught:
        read(tmp_path, SCENE.replace("id: gripper", shield))
    assert "scene.yaml:10" in str(caught.value)
    assert "attached_collision_objects[0].object.planes[0]" in str(caught.value)


def test_a_scene_that_is_not_there_is_named(tmp_path):
    with pytest.raises(RobotDescriptionError, match=r"none\.yaml"):
        read(tmp_path, entry="{file: none.yaml, frame: world}")
