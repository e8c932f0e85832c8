"""A URDF gets other inertials and friction, and nothing else of it changes."""

import difflib
import os
import re
from xml.etree import ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_robots import random_robot, random_values
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import (
    InconsistentParametersError,
    OutputError,
    RobotDescriptionError,
    SampleError,
    ShapeError,
)
from robot_identification.files.export.bodies import require_consistent
from robot_identification.files.export.outputs import write_outputs
from robot_identification.files.export.urdf_generation import generated_urdf
from robot_identification.files.export.urdf_rewriting import rewritten_urdf
from robot_identification.robot.bodies import pseudo_inertia
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import urdf_prior, values_of_urdf
from robot_identification.robot.files.urdf.robot import parse_urdf

ARM = """\
<?xml version='1.0' encoding="utf-8"?>
<!-- an arm & its <tool> -->
<robot name="arm"   xmlns:gazebo="http://example.org/gazebo">
\t<link name="base"><inertial><mass value="9"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link  name = 'upper' >
    <visual><geometry><box size="1 1 1"/></geometry></visual>
    <inertial> <!-- from CAD -->
      <mass   value='2' unit="a &quot;>&quot; b" />
      <origin rpy="0.4 0.5 0.6" xyz="0.1 0.2 0.3"/>
      <inertia izz="0.12" ixx="0.1" ixy="0.01" ixz="0.02" iyy="0.11" iyz="0.03"/>
    </inertial>
  </link>
  <link name="box"><inertial><mass value="0.5"/><origin xyz="0 0 0.1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="camera">
    <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>
    <inertial>
      <mass value="0.3"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <link name="bumper">
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <link name="fore" />
  <link name="finger"><inertial>
    <mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/>
  </inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0.6 0 -0.8"/>
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><dynamics friction='0.2' damping="0.7"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/>
  </joint>
  <joint name="weld" type="fixed">
    <parent link="upper"/><child link="box"/><origin xyz="0.3 0 0" rpy="1 0 0"/>
  </joint>
  <joint name="mount" type="fixed"><parent link="box"/><child link="camera"/></joint>
  <joint name="rim" type="fixed"><parent link="fore"/><child link="bumper"/></joint>
  <joint name="slide" type="prismatic">
    <parent link="upper"/><child link="fore"/><axis xyz="0 1 0"/><origin xyz="0 0 0.5"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
  <joint name="grip" type="revolute">
    <parent link="fore"/><child link="finger"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/><mimic joint="slide" multiplier="2"/>
  </joint>
  <transmission name="t"><joint name="shoulder"/><mechanicalReduction>50</mechanicalReduction>
  </transmission>
  <gazebo reference="upper"><gazebo:inertial/><dynamics/><inertial/><![CDATA[ <inertial> ]]>
  </gazebo>
</robot>
"""
MOVED = ("upper", "fore", "finger")


def arm(text=ARM):
    return parse_urdf(text, "arm.urdf", allow_mimic=True).robot


def some_values(robot, seed=0):
    return random_values(np.random.default_rng(seed), robot)


def without_dynamics(text):
    """Return a URDF in canonical form, without inertials of moved links and without friction."""
    root = ET.fromstring(text, ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))
    for link in root.iter("link"):
        if link.get("name") not in ("base", None):
            for inertial in link.findall("inertial"):
                link.remove(inertial)
    for joint in root.findall("joint"):
        for dynamics in joint.findall("dynamics"):
            joint.remove(dynamics)
    return ET.canonicalize(ET.tostring(root), with_comments=True, strip_text=True)


def test_what_is_read_back_is_what_was_written():
    robot = arm()
    values = some_values(robot)
    found = values_of_urdf(rewritten_urdf(ARM, robot, values), robot, beside=values)
    np.testing.assert_allclose(found, values, rtol=1e-14, atol=1e-15)


def test_everything_but_inertials_and_friction_stays():
    robot = arm()
    text = rewritten_urdf(ARM, robot, some_values(robot))
    assert without_dynamics(text) == without_dynamics(ARM)
    changed = {
        line[2:].strip()
        for line in difflib.ndiff(ARM.splitlines(), text.splitlines())
        if line.startswith("- ")
    }
    allowed = re.compile(r"inertia|<mass|<origin rpy=\"0.4|<dynamics|<link name=\"fore\"|<mimic")
    assert [line for line in changed if not allowed.search(line)] == []
    assert "<!-- from CAD -->" in text
    assert 'unit="a &quot;>&quot; b" />' in text


