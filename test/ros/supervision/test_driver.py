"""What joint states show of their driver: how long it may be silent, efforts at their limits."""

import math
from dataclasses import replace

import pytest
from sensor_msgs.msg import JointState

from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.model import EffortMeaning
from robot_identification.ros.supervision.driver import at_effort_limits, usual_timeout


@pytest.mark.parametrize(
    ("rate", "jitter", "timeout"),
    [
        (1000.0, 0.0, 0.105),
        (125.0, 0.5, 0.16),
        (125.0, 2.5, 0.24),
        (25.0, 0.0, 0.3),
        (25.0, 0.5, 0.4),
        (2.0, 0.0, 0.5),
        (math.nan, math.nan, 0.1),
    ],
)
def test_four_states_may_be_lost_and_one_late_while_a_process_pauses(rate, jitter, timeout):
    assert usual_timeout(1.0 / rate, jitter) == pytest.approx(timeout)


def states_with(*efforts):
    """Return joint states of the SCARA with efforts; None: the driver sends none."""
    robot = load_robot("scara")
    return [
        JointState(name=list(robot.joint_names), position=[0.0, 0.0], effort=effort or [])
        for effort in efforts
    ]


@pytest.mark.parametrize(
    ("efforts", "names"),
    [
        ([[1.0, 0.1]], ()),
        ([[1.0, 0.1], [-49.5, 0.1], [1.0, 0.1]], ("joint_1",)),
        ([[50.0, 0.1], [1.0, -5.2]], ("joint_1", "joint_2")),
        ([None, [float("nan"), 0.1]], ()),
        ([], ()),
    ],
)
def test_joints_whose_effort_was_at_its_limit_are_named(efforts, names):
    robot = limited(load_robot("scara"), (50.0, 5.0))
    assert at_effort_limits(states_with(*efforts), robot) == names


def test_nothing_is_known_of_joints_without_a_limit_or_whose_torque_nobody_measures():
    scara, states = load_robot("scara"), states_with([99.0, 99.0])
    assert at_effort_limits(states, limited(scara, (50.0, None))) == ("joint_1",)
    currents = replace(limited(scara, (50.0, 5.0)), effort_meaning=EffortMeaning.CURRENT)
    assert at_effort_limits(states, currents) == ()


def limited(robot, most):
    """Return a robot with limits of efforts."""
    joints = tuple(
        replace(joint, limits=replace(joint.limits, effort=limit))
        for joint, limit in zip(robot.joints, most, strict=True)
    )
    return replace(robot, joints=joints)
