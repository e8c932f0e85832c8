"""Joints of a URDF that a robot file holds fixed: the robot is that of which they are no joints."""

import re

import numpy as np
import pinocchio as pin
import pytest
import yaml

from made_up_results import made_up_result
from robot_identification.calibration.calibrate import calibrate
from robot_identification.calibration.consistency.checks import check_consistency
from robot_identification.calibration.consistency.program import Step
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import InconsistentParametersError, RobotDescriptionError
from robot_identification.files.export.bodies import link_bodies
from robot_identification.files.export.outputs import write_outputs
from robot_identification.files.export.urdf import describe
from robot_identification.files.export.urdf_rewriting import rewritten_urdf
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import urdf_prior, values_of_urdf
from robot_identification.robot.files.urdf.robot import read_urdf
from robot_identification.robot.geometry import forward_kinematics
from robot_identification.robot.mounting import mounting_from, urdf_frames
from robot_identification.robot.parameters import LINK_PARAMETERS

JOINT = """
  <joint name="{name}" type="{type}">
    <parent link="{parent}"/><child link="{child}"/>
    <origin xyz="0.1 0.2 -0.1" rpy="0.3 -0.2 0.4"/><axis xyz="1 -2 0.5"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/>{more}
  </joint>"""
LINK = """
  <link name="{name}"><inertial>
    <origin xyz="0.02 -0.01 0.03" rpy="0.2 0.1 0"/><mass value="{mass}"/>
    <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="-0.002" izz="0.025"/>
  </inertial></link>"""
MIMIC = '<mimic joint="left" multiplier="-2" offset="0.3"/>'
ARM = (
    '<robot name="arm"><link name="base"/>'
    + "".join(
        LINK.format(name=name, mass=mass)
        for name, mass in (("upper", 4), ("fore", 3), ("left_finger", 0.2), ("right_finger", 0.3))
    )
    + JOINT.format(name="shoulder", type="revolute", parent="base", child="upper", more="")
    + JOINT.format(name="elbow", type="revolute", parent="upper", child="fore", more="")
    + JOINT.format(name="left", type="prismatic", parent="fore", child="left_finger", more="")
    + JOINT.format(name="right", type="revolute", parent="fore", child="right_finger", more=MIMIC)
    + "</robot>"
)
FILE = "name: arm\neffort_meaning: joint_torque\nurdf: arm.urdf\n"
HELD = {"left": 0.4, "right": 0.3 - 2 * 0.4}


@pytest.fixture
def arm(write):
    """Return what loads the arm with a line of its robot file."""
    write(ARM, "arm.urdf")
    return lambda line="fixed_joints: {left: 0.4}", more="": load_robot(
        write(f"{FILE}{line}\n{more}")
    )


@pytest.fixture
def reduced(write):
    """Return Pinocchio's model of the arm whose fingers are locked where they are held."""
    model = pin.buildModelFromUrdf(str(write(ARM, "arm.urdf")))
    position = pin.neutral(model)
    for name, value in HELD.items():
        position[model.joints[model.getJointId(name)].idx_q] = value
    return pin.buildReducedModel(model, [model.getJointId(name) for name in HELD], position)


def test_links_are_where_a_locked_joint_puts_them_also_behind_one_that_mimics_it(arm, reduced):
    robot, data = arm(), reduced.createData()
    assert robot.joint_names == ("shoulder", "elbow")
    frames = urdf_frames(robot.file, robot)
    for q in np.random.default_rng(1).uniform(-2, 2, (10, 2)):
        pin.framesForwardKinematics(reduced, data, q)
        moved = forward_kinematics(robot, q)
        for name in ("left_finger", "right_finger"):
            local, frame = np.eye(4), frames[name]
            local[:3, :3], local[:3, 3] = frame.rotation, frame.translation
            expected = data.oMf[reduced.getFrameId(name)].homogeneous
            np.testing.assert_allclose(moved[frame.joint] @ local, expected, atol=1e-12)
    assert mounting_from(robot.file, robot, "left_finger").joint == 1


def efforts(robot, values):
    """Return motions and the efforts of the bodies alone."""
    motion = np.random.default_rng(2).uniform(-2, 2, (3, 20, 2))
    bodies = np.array(values)
    robot.layout.table(bodies)[:, LINK_PARAMETERS:] = 0.0
    return motion, inverse_dynamics(robot, bodies, *motion)


