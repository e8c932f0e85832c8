"""A robot file that names a URDF adds to it: terms, couplings, limits with their sources."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from robot_identification.errors import MissingLimitError, RobotDescriptionError
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.plans.plans import certified_text
from robot_identification.robot.files.loading import load_robot, with_joint_limits
from robot_identification.robot.files.urdf.elements import Mimic
from robot_identification.robot.files.urdf.robot import parse_urdf
from robot_identification.robot.joint import JointLimits
from robot_identification.robot.limits import require_limits, stated_limits, wider_than_urdf
from urdf_arm import ARM, changed

OVERLAY = """\
name: arm
effort_meaning: joint_torque
urdf: arm.urdf
joint_defaults: {offset: false, limits: {acceleration: 9}}
joints:
  - name: elbow
    coulomb_friction: false
    limits: {lower: -pi, upper: pi, effort: 30}
    transmission: {elbow: 50, gripper: 10}
couplings:
  - {parameter: Fvm2, kind: viscous, terms: [{on: {elbow: 1}, of: {gripper: 1}}]}
"""


def test_a_robot_file_may_add_to_a_urdf(write):
    bare = load_robot(write(ARM, "arm.urdf"))
    robot = load_robot(write(OVERLAY))
    require_limits(robot, ["position", "velocity", "acceleration", "effort"])
    assert robot.joint_names == bare.joint_names
    assert ["off" in joint.terms for joint in robot.joints] == [False] * 3
    assert ["Fc" in joint.terms for joint in robot.joints] == [True, False, True]
    assert robot.joints[0].limits.lower == -1
    np.testing.assert_array_equal(robot.motor_matrix, [[1, 0, 0], [0, 50, 10], [0, 0, 1]])
    np.testing.assert_array_equal(robot.joints[1].rotation, bare.joints[1].rotation)
    assert robot.coupling_parameters == ("Fvm2",)
    assert robot.digest not in ("", bare.digest)


def test_defaults_fill_and_narrow_the_limits_of_a_urdf_but_never_widen_them(write):
    write(ARM, "arm.urdf")
    own = load_robot(write(ARM, "arm.urdf")).joints[0].limits
    wide = "{lower: -4, upper: 4, velocity: 100, acceleration: 9, effort: 1e6}"
    joint = load_robot(write(with_defaults(wide))).joints[0]
    assert joint.limits == replace(own, acceleration=9.0, effort=own.effort or 1e6)
    narrow = f"{{lower: -0.5, upper: 0.5, velocity: {own.velocity / 2}}}"
    joint = load_robot(write(with_defaults(narrow))).joints[0]
    assert joint.limits == replace(own, lower=-0.5, upper=0.5, velocity=own.velocity / 2)
    with pytest.raises(RobotDescriptionError, match="leaves shoulder no range") as caught:
        load_robot(write(with_defaults("{lower: 2, upper: 3}")))
    assert caught.value.field == "joint_defaults.limits"


def test_a_joint_without_range_in_its_urdf_has_the_one_that_its_entry_states(write):
    write(ARM.replace('lower="-1" upper="2"', 'lower="0" upper="0"'), "arm.urdf")
    own = "limits: {lower: -3, upper: 3, velocity: 2, effort: 50}"
    for defaults in ("{acceleration: 5.0}", "{lower: 0, upper: 0.04, acceleration: 5.0}"):
        text = f"{with_defaults(defaults)}joints: [{{name: shoulder, {own}}}]\n"
        limits = load_robot(write(text)).joints[0].limits
        assert limits == JointLimits(lower=-3, upper=3, velocity=2, acceleration=5, effort=50)
    text = with_defaults("{lower: 0, upper: 0.04}")
    with pytest.raises(RobotDescriptionError, match="leaves shoulder no range"):
        load_robot(write(f"{text}joints: [{{name: shoulder, limits: {{velocity: 2}}}}]\n"))


def test_a_joint_without_range_in_its_urdf_lacks_a_position_limit_where_it_is_to_move(write):
    write(ARM.replace('lower="-1" upper="2"', 'lower="0" upper="0"'), "arm.urdf")
    robot = load_robot(write(with_defaults("{acceleration: 5.0, velocity: 2.0}")))
    with pytest.raises(MissingLimitError, match="write 0 for both") as caught:
        require_limits(robot, ["position"])
    assert "shoulder" in caught.value.missing["position"]
    assert "gripper" not in caught.value.missing["position"]


def test_a_joint_without_range_in_its_urdf_may_be_given_other_limits(write):
    write(ARM.replace('lower="-1" upper="2"', 'lower="0" upper="0"'), "arm.urdf")
    head = "name: arm\neffort_meaning: joint_torque\nurdf: arm.urdf\n"
    robot = load_robot(write(f"{head}joints: [{{name: shoulder, limits: {{acceleration: 5}}}}]\n"))
    limits = robot.joints[0].limits
    assert (limits.lower, limits.upper, limits.acceleration) == (0.0, 0.0, 5.0)


def with_defaults(limits):
    head = "name: arm\neffort_meaning: joint_torque\nurdf: arm.urdf\n"
    return f"{head}joint_defaults: {{limits: {limits}}}\n"


def test_only_a_joint_itself_is_given_wider_limits_and_the_certificate_says_so(write):
    write(ARM, "arm.urdf")
    text = with_defaults("{lower: -1.0, upper: 1.0, velocity: 1, acceleration: 9}")
    robot = load_robot(write(text + "joints: [{name: shoulder, limits: {upper: 2.5}}]\n"))
    assert robot.joints[0].limits.upper == 2.5
    (told,) = wider_than_urdf(robot, "position")
    assert told == "shoulder upper 2.5, in the URDF 2"
    assert not wider_than_urdf(robot, "velocity")
    still = np.zeros((2, 3))
    check = next(
        c
        for c in certify(
            robot, Trajectory(robot.joint_names, [0.0, 1.0], still, still, still)
        ).checks
        if c.name == "position"
    )
    assert told in check.detail


def test_a_certificate_and_a_plan_name_the_source_of_every_limit(write, tmp_path):
    write(ARM, "arm.urdf")
    text = with_defaults("{lower: -1.0, upper: 3.0, velocity: 1, acceleration: 9}")
    described = load_robot(write(text + "joints: [{name: shoulder, limits: {upper: 2.5}}]\n"))
    table = tmp_path / "joint_limits.yaml"
    table.write_text("joint_limits: {elbow: {has_jerk_limits: true, max_jerk: 50.0}}\n")
    robot = with_joint_limits(described, table)
    sources = {(one.joint, one.limit): one.source for one in stated_limits(robot)}
    assert sources["shoulder", "upper"] == "robot file, the joint itself"
    assert sources["shoulder", "lower"] == sources["gripper", "upper"] == "URDF"
    assert sources["shoulder", "velocity"] == sources["elbow", "lower"] == "joint_defaults"
    assert sources["elbow", "jerk"] == "joint_limits.yaml"
    assert ("shoulder", "jerk") not in sources
    still = np.zeros((2, 3))
    certificate = certify(robot, Trajectory(robot.joint_names, [0.0, 1.0], still, still, still))
    told = certificate.summary()["limits"]["shoulder"]["upper"]
    assert told == {"value": 2.5, "source": "robot file, the joint itself", "urdf": 2.0}
    words = certificate.limit_sources
    assert "acceleration" in words[words.index("joint_defaults: ") :]
    assert "joint_limits.yaml: jerk" in words
    lines = certified_text(
        robot.name, Trajectory(robot.joint_names, [0.0, 1.0], still), certificate, ""
    )
    assert yaml.safe_load(lines)["limits"]["shoulder"]["upper"] == [
        2.5,
        "robot file, the joint itself",
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "words"),
    [
        ("name: elbow", "name: elbo", 6, "joints[0].name", "did you mean elbow"),
        ("name: elbow", "name: weld", 6, "joints[0].name", "no moving joint weld"),
        ("name: elbow", "name: elbow\n    type: revolute", 7, "joints[0].type", "remove the key"),
        ("urdf: arm.urdf", "urdf: arm.urdf\nbase_link: floor", 4, "base_link", "remove the key"),
        ("{offset: false", "{type: revolute", 4, "joint_defaults.type", "remove the key"),
    ],
)
def test_what_a_robot_file_adds_must_fit_the_urdf(write, old, new, line, field, words):
    write(ARM, "arm.urdf")
    with pytest.raises(RobotDescriptionError) as caught:
        load_robot(write(OVERLAY.replace(old, new)))
    assert words in caught.value.problem
    assert (caught.value.line, caught.value.field) == (line, field)


def test_an_error_in_the_urdf_is_named_there(write):
    path = write(changed('xyz="0 2 0"', 'xyz="0 0 0"'), "arm.urdf")
    with pytest.raises(RobotDescriptionError) as caught:
        load_robot(write(OVERLAY))
    assert (caught.value.path, caught.value.line) == (str(path), 16)


def test_a_mimic_joint_is_accepted_once_the_robot_file_declares_it(write):
    write(changed('<axis xyz="0 0 -1"/>', '<mimic joint="elbow"/>'), "arm.urdf")
    with pytest.raises(RobotDescriptionError, match="declare the relation under loops"):
        load_robot(write(OVERLAY))
    path = write(OVERLAY + "loops: [{joint: gripper, equals: {elbow: 1}}]\n")
    assert load_robot(path, closed_loops=True).loops[0].joint == "gripper"


@pytest.mark.parametrize(
    ("loop", "told"),
    [
        ("equals: {elbow: 0.02}, offset: 0.01", False),
        ("equals: {elbow: -0.02}, offset: 0.01", True),
        ("equals: {elbow: 0.02}", True),
        ("equals: {shoulder: 0.02}, offset: 0.01", True),
        ("equals: {elbow: 0.02, shoulder: 0.5}, offset: 0.01", True),
    ],
)
def test_a_loop_that_says_otherwise_than_the_urdf_is_told(write, loop, told):
    """A sign that is wrong in the robot file would move masses to the other side."""
    mimic = '<axis xyz="0 0 -1"/><mimic joint="elbow" multiplier="0.02" offset="0.01"/>'
    write(changed('<axis xyz="0 0 -1"/>', mimic), "arm.urdf")
    robot = load_robot(write(f"{OVERLAY}loops: [{{joint: gripper, {loop}}}]\n"), closed_loops=True)
    found = [line for line in robot.warnings if "gripper follows otherwise" in line]
    assert [line.endswith("plus 0.01; the robot file counts") for line in found] == [True] * told


def test_a_joint_that_mimics_one_that_mimics_another_follows_the_last(write):
    text = changed('<axis xyz="0 0 -1"/>', '<mimic joint="elbow" multiplier="0.5" offset="0.1"/>')
    elbow = '<mimic joint="shoulder" multiplier="-2" offset="0.3"/>'
    place = text.index("</joint>", text.index('<joint name="elbow"'))
    description = parse_urdf(text[:place] + elbow + text[place:], "arm", allow_mimic=True)
    assert description.followed("gripper") == Mimic("shoulder", -1.0, 0.25)
    assert description.followed("elbow") == Mimic("shoulder", -2.0, 0.3)
