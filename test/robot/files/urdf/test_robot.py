"""A URDF becomes the same robot as a Denavit-Hartenberg table; what is wrong is named."""

import pickle
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.collision.model import load_collision_model
from robot_identification.errors import MissingLimitError, RobotDescriptionError
from robot_identification.files.export.urdf import read_urdf_text
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.robot import read_urdf
from robot_identification.robot.files.urdf.xml_document import read_description
from robot_identification.robot.geometry import axis_frame, forward_kinematics
from robot_identification.robot.joint import JointType
from robot_identification.robot.limits import require_limits
from urdf_arm import ARM, changed


@pytest.fixture
def refused(write):
    def refused(text):
        path = write(text, "arm.urdf")
        with pytest.raises(RobotDescriptionError) as caught:
            read_urdf(path)
        assert caught.value.path == str(path)
        return caught.value

    return refused


def test_fixed_joints_are_merged(write):
    robot = load_robot(write(ARM, "arm.urdf"))
    assert robot.joint_names == ("shoulder", "elbow", "gripper")
    assert [joint.link for joint in robot.joints] == ["upper", "fore", "finger"]
    assert [joint.antecedent for joint in robot.joints] == [-1, 0, 1]
    assert robot.joints[2].type is JointType.PRISMATIC
    assert robot.base_link == "floor"
    assert robot.effort_meaning is None


def test_a_fixed_joint_that_is_said_to_mimic_another_is_fixed(write):
    text = changed('<origin xyz="0.4 0 0" rpy="0 0 0.5"/>', '<mimic joint="elbow"/>')
    assert load_robot(write(text, "arm.urdf")).joint_names == ("shoulder", "elbow", "gripper")


def test_no_joint_is_called_as_the_errors_of_all_joints_are(refused, write):
    error = refused(ARM.replace('"elbow"', '"total"'))
    assert "total is what errors of all joints together are called" in error.told
    fixed = ARM.replace('name="elbow" type="revolute"', 'name="total" type="fixed"')
    if fixed != ARM:
        assert "total" not in load_robot(write(fixed, "arm.urdf")).joint_names


def test_limits_are_those_of_the_urdf(write):
    shoulder, elbow, gripper = (j.limits for j in load_robot(write(ARM, "arm.urdf")).joints)
    assert (shoulder.lower, shoulder.upper) == (-1, 2)
    assert (shoulder.velocity, shoulder.effort, shoulder.acceleration) == (3, 40, None)
    assert (elbow.lower, elbow.upper, elbow.velocity, elbow.effort) == (None, None, 5, None)
    assert (gripper.lower, gripper.upper) == (0, 0.05)


SOFT_END = '<dynamics damping="0.7" friction="0.2"/>'


def softened(lower, upper):
    """Return the arm with soft limits of its shoulder, which turns from -1 to 2 rad."""
    soft = (
        f'<safety_controller k_velocity="9" soft_lower_limit="{lower}" soft_upper_limit="{upper}"/>'
    )
    return changed(SOFT_END, SOFT_END + soft)


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [(-0.9, 1.5, (-0.9, 1.5)), (-3, 1.5, (-1, 1.5)), (-3, 3, (-1, 2)), (0, 0, (-1, 2))],
)
def test_soft_limits_narrow_the_positions(write, lower, upper, expected):
    shoulder = load_robot(write(softened(lower, upper), "arm.urdf")).joints[0]
    assert (shoulder.limits.lower, shoulder.limits.upper) == expected
    assert (shoulder.urdf_limits.lower, shoulder.urdf_limits.upper) == (-1, 2)
    told = [shoulder.limit_sources[name] for name in ("lower", "upper")]
    assert told == ["URDF, soft limits" if new != old else "URDF" for new, old in
                    zip(expected, (-1, 2), strict=True)]  # fmt: skip


def test_soft_limits_that_leave_no_range_are_refused(refused):
    assert "leave nothing of -1 to 2" in refused(softened(2.5, 3)).told


def test_every_link_frame_is_where_pinocchio_puts_it(write):
    path = write(ARM, "arm.urdf")
    description = read_urdf(path)
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    for q in np.random.default_rng(1).uniform(-2, 2, (20, 3)):
        pin.framesForwardKinematics(model, data, np.array([q[0], np.cos(q[1]), np.sin(q[1]), q[2]]))
        frames = forward_kinematics(description.robot, q)
        for name, place in description.frames.items():
            moved = np.eye(4) if place.joint < 0 else frames[place.joint]
            local = np.eye(4)
            local[:3, :3], local[:3, 3] = place.rotation, place.translation
            expected = data.oMf[model.getFrameId(name)].homogeneous
            np.testing.assert_allclose(moved @ local, expected, atol=1e-10)


