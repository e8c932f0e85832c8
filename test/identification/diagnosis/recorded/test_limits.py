"""Positions beyond limits, and the units that they suggest."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.identification.diagnosis.finding import Severity
from robot_identification.identification.diagnosis.recorded.limits import limit_findings
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.joint import JointType

NEAR_ZERO = [(-0.0175, 3.7525), (-3.927, 0.192), (-3.0718, -0.0698)]


def findings(limits, position):
    """Return what is found of the second joint of a robot with such limits."""
    robot = load_robot("three_dof")
    lower, upper = limits
    changed = tuple(
        replace(joint, limits=replace(joint.limits, lower=lower, upper=upper, velocity=None))
        for joint in robot.joints
    )
    rows = np.zeros((3, len(position)))
    rows[:] = 0.5 * ((lower or 0.0) + (upper or 0.0))
    rows[1] = position
    still = np.zeros_like(rows)
    return list(limit_findings(replace(robot, joints=changed), "", rows, still, still))


def within(limits, share=0.9):
    middle, half = np.mean(limits), np.ptp(limits) / 2
    return middle + share * half * np.sin(np.linspace(0.0, 10.0, 200))


@pytest.mark.parametrize("limits", NEAR_ZERO)
def test_a_wrong_sign_is_not_taken_for_degrees_where_a_limit_is_next_to_zero(limits):
    (found,) = findings(limits, -within(limits))
    assert (found.severity, found.cause) == (Severity.DOUBT, "position beyond limits")
    (moved,) = findings(limits, within(limits) - np.sign(sum(limits)))
    assert (moved.severity, moved.cause) == (Severity.DOUBT, "position beyond limits")


@pytest.mark.parametrize("limits", [*NEAR_ZERO, (-2.9, 2.9)])
def test_degrees_are_named_whatever_the_limits(limits):
    (found,) = findings(limits, np.rad2deg(within(limits)))
    assert (found.severity, found.cause) == (Severity.MISTAKE, "position unit")
    assert findings(limits, within(limits)) == []


def test_limits_of_zero_tell_no_unit():
    (found,) = findings((0.0, 0.0), np.linspace(0.0, 0.01, 200))
    assert (found.severity, found.cause) == (Severity.DOUBT, "position beyond limits")


def test_a_joint_that_turns_without_end_is_doubted_at_most():
    turning = np.linspace(0.0, 45.0, 200)
    (found,) = findings((None, None), turning)
    assert found.severity is Severity.DOUBT
    assert "turns without end" in found.problem
    assert findings((None, None), 0.5 * turning) == []


def test_a_slide_without_limits_that_reaches_a_hundred_metres_is_doubted():
    robot = load_robot("three_dof")
    limits = replace(robot.joints[1].limits, lower=None, upper=None)
    slide = replace(robot.joints[1], type=JointType.PRISMATIC, limits=limits)
    robot = replace(robot, joints=(robot.joints[0], slide, robot.joints[2]))
    rows = np.zeros((3, 200))
    for metres, problems in ((30.0, []), (110.0, ["in mm, or its way is that long"])):
        rows[1] = np.linspace(0.0, metres, 200)
        found = list(limit_findings(robot, "", rows, 0.0 * rows, 0.0 * rows))
        assert [(f.severity, f.cause) for f in found] == [
            (Severity.DOUBT, "position unit") for _ in problems
        ]
        assert all(text in f.problem for text, f in zip(problems, found, strict=True))