def test_numbers_that_stay_the_same_keep_their_form():
    text = """\
<robot name="arm"><link name="base"/>
  <link name="upper"><inertial><mass value="2.0"/><origin xyz="0.50 0 -.25"/>
    <inertia ixx="1.0" ixy="0.0" ixz="-0" iyy="1e0" iyz="0" izz="1"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
    <axis xyz="0 0 1"/><dynamics damping="5e-1"/></joint>
</robot>
"""
    robot = arm(text)
    values = values_of_urdf(text, robot).copy()
    assert rewritten_urdf(text, robot, values) == text
    values[12] = 0.125
    expected = text.replace(
        '<dynamics damping="5e-1"/>', '<dynamics damping="5e-1" friction="0.125"/>'
    )
    assert rewritten_urdf(text, robot, values) == expected


def test_link_frames_stay_where_the_axis_is_not_z():
    """Pinocchio, which keeps the frames of the URDF, sees the same bodies."""
    robot = arm()
    values = some_values(robot)
    model = pin.buildModelFromXML(rewritten_urdf(ARM, robot, values))
    for index, joint in enumerate(robot.joints):
        body = model.inertias[model.getJointId(joint.name)]
        mass = values[14 * index + 9]
        assert body.mass == pytest.approx(mass, rel=1e-14)
        turn = parse_urdf(ARM, "", allow_mimic=True).frames[joint.link].rotation
        np.testing.assert_allclose(
            turn @ body.lever * mass, values[14 * index + 6 : 14 * index + 9], atol=1e-14
        )


def test_no_mass_counts_twice_and_the_base_keeps_its_own():
    robot = arm()
    values = some_values(robot)
    text = rewritten_urdf(ARM, robot, values)
    links = parse_urdf(text, "", allow_mimic=True).links
    assert links["base"].inertial.mass == 9
    assert links["box"].inertial is None
    total = sum(link.inertial.mass for link in links.values() if link.inertial) - 9
    assert total == pytest.approx(sum(values[9:42:14]), rel=1e-14)


def test_mujoco_counts_no_mass_twice_either():
    """It would give a link with collisions but without an inertial the mass of the collisions."""
    mujoco = pytest.importorskip("mujoco")
    robot = arm()
    values = some_values(robot)
    model = mujoco.MjModel.from_xml_string(rewritten_urdf(ARM, robot, values))
    moved = [model.body(name).mass[0] for name in MOVED]
    np.testing.assert_allclose(moved, values[9:42:14], rtol=1e-12)