def test_the_ur10_moves_alike_by_table_and_by_urdf(ur10_urdf):
    table, urdf = load_robot("ur10"), load_robot(ur10_urdf)
    assert table.joint_names == urdf.joint_names
    q = np.random.default_rng(2).uniform(-3, 3, (50, 6))
    half_turn = np.diag([-1.0, -1, 1, 1])  # the table's base frame is turned
    relative = np.linalg.inv(forward_kinematics(table, q)) @ (
        half_turn @ forward_kinematics(urdf, q)
    )
    np.testing.assert_allclose(relative, np.broadcast_to(relative[0], relative.shape), atol=1e-12)
    axes = relative[0, :, :3, 2]
    np.testing.assert_allclose(axes, np.broadcast_to([0, 0, 1], axes.shape), atol=1e-12)


@given(st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: np.linalg.norm(v) > 1e-3))
def test_the_axis_becomes_z(vector):
    axis = np.array(vector) / np.linalg.norm(vector)
    turn = axis_frame(axis)
    np.testing.assert_allclose(turn[:, 2], axis, atol=1e-12)
    np.testing.assert_allclose(turn.T @ turn, np.eye(3), atol=1e-12)
    assert np.linalg.det(turn) == pytest.approx(1)


def test_an_axis_along_z_leaves_the_frame_alone():
    np.testing.assert_array_equal(axis_frame(np.array([0.0, 0, 1])), np.eye(3))
    np.testing.assert_array_equal(axis_frame(np.array([0.0, 0, -1])), np.diag([1, -1, -1]))


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "words"),
    [
        ('xyz="0 2 0"', 'xyz="0 0 0"', 16, "joint[shoulder].axis.xyz", "no direction"),
        ('xyz="0 2 0"', 'xyz="0 nan 0"', 16, "axis.xyz", "3 finite numbers"),
        ('xyz="0 0 0.5"', 'xyz="0 inf 0.5"', 15, "origin.xyz", "3 finite numbers"),
        ('xyz="0 0 0.5"', 'xyz="0 0"', 15, "origin.xyz", "3 finite numbers"),
        ('rpy="0.3 0 0"', 'rpy="${a} 0 0"', 32, "origin.rpy", "3 finite numbers"),
        ('lower="-1"', 'lower="3"', 17, "joint[shoulder].limit", "above upper"),
        ('velocity="3"', 'velocity="-3"', 17, "joint[shoulder].limit.velocity", "negative"),
        ('effort="40"', 'effort="lots"', 17, "limit.effort", "a finite number"),
        ('damping="0.7"', 'damping="-1"', 18, "joint[shoulder].dynamics.damping", "negative"),
        ('"continuous"', '"floating"', 24, "joint[elbow].type", "no single motion"),
        ('"continuous"', '"planar"', 24, "joint[elbow].type", "no single motion"),
        ('"continuous"', '"hinge"', 24, "joint[elbow].type", "not a joint type"),
        ('type="continuous"', "", 24, "joint[elbow]", "attribute type is missing"),
        ('name="elbow"', "", 24, "joint", "attribute name is missing"),
        ('name="elbow"', 'name="weld"', 24, "joint[weld]", "the first is on line 20"),
        ('<link name="fore"/>', '<link name="upper"/>', 7, "link[upper]", "first is on line 5"),
        ('<link name="fore"/>', "", 25, "joint[elbow].child.link", "is no link fore"),
        (
            '<parent link="fore"/>',
            '<parent link="f"/>',
            31,
            "joint[gripper].parent.link",
            "no link f",
        ),
        ('<parent link="fore"/>', "", 30, "joint[gripper]", "<parent> is missing"),
        ('<child link="finger"/>', "", 30, "joint[gripper]", "<child> is missing"),
        (
            '<child link="finger"/>',
            '<child link="fore"/>',
            31,
            "joint[gripper].child.link",
            "already hangs on joint elbow",
        ),
        ('<link name="plate"/>', '<link name="plate"/><link name="x"/>', 4, "link[x]", "one must"),
        (
            '<parent link="plate"/>',
            '<parent link="finger"/>',
            20,
            "joint[weld]",
            "round in a circle",
        ),
        ('<axis xyz="0 2 0"/>', '<axis xyz="0 2 0"/>' * 2, 16, "joint[shoulder].axis", "a second"),
        (
            '<axis xyz="0 0 -1"/>',
            '<mimic joint="elbow"/>',
            33,
            "joint[gripper].mimic",
            "mimics elbow",
        ),
        ('<robot name="arm">', '<!DOCTYPE robot><robot name="arm">', 2, "", "DOCTYPE"),
        ("</robot>", "", 37, "", "not well-formed XML: no element found"),
        ("</robot>", "</robots>", 36, "", "not well-formed XML: mismatched tag"),
        ('<link name="floor"/>', "<link name=floor/>", 3, "", "not well-formed XML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(refused, old, new, line, field, words):
    error = refused(changed(old, new))
    assert words in error.problem
    assert error.field.endswith(field)
    assert error.line == line


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_refused(refused, share):
    assert "not well-formed" in refused(ARM[: int(share * len(ARM))]).problem


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no element found"),
        ("name: arm", "not well-formed"),
        ("<sdf/>", "is this a URDF"),
        ("<robot/>", "no links"),
        ('<robot><link name="a"/></robot>', "no joint of the robot moves"),
        ("<robot>" + "<a>" * 200 + "</a>" * 200 + "</robot>", "nested too deeply"),
        (
            '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><robot>&b;</robot>',
            "document type declarations",
        ),
    ],
)
def test_what_is_no_robot_is_refused(refused, text, words):
    assert words in refused(text).problem


