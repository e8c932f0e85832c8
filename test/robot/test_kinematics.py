"""Frames follow Khalil and Kleinfinger's convention, and survive being written and read."""

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.errors import ShapeError
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.robot_yaml.robot import build
from robot_identification.robot.geometry import cos_sin, forward_kinematics, parse_angle, placement
from robot_identification.robot.joint import GeometricParameters, JointType

ANGLES = st.floats(-7, 7) | st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi])
LENGTHS = st.floats(-2, 2)
GEOMETRY = st.builds(
    GeometricParameters,
    alpha=ANGLES,
    d=LENGTHS,
    theta=ANGLES,
    r=LENGTHS,
    gamma=ANGLES,
    b=LENGTHS,
)


def rotation(axis, angle):
    """Return a homogeneous rotation by Rodrigues' formula."""
    x, y, z = axis
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    frame = np.eye(4)
    frame[:3, :3] += np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew
    return frame


def shift(*vector):
    frame = np.eye(4)
    frame[:3, 3] = vector
    return frame


def elementary(geometry, turn=0.0, slide=0.0):
    return (
        rotation((0, 0, 1), geometry.gamma)
        @ shift(0, 0, geometry.b)
        @ rotation((1, 0, 0), geometry.alpha)
        @ shift(geometry.d, 0, 0)
        @ rotation((0, 0, 1), geometry.theta + turn)
        @ shift(0, 0, geometry.r + slide)
    )


@given(GEOMETRY)
def test_a_placement_is_the_product_of_its_six_motions(geometry):
    turn, translation = placement(geometry)
    expected = elementary(geometry)
    np.testing.assert_allclose(turn, expected[:3, :3], atol=1e-9)
    np.testing.assert_allclose(translation, expected[:3, 3], atol=1e-9)


@st.composite
def trees(draw):
    """Draw robot files of random trees."""
    count = draw(st.integers(1, 6))
    joints = []
    for i in range(count):
        geometry = draw(GEOMETRY)
        joints.append(
            {
                "name": f"j{i}",
                "type": draw(st.sampled_from(["revolute", "prismatic"])),
                "antecedent": draw(st.sampled_from(["base", *(f"j{k}" for k in range(i))])),
                "geometry": {k: v for k, v in vars(geometry).items() if v},
            }
        )
    return {"name": "tree", "effort_meaning": "joint_torque", "joints": joints}


@given(trees(), st.integers(0, 2**32 - 1))
def test_a_tree_written_and_read_moves_as_it_was_drawn(data, seed):
    robot = build(parse_document(yaml.safe_dump(data, sort_keys=False), "tree.yaml"))
    q = np.random.default_rng(seed).uniform(-3, 3, (3, len(robot.joints)))
    frames = forward_kinematics(robot, q)
    for sample in range(3):
        expected = {"base": np.eye(4)}
        for j, entry in enumerate(data["joints"]):
            geometry = GeometricParameters(**entry["geometry"])
            read = robot.joints[j].geometry
            for key, value in vars(geometry).items():  # six digits of a right angle are that angle
                assert getattr(read, key) == pytest.approx(value, rel=0.0, abs=1e-5)
            geometry = read
            motion = "turn" if robot.joints[j].type is JointType.REVOLUTE else "slide"
            local = elementary(geometry, **{motion: q[sample, j]})
            expected[entry["name"]] = expected[entry["antecedent"]] @ local
            np.testing.assert_allclose(frames[sample, j], expected[entry["name"]], atol=1e-8)


def test_one_configuration_may_be_given_alone():
    robot = build(
        parse_document(
            "name: x\neffort_meaning: current\n"
            "joints: [{name: a, type: prismatic, geometry: {}}]\n",
            "x.yaml",
        )
    )
    assert forward_kinematics(robot, [0.5]).shape == (1, 4, 4)
    assert forward_kinematics(robot, [0.5])[0, 2, 3] == 0.5
    with pytest.raises(ShapeError, match="samples, 1"):
        forward_kinematics(robot, [[1.0, 2.0]])


@pytest.mark.parametrize("quarters", range(-5, 6))
def test_quarter_turns_are_exact(quarters):
    angle = quarters * np.pi / 2
    for written in (angle, round(angle, 11)):
        assert sorted(map(abs, cos_sin(written))) == [0, 1]
        np.testing.assert_allclose(cos_sin(written), [np.cos(angle), np.sin(angle)], atol=1e-15)


def test_an_angle_that_is_only_near_a_quarter_turn_is_kept():
    assert cos_sin(1.5708) == (np.cos(1.5708), np.sin(1.5708))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pi", np.pi),
        ("-pi/2", -np.pi / 2),
        ("+pi / 3", np.pi / 3),
        ("2*pi", 2 * np.pi),
        ("-0.5 * pi/4", -np.pi / 8),
        (1, 1.0),
    ],
)
def test_angles_may_be_written_as_multiples_of_pi(text, value):
    assert parse_angle(text) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("text", ["", "pie", "pi/0", "pi*2", "1", "__import__('os')", "pi/2/2"])
def test_other_text_is_no_angle(text):
    with pytest.raises(ValueError, match=r"pi|zero"):
        parse_angle(text)