def test_windows_line_ends_and_single_lines_stay_as_they_are():
    robot = arm()
    values = some_values(robot)
    windows = rewritten_urdf(ARM.replace("\n", "\r\n"), robot, values)
    assert windows.replace("\r\n", "\n") == rewritten_urdf(ARM, robot, values)
    line = " ".join(ARM.split("\n"))
    assert "\n" not in rewritten_urdf(line, robot, values)
    np.testing.assert_allclose(
        values_of_urdf(rewritten_urdf(line, robot, values), robot, beside=values), values
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso-8859-1", "utf-16"])
def test_the_encoding_of_a_file_stays(tmp_path, encoding):
    declared = encoding.removesuffix("-sig")
    text = ARM.replace("utf-8", declared).replace("an arm", "ein Ärmchen").replace("'2'", "'2' ")
    source, target = tmp_path / "arm.urdf", tmp_path / "out.urdf"
    source.write_bytes(text.encode(encoding))
    robot = arm()
    write_outputs({"urdf": target}, robot, some_values(robot), original=source)
    assert "ein Ärmchen" in target.read_bytes().decode(encoding)
    np.testing.assert_allclose(
        urdf_prior(target, robot)[:10], some_values(robot)[:10], rtol=1e-13, atol=1e-15
    )


@pytest.mark.parametrize("encoding", ["undefined", "hex", "no-such"])
def test_a_declared_encoding_that_is_none_is_refused(tmp_path, encoding):
    source = tmp_path / "arm.urdf"
    source.write_text(ARM.replace("utf-8", encoding))
    with pytest.raises(RobotDescriptionError, match=f"is not {encoding}"):
        write_outputs({"urdf": tmp_path / "out.urdf"}, arm(), some_values(arm()), original=source)


@given(st.integers(0, 2**32 - 1))
def test_any_robot_and_any_parameters_survive(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    original = generated_urdf(robot, random_values(rng, robot))
    values = random_values(rng, robot)
    text = rewritten_urdf(original, robot, values)
    found = values_of_urdf(text, robot, beside=values)
    np.testing.assert_allclose(found, values, rtol=1e-12, atol=1e-13)
    for body in found[: 14 * len(robot.joints)].reshape(-1, 14):
        assert np.linalg.eigvalsh(pseudo_inertia(body[:10]))[0] > 0.0


def test_a_denavit_hartenberg_robot_writes_into_a_urdf_with_other_frames():
    """The outer link's frame is turned and moved along its axis in the URDF."""
    robot = load_robot("three_dof")
    own = generated_urdf(robot, some_values(robot))
    joint = own.index('<joint name="joint_3"')
    origin = re.search(r'<origin xyz="(\S+) (\S+) (\S+)" rpy="(\S+) (\S+) (\S+)"/>', own[joint:])
    x, y, z, roll, pitch, yaw = (float(part) for part in origin.groups())
    assert (roll, pitch) == (0.0, 0.0)
    other = own[:joint] + own[joint:].replace(
        origin[0], f'<origin xyz="{x} {y} {z + 0.2}" rpy="0 0 {yaw + 0.5}"/>'
    )
    values = some_values(robot, 1)
    text = rewritten_urdf(other, robot, values)
    np.testing.assert_allclose(values_of_urdf(text, robot, beside=values), values, atol=1e-12)
    states = np.random.default_rng(2).normal(size=(3, 20, 3))
    theirs = values_of_urdf(text, arm(text), beside=values)
    np.testing.assert_allclose(
        inverse_dynamics(arm(text), theirs, *states),
        inverse_dynamics(robot, values, *states),
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (9, 0.0, "link upper: its mass is 0"),
        (9, -1.0, "its mass is -1"),
        (0, 100.0, "no distribution of mass"),
        (11, -0.1, "joint shoulder: Fv is -0.1"),
        (12, -0.1, "Fc is -0.1"),
    ],
)
def test_what_cannot_exist_is_not_written(tmp_path, place, value, words):
    robot = arm()
    values = some_values(robot)
    values[place] = value
    source, target = tmp_path / "arm.urdf", tmp_path / "out.urdf"
    source.write_text(ARM)
    target.write_text("before")
    with pytest.raises(InconsistentParametersError, match=words):
        write_outputs({"urdf": target}, robot, values, original=source)
    assert target.read_text() == "before"


def thin_rod(seed):
    """Return ten parameters of a rod that is hardly a body: rounding decides whether it is one."""
    rng = np.random.default_rng(seed)
    centre, axis = rng.uniform(-0.1, 0.1, size=3), rng.normal(size=3)
    along = 0.01 * np.outer(axis, axis) / (axis @ axis)
    second = 5.0 * (np.outer(centre, centre) + along + 1e-18 * np.eye(3))
    inertia = np.trace(second) * np.eye(3) - second
    return [*inertia[np.triu_indices(3)], *(5.0 * centre), 5.0]


@pytest.mark.parametrize("of", ["an original", "nothing"])
def test_a_urdf_that_would_not_be_read_back_as_a_body_is_not_given_out(of):
    """The parameters can exist, and the inertia about the centre of mass just cannot."""
    robot, values, refused, given_out = arm(), some_values(arm()), 0, 0
    for seed in range(250):
        values[:10] = thin_rod(seed)
        try:
            require_consistent(robot, values)
        except InconsistentParametersError:
            continue
        try:
            text = (
                rewritten_urdf(ARM, robot, values)
                if of == "an original"
                else (generated_urdf(robot, values))
            )
        except InconsistentParametersError:
            refused += 1
            continue
        given_out += 1
        body = values_of_urdf(text, robot)[:10]
        assert np.linalg.eigvalsh(pseudo_inertia(body))[0] > 0.0
    assert refused > 0
    assert given_out > 0


def test_wrong_parameters_and_wrong_urdfs_are_refused(tmp_path):
    robot = arm()
    with pytest.raises(ShapeError):
        rewritten_urdf(ARM, robot, np.ones(3))
    with pytest.raises(SampleError, match="nan"):
        rewritten_urdf(ARM, robot, np.full(42, np.nan))
    with pytest.raises(RobotDescriptionError, match="its moving joints are shoulder"):
        rewritten_urdf(ARM, load_robot("scara"), some_values(load_robot("scara")))
    with pytest.raises(RobotDescriptionError, match="half a character"):
        rewritten_urdf("<robot>\ud800</robot>", robot, some_values(robot))
    broken = tmp_path / "broken.urdf"
    broken.write_bytes(ARM.encode()[:500] + b"\xff")
    with pytest.raises(RobotDescriptionError, match="is not utf-8"):
        write_outputs({"urdf": tmp_path / "out.urdf"}, robot, some_values(robot), original=broken)
    assert not (tmp_path / "out.urdf").exists()


def test_the_urdf_that_was_read_is_never_written_over(tmp_path, monkeypatch):
    source = tmp_path / "arm.urdf"
    source.write_text(ARM)
    (tmp_path / "link.urdf").symlink_to(source)
    os.link(source, tmp_path / "hard.urdf")
    monkeypatch.chdir(tmp_path)
    robot = arm()
    for name in ("arm.urdf", "./arm.urdf", source, "link.urdf", "hard.urdf"):
        with pytest.raises(OutputError, match="is what was read"):
            write_outputs({"urdf": name}, robot, some_values(robot), original=source)
    with pytest.raises(OutputError, match="is what was read"):
        write_outputs({"urdf": source}, robot, some_values(robot), keep=["link.urdf"])
    assert source.read_text() == ARM