def test_two_links_that_carry_each_other_are_refused(refused):
    joint = '<joint name="{0}{1}" type="fixed"><parent link="{0}"/><child link="{1}"/></joint>'
    links = '<link name="a"/><link name="b"/>'
    text = f"<robot>{links}{joint.format('a', 'b')}{joint.format('b', 'a')}</robot>"
    assert "round in a circle" in refused(text).problem


def test_a_limit_that_is_needed_is_missed_by_name(write):
    robot = load_robot(write(ARM, "arm.urdf"))
    require_limits(robot, ["velocity"])
    for kind, joint in [("position", "elbow"), ("effort", "elbow")]:
        with pytest.raises(MissingLimitError, match=f"joint {joint} has no {kind} limit") as caught:
            require_limits(robot, ["velocity", kind])
        assert (caught.value.joint, caught.value.limit) == (joint, kind)


def test_all_limits_that_are_missing_are_told_at_once(write):
    robot = load_robot(write(ARM, "arm.urdf"))
    with pytest.raises(MissingLimitError) as caught:
        require_limits(robot, ["position", "velocity", "acceleration", "effort"])
    assert caught.value.missing == {
        "position": ("elbow",),
        "acceleration": ("shoulder", "elbow", "gripper"),
        "effort": ("elbow",),
    }
    assert (caught.value.joint, caught.value.limit) == ("elbow", "position")
    told = str(caught.value)
    assert "shoulder, elbow, gripper have no acceleration limit" in told
    assert "lower, upper, acceleration, effort" in told
    sent = pickle.loads(pickle.dumps(caught.value))
    assert (str(sent), sent.missing) == (told, caught.value.missing)


SIX_DIGITS = [
    (np.pi / 2, "1.5708"),
    (-np.pi / 2, "-1.570796"),
    (np.pi, "3.1416"),
    (np.pi / 4, "0.785398"),
]


@pytest.mark.parametrize(("angle", "text"), SIX_DIGITS)
def test_an_angle_is_the_one_that_six_written_digits_mean(write, angle, text):
    exact, written = (
        read_urdf(write(changed('rpy="0.3 0 0"', f'rpy="{value} 0 0"'), "arm.urdf")).robot
        for value in (repr(angle), text)
    )
    np.testing.assert_array_equal(written.joints[2].rotation, exact.joints[2].rotation)
    other = read_urdf(write(changed('rpy="0.3 0 0"', f'rpy="{angle + 2e-5} 0 0"'), "arm.urdf"))
    assert np.abs(other.robot.joints[2].rotation - exact.joints[2].rotation).max() > 1e-5


def test_a_robot_of_six_digits_has_the_base_parameters_of_the_exact_one(write):
    """Else one more seems to be identifiable, with a condition number of 1e8."""
    wrist = WRIST.format(turn="1.5708", axis="0 1e-6 1")
    exact = WRIST.format(turn=repr(np.pi / 2), axis="0 0 1")
    few, right = (
        base_parameters(load_robot(write(text, "wrist.urdf"))).names for text in (wrist, exact)
    )
    assert few == right


WRIST = """\
<robot name="wrist"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="one" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<joint name="two" type="revolute"><parent link="b"/><child link="c"/><axis xyz="{axis}"/>
<origin xyz="0.1 0 0.2" rpy="{turn} 0 0"/></joint>
<joint name="three" type="revolute"><parent link="c"/><child link="d"/><axis xyz="0 0 1"/>
<origin xyz="0.3 0 0" rpy="0 0 {turn}"/></joint></robot>
"""


