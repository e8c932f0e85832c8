"""What a URDF says about masses, in the frames of the robot and as standard parameters."""

import numpy as np
import pinocchio as pin
import pytest

from engines import example
from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import urdf_prior
from robot_identification.robot.files.urdf.robot import read_urdf
from robot_identification.robot.files.values import load_values

ARM = """\
<robot name="arm">
  <link name="base"><inertial><mass value="9"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="upper"><inertial><mass value="2"/><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>
    <inertia ixx="0.1" ixy="0.01" ixz="0.02" iyy="0.11" iyz="0.03" izz="0.12"/></inertial></link>
  <link name="box"><inertial><mass value="0.5"/><origin xyz="0 0 0.1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="fore"><inertial><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <joint name="shoulder" type="continuous">
    <parent link="base"/><child link="upper"/><axis xyz="0.6 0 -0.8"/>
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><dynamics damping="0.7" friction="0.2"/>
  </joint>
  <joint name="weld" type="fixed">
    <parent link="upper"/><child link="box"/><origin xyz="0.3 0 0" rpy="1 0 0"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="upper"/><child link="fore"/><axis xyz="0 1 0"/><origin xyz="0 0 0.5"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
</robot>
"""


def body_parameters(values, body):
    """Return mass, first moment and inertia at the origin of one body."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, mass = values[14 * body : 14 * body + 10]
    return mass, np.array([mx, my, mz]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def test_bodies_are_those_of_pinocchio(write):
    path = write(ARM, "arm.urdf")
    description = read_urdf(path)
    values = urdf_prior(path, description.robot)
    model = pin.buildModelFromUrdf(str(path))
    for body in range(2):
        turn = description.frames[("upper", "fore")[body]].rotation
        expected = model.inertias[body + 1]
        mass, moment, inertia = body_parameters(values, body)
        at_origin = expected.inertia - expected.mass * pin.skew(expected.lever) @ pin.skew(
            expected.lever
        )
        assert mass == pytest.approx(expected.mass)
        np.testing.assert_allclose(moment, turn @ expected.lever * mass, atol=1e-12)
        np.testing.assert_allclose(inertia, turn @ at_origin @ turn.T, atol=1e-12)


def test_friction_is_damping_and_friction(write):
    path = write(ARM, "arm.urdf")
    robot = load_robot(path)
    named = dict(zip(robot.all_parameter_names, urdf_prior(path, robot), strict=True))
    assert (named["Fv1"], named["Fc1"], named["Fv2"], named["Ia1"]) == (0.7, 0.2, 0, 0)


def test_a_denavit_hartenberg_robot_gets_the_same_weight_to_carry(ur10_urdf):
    """The weight of the outer links seen from the base does not depend on where frames are."""
    from robot_identification.robot.geometry import forward_kinematics

    urdf, table = load_robot(ur10_urdf), load_robot("ur10")
    q = np.linspace(-1, 1, 6)
    centres = []
    for robot, base in ((urdf, np.diag([-1.0, -1, 1])), (table, np.eye(3))):
        values = urdf_prior(ur10_urdf, robot)
        frames = forward_kinematics(robot, q)
        moment = sum(
            frames[j, :3, :3] @ body_parameters(values, j)[1]
            + frames[j, :3, 3] * body_parameters(values, j)[0]
            for j in range(6)
        )
        centres.append(base @ moment)
    np.testing.assert_allclose(centres[0], centres[1], atol=1e-9)


def test_a_urdf_of_another_robot_is_refused(write, ur10_urdf):
    arm = write(ARM, "arm.urdf")
    with pytest.raises(RobotDescriptionError, match="its moving joints are shoulder, slide"):
        urdf_prior(arm, load_robot(ur10_urdf))
    assert urdf_prior(arm, load_robot(arm)).shape == (28,)
    oblique = load_robot(write(ARM.replace('xyz="0 1 0"', 'xyz="0.6 0.8 0"'), "oblique.urdf"))
    with pytest.raises(RobotDescriptionError, match="moves otherwise"):
        urdf_prior(arm, oblique)


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "words"),
    [
        ('<mass value="2"/>', '<mass value="-2"/>', 4, "link[upper].mass.value", "negative"),
        ('<mass value="2"/>', '<mass value="nan"/>', 4, "mass.value", "a finite number"),
        ('<mass value="2"/>', "", 4, "link[upper].inertial", "<mass> is missing"),
        ('ixx="0.1"', 'ixx="-0.1"', 5, "link[upper].inertia", "principal moment"),
        ('ixx="0.1"', "", 5, "inertia", "attribute ixx is missing"),
    ],
)
def test_an_impossible_inertial_is_refused(write, old, new, line, field, words):
    assert ARM.count(old) == 1
    with pytest.raises(RobotDescriptionError) as caught:
        read_urdf(write(ARM.replace(old, new), "arm.urdf"))
    assert words in caught.value.problem
    assert caught.value.line == line
    assert caught.value.field.endswith(field)


def test_the_links_of_the_simulated_ur10_are_those_of_its_urdf():
    robot = load_robot("ur10")
    values = load_values("ur10_simulated", robot, complete=True)
    published = urdf_prior(example("ur_description/urdf/ur10_robot.urdf"), robot)
    links, theirs = values.reshape(6, 14)[:, :10], published.reshape(6, 14)[:, :10]
    np.testing.assert_allclose(links, theirs, rtol=1e-5, atol=1e-9)
