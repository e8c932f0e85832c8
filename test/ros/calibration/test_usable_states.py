"""Joint states that a robot can have."""

from dataclasses import replace

import numpy as np
import pytest

from live_nodes import ROBOT
from robot_identification.robot.drives import from_joint_side
from robot_identification.robot.joint import JointLimits
from robot_identification.robot.model import EffortMeaning, PositionMeaning
from robot_identification.ros.calibration.usable_states import UsableStates
from robot_identification.ros.common.joint_states import Sample

LIMITED = replace(
    ROBOT,
    joints=tuple(
        replace(joint, limits=JointLimits(velocity=5.0, effort=50.0)) for joint in ROBOT.joints
    ),
)


@pytest.mark.parametrize(
    ("robot", "signal", "value"),
    [
        (ROBOT, "position", 1e200),
        (ROBOT, "velocity", 1e200),
        (ROBOT, "effort", 1e160),
        (LIMITED, "velocity", 51.0),
        (LIMITED, "effort", 501.0),
    ],
)
def test_a_state_that_the_robot_cannot_have_is_refused_and_told(robot, signal, value):
    states = UsableStates(robot)
    still = {name: np.zeros(2) for name in ("position", "velocity", "effort")}
    absurd = still | {signal: np.array([0.0, -value])}
    usable = states.of([Sample(1, **still), Sample(2, **absurd), Sample(3, **still)])
    assert usable.stamps.tolist() == [1, 3]
    assert states.refusal.startswith(f"{signal} of joint {ROBOT.joint_names[1]} is -")


def test_a_limit_of_zero_is_none():
    joints = (replace(ROBOT.joints[0], limits=JointLimits(velocity=0.0)), *ROBOT.joints[1:])
    states = UsableStates(replace(ROBOT, joints=joints))
    sample = Sample(1, np.zeros(2), np.array([9.0, 0.0]), np.zeros(2))
    np.testing.assert_array_equal(states.of([sample]).velocity, [sample.velocity])
    assert not states.refusal


def test_a_stamp_that_comes_again_is_left_out_and_told_where_none_follows():
    states = UsableStates(ROBOT)
    still = np.zeros(2)
    assert len(states.of([Sample(stamp, still, None, still) for stamp in (5, 5, 6)])) == 2
    assert not states.refusal
    states.of([Sample(6, still, None, still)] * 10)
    assert "do not rise" in states.refusal


def test_states_without_velocities_are_of_use_and_say_so():
    still, moving = np.zeros(2), np.ones(2)
    states = UsableStates(LIMITED)
    usable = states.of([Sample(1, still, None, still), Sample(2, still, moving, still)])
    assert usable.has_velocity.tolist() == [False, True]
    assert not states.refusal


def test_positions_velocities_and_efforts_are_those_of_the_joints():
    first, second = ROBOT.joint_names
    drives = ({first: -50.0}, {first: 10.0, second: 45.0})
    robot = replace(
        ROBOT,
        joints=tuple(
            replace(joint, transmission=ratios)
            for joint, ratios in zip(ROBOT.joints, drives, strict=True)
        ),
        position_meaning=PositionMeaning.MOTOR,
        effort_meaning=EffortMeaning.MOTOR_TORQUE,
    )
    q, qd, tau = np.random.default_rng(0).normal(size=(3, 2))
    recorded = from_joint_side(robot, [q], [qd], [tau])
    usable = UsableStates(robot).of([Sample(1, *(signal[0] for signal in recorded))])
    np.testing.assert_allclose(
        [usable.position[0], usable.velocity[0], usable.effort[0]], [q, qd, tau]
    )