def test_a_second_origin_is_passed_over_with_a_warning(write):
    bare = load_robot(write(ARM, "arm.urdf"))
    origin = '<origin xyz="0 0.1 0"/>'
    robot = load_robot(write(changed(origin, f"{origin}<origin xyz='9 9 9'/>"), "arm.urdf"))
    np.testing.assert_array_equal(robot.joints[1].translation, bare.joints[1].translation)
    (warning,) = robot.warnings
    assert "arm.urdf:24: joint[elbow]: a second <origin> on line 26 is passed over" in warning
    assert not bare.warnings


def test_a_second_origin_of_a_shape_is_told_by_the_certificate(write):
    shape = "<collision>{}<geometry><sphere radius='0.1'/></geometry></collision>"
    twice = shape.format("<origin xyz='0 0 1'/><origin xyz='0 0 2'/>")
    path = write(changed('<link name="fore"/>', f'<link name="fore">{twice}</link>'), "arm.urdf")
    robot = load_robot(path)
    assert not robot.warnings
    remarks = load_collision_model(path, robot).remarks
    assert any("a second <origin>" in remark for remark in remarks)


NEGATIVE = """<inertial><mass value="0.001"/>
<inertia ixx="{}" ixy="0" ixz="0" iyy="1e-7" iyz="0" izz="1e-7"/></inertial>"""


@pytest.mark.parametrize(("link", "moment", "accepted"), [
    ("elbow_housing", "-1e-8", True),
    ("elbow_housing", "-1e-3", False),
    ("fore", "-1e-8", False),
])  # fmt: skip
def test_a_slightly_negative_inertia_of_a_fixed_part_is_a_warning(write, link, moment, accepted):
    inertial = NEGATIVE.format(moment)
    text = changed(f'<link name="{link}"/>', f'<link name="{link}">{inertial}</link>')
    path = write(text, "arm.urdf")
    if accepted:
        (warning,) = load_robot(path).warnings
        assert f"link[{link}].inertia: a principal moment of inertia is negative" in warning
    else:
        with pytest.raises(RobotDescriptionError, match="moment of inertia is negative"):
            load_robot(path)


XACRO = """\
<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="high" value="0.25"/>
  <link name="a"/><link name="b"/>
  <joint name="turn" type="revolute"><parent link="a"/><child link="b"/>
    <origin xyz="0 0 ${2 * high}"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
</robot>
"""


def test_a_xacro_file_is_expanded(write):
    robot = load_robot(write(XACRO, "x.urdf.xacro"))
    np.testing.assert_array_equal(robot.joints[0].translation, [0, 0, 0.5])
    expanded, encoding = read_urdf_text(robot.file)
    assert "xacro:" not in expanded
    assert encoding == "utf-8"
    assert robot.digest == read_urdf(robot.file).robot.digest
    named = "name: named\neffort_meaning: joint_torque\nurdf: x.urdf.xacro\n"
    assert load_robot(write(named)).joint_names == ("turn",)


def test_a_xacro_file_is_the_same_by_any_path(write, monkeypatch):
    text = XACRO.replace("<robot", "<!-- by hand -->\n<robot", 1)
    path = write(text, "x.urdf.xacro")
    monkeypatch.chdir(path.parent)
    expanded, digest = read_description(path)
    assert (expanded, digest) == read_description(Path(path.name))
    assert path.parent.name.encode() not in expanded
    assert b"autogenerated" not in expanded
    assert b"<!-- by hand -->" in expanded
    assert load_robot(path.name).digest == load_robot(path).digest == digest


def test_a_xacro_file_that_cannot_be_expanded_says_why(write, monkeypatch):
    path = write(XACRO.replace("2 * high", "2 * low"), "x.xacro")
    with pytest.raises(RobotDescriptionError, match=r"xacro cannot expand it.*low"):
        load_robot(path)
    with pytest.raises(
        RobotDescriptionError, match=r"argument high.* xacro x\.urdf\.xacro NAME:=VALUE > x\.urdf$"
    ):
        load_robot(write(XACRO.replace("2 * high", "2 * $(arg high)"), "x.urdf.xacro"))
    with pytest.raises(
        RobotDescriptionError, match=r"end with \.xacro, or expand it first"
    ) as caught:
        load_robot(write(XACRO, "x.urdf"))
    assert caught.value.line == 2
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        RobotDescriptionError, match=r"not installed; install it .*xacro x\.xacro > x\.urdf"
    ):
        load_robot(path)
