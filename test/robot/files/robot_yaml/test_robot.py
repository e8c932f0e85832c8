"""A robot file becomes the robot that it describes; what is wrong is named with its line."""

import numpy as np
import pytest

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.robot_yaml.robot import build
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import EffortMeaning, PositionMeaning
from robot_identification.robot.terms.kinds import TermKind

ARM = """\
name: arm
effort_meaning: current
position_meaning: motor
gravity: [0, 0, -9.81]
base_link: floor
joint_defaults:
  type: revolute
  offset: false
  limits: {velocity: 2, effort: 50}
joints:
  - name: shoulder
    link: upper
    geometry: {alpha: -pi/2, d: 0.1, theta: 0.3, r: 0.2}
    transmission: -100
    drive_gain: 0.5
    limits: {lower: -pi, upper: 3*pi/4, velocity: 1}
  - name: slide
    type: prismatic
    geometry: {alpha: pi/2}
    offset: true
    coulomb_friction: false
  - name: side
    antecedent: shoulder
    geometry: {gamma: pi/2, b: 0.4, r: 1}
    transmission: {slide: 2, side: 3}
couplings:
  - parameter: Ia3
    kind: inertia
    terms: [{on: {slide: 1}, of: {side: 2}}]
  - parameter: Fvm3
    kind: viscous
    terms: [{on: {side: 1}, of: {slide: 1}}]
processing: {cutoff_hz: 10, velocity_threshold: 0.1, ends: keep}
controller:
  law: pid
  rate_hz: 500
  delay_samples: 2
  gains: {kp: 100, kd: [1, 2, 3]}
"""


def built(text):
    return build(parse_document(text, "arm.yaml"))


def refused(text):
    with pytest.raises(RobotDescriptionError) as caught:
        built(text)
    assert caught.value.path == "arm.yaml"
    return caught.value


def changed(old, new):
    assert ARM.count(old) == 1, "the test must change one place"
    return ARM.replace(old, new)


def test_the_robot_is_what_the_file_says():
    robot = built(ARM)
    assert robot.name == "arm"
    assert robot.base_link == "floor"
    assert robot.joint_names == ("shoulder", "slide", "side")
    assert [joint.link for joint in robot.joints] == ["upper", "link_2", "link_3"]
    assert [joint.antecedent for joint in robot.joints] == [-1, 0, 0]
    assert robot.joints[1].type is JointType.PRISMATIC
    assert robot.effort_meaning is EffortMeaning.CURRENT
    assert robot.position_meaning is PositionMeaning.MOTOR
    np.testing.assert_array_equal(robot.gravity, [0, 0, -9.81])


def test_defaults_hold_where_a_joint_says_nothing():
    shoulder, slide, side = built(ARM).joints
    assert ["off" in joint.terms for joint in (shoulder, slide, side)] == [False, True, False]
    assert ["Fc" in joint.terms for joint in (slide, side)] == [False, True]
    assert (shoulder.limits.velocity, side.limits.velocity) == (1, 2)
    assert shoulder.limits.effort == 50
    assert shoulder.limits.lower == -np.pi
    assert shoulder.limits.upper == pytest.approx(3 * np.pi / 4)
    assert side.limits.lower is None


def test_transmission_and_gains_may_couple_joints_and_have_signs():
    robot = built(ARM)
    np.testing.assert_array_equal(robot.motor_matrix, [[-100, 0, 0], [0, 1, 0], [0, 2, 3]])
    assert [joint.drive_gain for joint in robot.joints] == [0.5, None, None]


def test_couplings_share_a_parameter_or_add_one():
    robot = built(ARM)
    assert robot.coupling_parameters == ("Fvm3",)
    assert [coupling.kind for coupling in robot.couplings] == [
        TermKind.INERTIA,
        TermKind.VISCOUS,
    ]
    assert dict(robot.couplings[0].terms[0].of) == {"side": 2}


def test_a_filtered_derivative_has_its_cutoff():
    entries = "rate_hz: 500\n  velocity_estimate: filtered_derivative\n  velocity_cutoff_hz: 80"
    controller = changed("rate_hz: 500", entries)
    robot = built(controller)
    assert robot.controller.velocity_estimate == "filtered_derivative"
    assert robot.controller.velocity_cutoff_hz == 80.0


