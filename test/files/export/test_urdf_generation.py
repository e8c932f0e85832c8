"""A robot that no URDF describes gets one, in which the same robot is found again."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_robots import random_robot, random_values
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import InconsistentParametersError
from robot_identification.files.export.urdf import urdf_remarks
from robot_identification.files.export.urdf_generation import generated_urdf
from robot_identification.robot.bodies import pseudo_inertia
from robot_identification.robot.couplings import LoopRelation
from robot_identification.robot.files.loading import known_robots, load_robot
from robot_identification.robot.files.urdf.prior import values_of_urdf
from robot_identification.robot.files.urdf.robot import parse_urdf
from robot_identification.robot.joint import JointLimits, JointType


def of_urdf(text, robot, values):
    """Return the robot that a URDF describes and its values, joints in the order of the URDF."""
    read = parse_urdf(text, "generated", allow_mimic=True).robot
    count = 14 * len(robot.joints)
    own = values_of_urdf(text, robot, beside=values)[:count].reshape(-1, 14)
    order = [robot.joint_names.index(name) for name in read.joint_names]
    return replace(read, gravity=read.gravity / 9.81 * np.linalg.norm(robot.gravity)), (
        own[order].ravel(),
        order,
    )


def check(robot, values):
    """Check that a URDF has the same parameters and the same torques as a robot."""
    text = generated_urdf(robot, values)
    found = values_of_urdf(text, robot, beside=values)
    np.testing.assert_allclose(found, values, rtol=1e-13, atol=1e-14)
    for body in found[: 14 * len(robot.joints)].reshape(-1, 14):
        assert np.linalg.eigvalsh(pseudo_inertia(body[:10]))[0] > 0.0
    read, (theirs, order) = of_urdf(text, robot, values)
    states = np.random.default_rng(0).normal(size=(3, 10, len(robot.joints)))
    single = replace(robot, couplings=(), loops=())
    expected = inverse_dynamics(single, values[: 14 * len(robot.joints)], *states)
    effort = inverse_dynamics(read, theirs, *(state[:, order] for state in states))
    np.testing.assert_allclose(effort, expected[:, order], atol=1e-12 * np.abs(expected).max())
    return text


@pytest.mark.parametrize("name", known_robots())
def test_every_shipped_robot_is_found_again(name):
    robot = load_robot(name, closed_loops=True)
    check(robot, random_values(np.random.default_rng(0), robot))


@given(st.integers(0, 2**32 - 1))
def test_any_tree_is_found_again(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    check(robot, random_values(rng, robot))


def arm(**changes):
    """Return a robot of three joints whose joint 2 has the changed fields."""
    robot = random_robot(np.random.default_rng(4), joints=3)
    joints = list(robot.joints)
    joints[1] = replace(joints[1], **changes)
    return replace(robot, joints=tuple(joints), gravity=np.array([0.0, 0.0, -9.81]))


def values_for(robot):
    return random_values(np.random.default_rng(5), robot)


@pytest.mark.parametrize(
    ("kind", "limits", "found", "remark"),
    [
        ("revolute", JointLimits(), 'type="continuous"', ""),
        (
            "revolute",
            JointLimits(-1.0, 2.0, velocity=3.0, effort=4.0),
            'lower="-1" upper="2" effort="4" velocity="3"',
            "",
        ),
        (
            "revolute",
            JointLimits(-1.0, 2.0),
            'lower="-1" upper="2" effort="0" velocity="0"',
            "joint_2: effort and velocity limit unknown, given as 0",
        ),
        (
            "revolute",
            JointLimits(velocity=3.0),
            'effort="0" velocity="3"',
            "joint_2: effort limit unknown",
        ),
        (
            "prismatic",
            JointLimits(velocity=3.0, effort=4.0),
            'limit effort="4" velocity="3"',
            "joint_2: no position limits",
        ),
    ],
)
def test_limits_are_stated_where_known_and_remarked_on_where_not(kind, limits, found, remark):
    robot = arm(type=JointType(kind), limits=limits)
    text = check(robot, values_for(robot))
    joint = text[text.index('<joint name="joint_2"') :]
    assert found in joint[: joint.index("</joint>")]
    remarks = [r for r in urdf_remarks(robot, values_for(robot)) if "joint_2" in r]
    assert all(remark in r for r in remarks) if remark else not remarks
    assert all(f"<!-- {r} -->" in text for r in remarks)
    read = parse_urdf(text, "").robot
    assert read.joints[read.joint_names.index("joint_2")].limits == limits


def test_what_has_no_place_is_named():
    robot = load_robot("tx40")
    text = generated_urdf(robot, random_values(np.random.default_rng(0), robot))
    assert "no place for Ia1, off1, Ia2" in text
    assert "Fvm6, Fcm6;" in text


def test_gravity_points_down_in_a_root_link_where_it_does_not_in_the_base():
    robot = replace(load_robot("scara"), gravity=np.array([9.81, 0.0, 0.0]))
    text = check(robot, random_values(np.random.default_rng(0), robot))
    assert parse_urdf(text, "").robot.base_link == "world"
    weightless = replace(robot, gravity=np.zeros(3))
    text = generated_urdf(weightless, random_values(np.random.default_rng(0), robot))
    assert "gravity; the robot's is 0 m/s^2" in text
    assert "world" not in text


def test_one_joint_in_a_base_that_leans():
    robot = replace(load_robot("emps"), gravity=np.array([0.6, 0.0, -0.8]) * 9.81)
    check(robot, random_values(np.random.default_rng(0), robot))


def test_a_joint_that_follows_one_other_mimics_it_and_one_that_follows_two_is_remarked_on():
    robot = load_robot("three_dof")
    values = random_values(np.random.default_rng(0), robot)
    loops = (LoopRelation("joint_3", {"joint_2": -1.0}, offset=0.5),)
    text = check(replace(robot, loops=loops), values)
    assert '<mimic joint="joint_2" multiplier="-1" offset="0.5"/>' in text
    loops = (LoopRelation("joint_3", {"joint_1": 1.0, "joint_2": -1.0}),)
    text = check(replace(robot, loops=loops), values)
    assert "joint_3 follows joint_1, joint_2, which a URDF cannot say" in text
    assert "<mimic" not in text


def test_names_that_xml_does_not_take_as_they_are():
    robot = arm(name='a--"b" & <c>', link="l--->'1'")
    robot = replace(robot, name="<robot> & --", base_link="world")
    robot = replace(robot, gravity=np.array([0.0, 9.81, 0.0]))
    text = check(robot, values_for(robot))
    assert parse_urdf(text, "").robot.base_link == "world_"


def test_what_cannot_exist_gets_no_urdf():
    robot = load_robot("scara")
    values = random_values(np.random.default_rng(0), robot)
    values[14 + 9] = 0.0
    with pytest.raises(InconsistentParametersError, match="link link_2: its mass is 0"):
        generated_urdf(robot, values)


def test_numbers_have_all_their_digits():
    robot = load_robot("scara")
    values = random_values(np.random.default_rng(0), robot)
    text = generated_urdf(robot, values)
    damping = re.findall(r'damping="([^"]*)"', text)
    assert [float(number) for number in damping] == [values[11], values[25]]