def test_bodies_of_the_prior_are_those_with_the_joints_locked(arm, reduced):
    robot, data = arm(), reduced.createData()
    motion, found = efforts(robot, urdf_prior(robot.file.with_name("arm.urdf"), robot))
    expected = [pin.rnea(reduced, data, *one) for one in zip(*motion, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_mujoco_simulates_the_robot_with_the_joints_locked(arm):
    mujoco = pytest.importorskip("mujoco")
    robot = arm()
    model, _ = mujoco_robot(robot, robot.file)
    assert [model.joint(k).name for k in range(model.njnt)] == ["shoulder", "elbow"]
    data = mujoco.MjData(model)
    motion, found = efforts(robot, urdf_prior(robot.file.with_name("arm.urdf"), robot))
    for q, qd, qdd, effort in zip(*motion, found, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        np.testing.assert_allclose(data.qfrc_inverse, effort, rtol=1e-9, atol=1e-9)


def test_in_a_urdf_that_is_written_the_fingers_move_and_keep_their_inertials(arm):
    robot = arm()
    values = np.array(urdf_prior(robot.file.with_name("arm.urdf"), robot))
    places = robot.layout.link(1)
    values[places] *= 1.1
    text = rewritten_urdf(ARM, robot, values)
    np.testing.assert_allclose(values_of_urdf(text, robot), values, rtol=1e-12, atol=1e-14)
    (robot.file.with_name("new.urdf")).write_text(text)
    links = read_urdf(robot.file.with_name("new.urdf"), allow_mimic=True)
    assert links.robot.joint_names == ("shoulder", "elbow", "left", "right")
    masses = {name: link.inertial.mass for name, link in links.links.items() if link.inertial}
    assert (masses["left_finger"], masses["right_finger"]) == (0.2, 0.3)
    assert masses["fore"] == pytest.approx(1.1 * 3.5 - 0.5)


def test_files_that_are_put_into_the_urdf_leave_out_the_fingers_and_others_have_all(arm, tmp_path):
    robot = arm()
    urdf = robot.file.with_name("arm.urdf")
    values = urdf_prior(urdf, robot)
    targets = {kind: tmp_path / kind for kind in ("xacro", "controller")}
    write_outputs(targets, robot, values, original=urdf)
    assert re.search(r'"fore_mass" value="3(\.0)?"', targets["xacro"].read_text())
    parameters = yaml.safe_load(targets["controller"].read_text())["/**"]["ros__parameters"]
    assert parameters["dynamics"]["by_joint"]["elbow"]["mass"] == pytest.approx(3.5)
    whole = link_bodies(robot, values, describe(urdf, robot))
    assert whole[1].body.mass == pytest.approx(3.5)


def test_where_nothing_would_be_left_of_a_link_nothing_is_written(arm):
    robot = arm()
    values = np.array(urdf_prior(robot.file.with_name("arm.urdf"), robot))
    values[robot.layout.link(1)] *= 0.1
    with pytest.raises(InconsistentParametersError, match="without left_finger, right_finger"):
        rewritten_urdf(ARM, robot, values)


def with_drives(robot, values):
    """Return parameters with drives and friction such as a result of an identification has."""
    table = robot.layout.table(np.array(values))
    for place, term in robot.layout.places:
        table[:, place] = {"Ia": 0.3, "off": 0.0}.get(term.name, 1.0)
    return table.ravel()


def test_consistent_parameters_leave_a_body_of_the_link_without_the_fingers(arm):
    robot = arm()
    truth = with_drives(robot, urdf_prior(robot.file.with_name("arm.urdf"), robot))
    result = made_up_result(robot, truth, np.random.default_rng(1), noise=0.01)
    found = calibrate(robot, result, space="base")
    assert found.step is Step.REPAIRED
    assert found.checks.links[1].apart
    assert found.checks.links[0].apart is None
    text = rewritten_urdf(ARM, robot, found.values)
    bodies = [robot.layout.link(index) for index in range(2)]
    np.testing.assert_allclose(
        [values_of_urdf(text, robot)[own] for own in bodies],
        [found.values[own] for own in bodies],
        rtol=1e-9,
        atol=1e-12,
    )


def test_fingers_that_the_urdf_has_too_heavy_cost_error_and_are_suspected(arm):
    robot = arm()
    truth = with_drives(robot, urdf_prior(robot.file.with_name("arm.urdf"), robot))
    truth[robot.layout.link(1)] = 0.1 * robot.held["elbow"]
    result = made_up_result(robot, truth, np.random.default_rng(1), noise=1e-4)
    found = calibrate(robot, result, space="base")
    assert (found.step, found.active_links) == (Step.SEMIDEFINITE, ("upper", "fore"))
    assert any("too large inertials of what fixed_joints hold on fore" in w for w in found.warnings)
    rewritten_urdf(ARM, robot, found.values)


def test_a_link_without_its_fingers_is_tested_where_that_is_asked(arm):
    robot = arm()
    values = with_drives(robot, urdf_prior(robot.file.with_name("arm.urdf"), robot))
    assert check_consistency(robot, values, apart=True).consistent
    values[robot.layout.link(1)] *= 0.1
    assert check_consistency(robot, values).consistent
    checks = check_consistency(robot, values, apart=True)
    assert len(checks.problems) == 1
    assert "link fore: no body is left of it without what fixed_joints hold" in checks.problems[0]


def test_an_inertial_that_no_number_holds_is_refused_where_it_is_held(write):
    write(
        ARM.replace('<mass value="0.3"/>', '<mass value="1e308"/>').replace("0.03", "1e10"),
        "arm.urdf",
    )
    with pytest.raises(RobotDescriptionError, match=r"right_finger.*too large to be computed"):
        load_robot(write(f"{FILE}fixed_joints: {{left: 0.4}}\n"))


def test_a_list_of_names_holds_at_zero(arm):
    assert arm("fixed_joints: [left]").fixed_joints == {"left": 0.0}
    angle = arm("fixed_joints: {left: 0, elbow: pi/4}")
    assert angle.fixed_joints == {"left": 0.0, "elbow": np.pi / 4}
    assert angle.joint_names == ("shoulder",)
    description = describe(angle.file.with_name("arm.urdf"), angle)
    assert description.held_links == {"fore", "left_finger", "right_finger"}


def test_the_place_at_which_a_joint_is_held_belongs_to_the_robot(arm):
    assert arm().digest != arm("fixed_joints: {left: 0.3}").digest
    assert arm() != arm("fixed_joints: {left: 0.3}")


@pytest.mark.parametrize(
    ("line", "field", "words"),
    [
        ("fixed_joints: [lefd]", "fixed_joints[0]", "has no joint lefd; did you mean left"),
        ("fixed_joints: {left: 3}", "fixed_joints.left", "its limits are -2 and 2"),
        ("fixed_joints: {left: .inf}", "fixed_joints.left", "is not a finite number"),
        ("fixed_joints: {left: wide}", "fixed_joints.left", "multiple of pi"),
        ("fixed_joints: [right]", "fixed_joints[0]", "right mimics left, which moves"),
        ("fixed_joints: left", "fixed_joints", "not a list or a mapping"),
        ("fixed_joints: []", "urdf", "right of the URDF mimics left; name left under fixed"),
    ],
)
def test_what_cannot_be_held_is_refused_by_name(arm, line, field, words):
    with pytest.raises(RobotDescriptionError, match=words) as caught:
        arm(line)
    assert caught.value.field == field


def test_a_joint_without_range_in_its_urdf_stands_anywhere(write):
    write(ARM.replace('lower="-2" upper="2"', 'lower="0" upper="0"'), "arm.urdf")
    robot = load_robot(write(f"{FILE}fixed_joints: {{left: 0.4, elbow: -1}}\n"))
    assert robot.fixed_joints == {"left": 0.4, "elbow": -1.0}


@pytest.mark.parametrize("leader", ["gone", "weld"])
def test_a_joint_that_mimics_none_that_moves_is_to_be_held_itself(write, leader):
    weld = JOINT.format(name="weld", type="fixed", parent="base", child="plate", more="")
    text = ARM.replace('joint="left"', f'joint="{leader}"').replace("</robot>", weld)
    path = write(f'{text}<link name="plate"/></robot>', "arm.urdf")
    with pytest.raises(RobotDescriptionError, match=r"fixed_joints: \[right\]"):
        load_robot(path)
    with pytest.raises(RobotDescriptionError, match="name right under fixed_joints"):
        load_robot(write(FILE))
    assert "right" not in load_robot(write(f"{FILE}fixed_joints: [right]\n")).joint_names


def test_other_entries_of_the_file_are_about_joints_that_move(arm):
    with pytest.raises(RobotDescriptionError, match="the URDF has no moving joint left"):
        arm(more="joints: [{name: left, limits: {velocity: 1}}]\n")


def test_a_table_has_no_joints_to_be_held(write):
    text = """
name: table
effort_meaning: joint_torque
fixed_joints: [a]
joints: [{name: a, type: revolute, geometry: {}}]
"""
    with pytest.raises(RobotDescriptionError, match="joints of a URDF"):
        load_robot(write(text))