def test_processing_and_controller_fit_the_joints():
    robot = built(ARM)
    assert robot.processing.velocity_threshold == (0.1,)
    assert robot.processing.ends == "keep"
    assert robot.controller is not None
    assert robot.controller.gains["kp"] == (100, 100, 100)
    assert robot.controller.gains["kd"] == (1, 2, 3)
    assert robot.controller.gains["velocity_feedforward"] == (0, 0, 0)
    assert robot.controller.delay_samples == 2
    off = built(changed("velocity_threshold: 0.1", "velocity_threshold: off"))
    assert off.processing.velocity_threshold == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "words"),
    [
        ("name: arm\n", "nam: arm\n", 1, "nam", "did you mean name"),
        ("alpha: -pi/2", "alfa: -pi/2", 13, "joints[0].geometry.alfa", "did you mean alpha"),
        ("rate_hz: 500", "zzz: 500", 36, "controller.zzz", "known keys are law, rate_hz"),
        ("effort_meaning: current\n", "", 1, "", "joint_torque, motor_torque or current"),
        ("type: prismatic", "type: screw", 18, "joints[1].type", "not one of revolute, prismatic"),
        ("d: 0.1, t", "d: long, t", 13, "joints[0].geometry.d", '"long" is not a number'),
        ("d: 0.1, t", "d: .nan, t", 13, "joints[0].geometry.d", "not a finite number"),
        ("alpha: -pi/2", "alpha: -pj/2", 13, "joints[0].geometry.alpha", "multiple of pi"),
        ("alpha: -pi/2", "alpha: -90", 13, "joints[0].geometry.alpha", "90 degrees pi/2"),
        ("theta: 0.3", "theta: 45.0", 13, "joints[0].geometry.theta", "angles are in rad"),
        ("alpha: -pi/2", "alpha: pi/0", 13, "joints[0].geometry.alpha", "divides by zero"),
        ("[0, 0, -9.81]", "[0, 0]", 4, "gravity", "at least this many entries: 3"),
        ("offset: true", "offset: yes", 20, "joints[1].offset", "not true or false"),
        ("velocity: 1}", "velocity: 0}", 16, "joints[0].limits.velocity", "greater than 0"),
        ("upper: 3*pi/4", "upper: -4", 16, "joints[0].limits", "not below upper"),
        ("lower: -pi, ", "", 16, "joints[0].limits", "both lower and upper"),
        ("name: slide", "name: shoulder", 17, "joints[1].name", "the first is on line 11"),
        ("name: slide", "name: total", 17, "joints[1].name", "errors of all joints together"),
        ("name: side", "name: floor", 22, "joints[2].name", "name of the base link"),
        ("link: upper", "link: link_2", 17, "joints[1].link", "a second link named link_2"),
        ("antecedent: shoulder", "antecedent: sholder", 23, "joints[2].antecedent", "mean should"),
        ("link: upper", "antecedent: side", 12, "joints[0].antecedent", "round in a circle"),
        ("geometry: {alpha: pi/2}", "link: x", 17, "joints[1]", "geometry is missing"),
        ("  type: revolute\n", "", 10, "joints[0]", "type is missing"),
        ("drive_gain: 0.5", "drive_gain: 0", 15, "joints[0].drive_gain", "cannot be 0"),
        ("transmission: -100", "transmission: 0", 10, "joints", "do not determine"),
        ("{slide: 2, side: 3}", "{slidr: 2}", 25, "joints[2].transmission.slidr", "mean slide"),
        ("{slide: 2, side: 3}", "{slide: 2}", 10, "joints", "do not determine"),
        ("of: {side: 2}", "of: {sid: 2}", 29, "couplings[0].terms[0].of.sid", "mean side"),
        ("kind: inertia", "kind: viscous", 27, "couplings[0].parameter", "Ia is an inertia"),
        ("parameter: Ia3", "parameter: Ia9", 27, "couplings[0].parameter", "no joint number 9"),
        ("parameter: Ia3", "parameter: ZZ3", 27, "couplings[0].parameter", "Ia is an inertia"),
        ("parameter: Fvm3", "parameter: Ia3", 30, "couplings[1].parameter", "stands here again"),
        (
            "velocity_threshold: 0.1",
            "velocity_threshold: [1, 2]",
            33,
            "processing.velocity_threshold",
            "2 numbers for 3 joints",
        ),
        ("cutoff_hz: 10", "cutoff_hz: 0", 33, "processing.cutoff_hz", "greater than 0"),
        ("kd: [1, 2, 3]", "kd: [1, 2]", 38, "controller.gains.kd", "2 numbers for 3 joints"),
        ("kd: [1, 2, 3]", "ki: 1", 38, "controller.gains", "needs the gain kd"),
        ("kd: [1, 2, 3]", "kd: 1, kv: 2", 38, "controller.gains.kv", "has no gain kv"),
        ("kp: 100", "kp: -1", 38, "controller.gains.kp", "at least 0"),
        (
            "rate_hz: 500",
            "rate_hz: 500\n  velocity_estimate: filtered_derivative",
            34,
            "controller",
            "velocity_cutoff_hz belongs to",
        ),
        ("rate_hz: 500", "rate_hz: 500\n  velocity_cutoff_hz: 9", 34, "controller", "belongs to"),
        ("law: pid", "law: bang", 35, "controller.law", "not one of cascade"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old, new, line, field, words):
    error = refused(changed(old, new))
    assert words in error.problem
    assert error.field == field
    assert error.line == line


def test_a_parameter_that_the_model_leaves_out_cannot_be_shared():
    text = changed(
        "    transmission: {slide: 2", "    drive_inertia: false\n    transmission: {slide: 2"
    )
    assert "does not belong to the model" in refused(text).problem


def test_position_limits_that_are_many_turns_are_told():
    assert built(ARM).warnings == ()
    degrees = changed("{lower: -pi, upper: 3*pi/4, velocity: 1}", "{lower: -pi, upper: 170}")
    (told,) = built(degrees).warnings
    assert told.startswith("limits: upper of shoulder is 170 rad, 27 turns; in degrees? 2.96706")


def test_a_joint_must_stand_after_its_antecedent():
    text = ARM.replace("antecedent: shoulder", "antecedent: floor").replace(
        "link: upper", "antecedent: side"
    )
    error = refused(text)
    assert "stands before its antecedent side" in error.problem
    assert error.line == 12


def test_a_file_without_joints_says_what_to_add():
    error = refused("name: x\neffort_meaning: current\n")
    assert "joints is missing" in error.problem


@pytest.mark.parametrize("text", ["12", "[1, 2]", "text"])
def test_a_file_that_is_no_mapping_is_refused(text):
    assert "is not a mapping" in refused(text).problem


LOOP = """
loops:
  - {joint: side, equals: {shoulder: -1}, offset: pi/2}
"""


def test_a_loop_ties_one_joint_to_others():
    robot = built(ARM.replace("kd: [1, 2, 3]", "kd: [1, 2]") + LOOP)
    loop = robot.loops[0]
    assert (loop.joint, dict(loop.equals)) == ("side", {"shoulder": -1})
    assert loop.offset == pytest.approx(np.pi / 2)
    assert robot.controller.gains["kd"] == (1.0, 2.0)  # of the joints that do not follow


@pytest.mark.parametrize(
    ("loops", "words"),
    [
        ("[{joint: sid, equals: {slide: 1}}]", "did you mean side"),
        ("[{joint: side, equals: {slid: 1}}]", "did you mean slide"),
        ("[{joint: side, equals: {side: 1}}]", "follows other joints itself"),
        (
            "[{joint: side, equals: {slide: 1}}, {joint: side, equals: {shoulder: 1}}]",
            "follows twice",
        ),
        ("[{joint: side, equals: {}}]", "at least this many entries"),
    ],
)
def test_a_loop_that_ties_nothing_is_refused(loops, words):
    assert words in refused(f"{ARM}loops: {loops}\n").problem
