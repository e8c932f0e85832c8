"""Cell files, and what robots must not touch where nobody says anything."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("coal", reason="the package coal is not installed")

from made_up_cells import ARM, collisions, limits_of, swing
from robot_identification.collision import engine
from robot_identification.collision.bodies.hulls import hull
from robot_identification.collision.cells.cell import read_cell
from robot_identification.collision.model import load_collision_model
from robot_identification.collision.scene import STATIC
from robot_identification.errors import RobotDescriptionError, SettingError
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.robot.files.loading import load_robot

URDF = """<robot name="post">
  <link name="base"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.5"/><geometry>{shape}</geometry></collision></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/>
    <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9" velocity="1"/>
  </joint>
</robot>"""


def urdf(tmp_path, shape='<cylinder radius="0.05" length="0.8"/>'):
    path = tmp_path / "post.urdf"
    path.write_text(URDF.format(shape=shape))
    return path


def names(model):
    return {frozenset(model.scene.names(pair)) for pair in range(len(model.scene.pairs))}


def test_a_urdf_stands_on_the_plane_of_its_base_unless_it_is_told_otherwise(tmp_path):
    path = urdf(tmp_path)
    model = load_collision_model(path, load_robot(path))
    assert names(model) == {frozenset(("arm", "floor"))}
    assert "stands on the plane of its base" in " ".join(model.remarks)
    for mounting, obstacle in (("{wall: x}", "wall"), ("{pedestal: 0.5}", "floor"), ("none", None)):
        cell = tmp_path / "cell.yaml"
        cell.write_text(f"mounting: {mounting}\n")
        told = load_collision_model(path, load_robot(path), cell=cell)
        assert names(told) == ({frozenset(("arm", obstacle))} if obstacle else set())
        assert not told.remarks


def test_a_link_that_the_plane_always_touches_is_told(tmp_path):
    """An arm that points up cannot hang from a ceiling."""
    path, cell = urdf(tmp_path), tmp_path / "cell.yaml"
    cell.write_text("mounting: ceiling\n")
    (remark,) = load_collision_model(path, load_robot(path), cell=cell).remarks
    assert remark == "arm and ceiling are not checked: always nearer than 0.02 m"


def test_links_of_the_arm_that_are_not_checked_against_each_other_are_told():
    """Those that a joint connects are not told: nobody expects a distance between them."""
    (remark,) = load_collision_model("tx40", load_robot("tx40")).remarks
    assert remark == (
        "not checked against each other: link_2 and link_4, link_4 and link_6 "
        "(always nearer than 0.02 m)"
    )


def test_what_is_not_checked_is_said_and_why(tmp_path, monkeypatch):
    robot = load_robot("three_dof")
    assert "no collision shapes" in load_collision_model("three_dof", robot)
    path = urdf(tmp_path, '<mesh filename="package://nowhere/arm.stl"/>')
    described = load_robot(path)
    assert "nowhere/arm.stl is not found" in load_collision_model(path, described)
    cell = tmp_path / "cell.yaml"
    cell.write_text("mounting: floor\n")
    with pytest.raises(RobotDescriptionError, match="source the workspace"):
        load_collision_model(path, described, cell=cell)
    monkeypatch.setattr(engine, "find_spec", lambda _: None)
    assert "coal is not installed" in load_collision_model(path, described)


def test_what_is_fixed_beside_a_joint_is_not_connected_by_it(tmp_path):
    """A gripper may strike the link before the flange, but not its own flange."""
    tool = "tools: [{name: gripper, link: link_3, box: [0.6, 0.05, 0.05], at: [-0.3, 0.2, 0]}]\n"
    model = collisions(tmp_path, tool)
    assert frozenset(("gripper", "link_2")) in names(model)
    assert frozenset(("gripper", "hand")) not in names(model)


@pytest.mark.parametrize(
    ("name", "called"),
    [("", "link_3"), ("name: link_3, ", "link_3"), ("name: hand, ", "hand")],
)
def test_a_tool_that_is_called_as_its_link_is_not_that_link(tmp_path, name, called):
    """A tool without a name may strike the link before the flange like any other."""
    shape = "box: [0.6, 0.05, 0.05], at: [-0.3, 0.2, 0]"
    model = collisions(tmp_path, f"tools: [{{{name}link: link_3, {shape}}}]\n")
    assert frozenset((f"{called} (tool)", "link_2")) in names(model)


def test_a_posture_that_nobody_called_free_leaves_no_pair_out(tmp_path):
    """The gripper overlaps link 1 at zero; where that is the rest posture, it must."""
    tool = "tools: [{name: gripper, link: link_3, box: [0.1, 0.1, 0.6], at: [-0.43, 0, 0]}]\n"
    pair = frozenset(("gripper", "link_1"))
    assert pair in names(collisions(tmp_path, tool))
    rested = collisions(tmp_path, tool + "rest: {joint_1: 0.0}\n")
    assert pair not in names(rested)
    told = {frozenset((one.first, one.second)): one.reason for one in rested.scene.left_out}
    assert any({"gripper", "link_1"} <= {n.split(" ")[0] for n in two} for two in told)


def test_a_sheet_in_a_mesh_is_a_thin_plate(tmp_path):
    """Real meshes have parts without volume."""
    corners = np.array([[0.0, 0.0, 0.1], [0.3, 0.0, 0.1], [0.3, 0.2, 0.1], [0.0, 0.2, 0.1]])
    for points in (corners, corners[:2], corners[:1]):
        plate = hull(points, tmp_path)
        assert plate.vertices.min(axis=0) == pytest.approx(points.min(axis=0), abs=2e-4)
        assert plate.vertices.max(axis=0) == pytest.approx(points.max(axis=0), abs=2e-4)
    with pytest.raises(RobotDescriptionError, match="NaN"):
        hull(np.full((4, 3), np.nan), tmp_path)


def test_pairs_that_must_touch_are_left_out_and_told(tmp_path):
    model = collisions(tmp_path)
    told = {frozenset((one.first, one.second)): one.reason for one in model.scene.left_out}
    assert told[frozenset(("link_2", "hand"))] == "a joint connects them"
    assert frozenset(("hand", "floor")) in names(model)


@pytest.mark.parametrize("size", [0.9, 4.0])
def test_no_wall_of_a_narrow_cell_is_left_out(tmp_path, size):
    """The hand is out of a room of 0.9 m in nearly every posture."""
    model = collisions(tmp_path, f"keep_in: [{{name: room, box: [{size}, {size}, {size}]}}]\n")
    kept = {other for pair in names(model) if "hand" in pair for other in pair}
    assert {f"room {sign}{axis}" for sign in "+-" for axis in "xyz"} <= kept


@pytest.mark.parametrize(("gap", "checked"), [(0.005, True), (0.2, False)])
def test_what_a_link_cannot_touch_is_kept_clear_of_all_the_same(tmp_path, gap, checked):
    """Link 2 reaches to a plate but for the gap; 2 cm are wanted, and the hand is folded back."""
    reach = np.hypot(0.5, 0.2) + 0.06
    plate = f"obstacles: [{{name: plate, box: [0.1, 4, 4], at: [{reach + gap + 0.05}, 0, 0]}}]\n"
    model = collisions(tmp_path, plate)
    assert (frozenset(("link_2", "plate")) in names(model)) == checked
    stretched = swing(0, 0.6, 4.0, begin=(-0.68, 0.0, 3.0))
    found = Surroundings(collisions=model).clearance(stretched, limits_of())
    assert found.kept != checked
    if checked:
        assert set(found.nearest.pair) == {"link_2", "plate"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("obstacle: []\n", "obstacle"),
        ("obstacles: [{name: table}]\n", "give one of box"),
        ("obstacles: [{name: table, box: [1, 1, -1]}]\n", "box"),
        ("mounting: {wall: up}\n", "mounting"),
        ("clearance: 0\n", "clearance"),
    ],
)
def test_a_cell_file_that_is_wrong_is_refused_with_file_and_field(tmp_path, text, words):
    path = tmp_path / "cell.yaml"
    path.write_text(text)
    with pytest.raises(RobotDescriptionError, match=words) as caught:
        read_cell(path)
    assert str(path) in str(caught.value)


def test_links_joints_and_distances_that_cannot_be_are_named(tmp_path):
    with pytest.raises(SettingError, match=r"link_4.*no link of this name"):
        collisions(tmp_path, "tools: [{name: gripper, link: link_4, sphere: {radius: 0.1}}]\n")
    with pytest.raises(SettingError, match=r"elbow.*no joint"):
        collisions(tmp_path, "rest: {elbow: 1.0}\n")
    with pytest.raises(SettingError, match=r"rest: joint_2 = -90.* more than two turns"):
        collisions(tmp_path, "rest: {joint_2: -90}\n")
    with pytest.raises(SettingError, match="clearance"):
        collisions(tmp_path, clearance=-0.1)
    with pytest.raises(SettingError, match="clearance"):
        load_collision_model("scara", load_robot("scara"), clearance=-0.1)  # without shapes


def test_a_link_carries_no_plane(tmp_path):
    with pytest.raises((RobotDescriptionError, SettingError), match="plane"):
        collisions(tmp_path, "tools: [{name: shield, link: link_3, plane: [0, 0, 1]}]\n")
    body = collisions(tmp_path).scene.bodies[-1]
    assert (body.link, body.joint) == ("floor", STATIC)
    with pytest.raises(SettingError, match="floor: a link cannot carry a plane"):
        replace(body, joint=2)


def test_what_two_files_say_counts_together(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(ARM + "clearance: 0.05\n")
    more = tmp_path / "more.yaml"
    more.write_text("clearance: 0.03\nobstacles: [{name: table, box: [1, 1, 1], at: [2, 0, 0]}]\n")
    both = read_cell(more).beside(read_cell(own))
    assert both.clearance == 0.03
    assert [one.name for one in both.standing] == ["table"]
    assert [one.name for one in both.links] == ["hand"]
    assert {one.name for one in both.mounting} == {"floor"}


def test_a_scene_is_worked_out_once_for_what_it_depends_on(tmp_path):
    first = collisions(tmp_path)
    assert collisions(tmp_path).scene is first.scene
    wider = "obstacles: [{name: post, box: [0.1, 0.1, 3.0], at: [0.7, 0.7, 0]}]\n"
    assert collisions(tmp_path, wider).scene is not first.scene
    assert collisions(tmp_path, clearance=0.03).scene is not first.scene
    assert collisions(tmp_path).scene is first.scene
