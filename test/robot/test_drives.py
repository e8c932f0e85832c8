"""Motor-side measurements come to the joint side so that power and motion stay the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.drives import drive_gains, from_joint_side, to_joint_side
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.robot_yaml.robot import build

WRIST = """
name: wrist
position_meaning: {position}
effort_meaning: {effort}
joints:
  - {{name: a, type: revolute, geometry: {{}}, transmission: -45, drive_gain: 0.5}}
  - {{name: b, type: revolute, geometry: {{}}, transmission: {{a: 32, b: 32}}, drive_gain: -2}}
"""


def wrist(position="motor", effort="current"):
    return build(parse_document(WRIST.format(position=position, effort=effort), "wrist.yaml"))


def test_joint_side_signals_stay_as_they_are():
    signals = np.arange(6.0).reshape(3, 2)
    result = to_joint_side(wrist("joint", "joint_torque"), signals, 2 * signals, 3 * signals)
    for factor, part in enumerate(result, start=1):
        np.testing.assert_array_equal(part, factor * signals)


def test_motor_positions_are_undone_with_ratios_signs_and_coupling():
    joints = np.array([[0.1, -0.2], [1.0, 2.0]])
    motors = np.column_stack([-45 * joints[:, 0], 32 * (joints[:, 0] + joints[:, 1])])
    result = to_joint_side(wrist(), motors, 2 * motors, None)
    np.testing.assert_allclose(result.position, joints, rtol=1e-14)
    np.testing.assert_allclose(result.velocity, 2 * joints, rtol=1e-14)
    assert result.effort is None


def test_a_motor_that_moves_with_two_joints_loads_both():
    motor = np.array([[0.0, 1.0]])
    torque = to_joint_side(wrist(effort="motor_torque"), None, None, motor).effort
    np.testing.assert_array_equal(torque, [[32, 32]])


def test_currents_become_torques_by_the_drive_gains():
    torque = to_joint_side(wrist(), None, None, [[2.0, 0.0], [0.0, 1.0]]).effort
    np.testing.assert_array_equal(torque, [[-45, 0], [-64, -64]])


@given(
    position=st.sampled_from(["joint", "motor"]),
    effort=st.sampled_from(["joint_torque", "motor_torque", "current"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_there_and_back_changes_nothing(position, effort, seed):
    robot = wrist(position, effort)
    signals = np.random.default_rng(seed).normal(size=(3, 4, 2))
    there = from_joint_side(robot, *signals)
    for before, after in zip(signals, to_joint_side(robot, *there), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12)


@given(seed=st.integers(0, 2**32 - 1))
def test_power_is_the_same_on_both_sides(seed):
    robot = wrist("motor", "motor_torque")
    velocity, effort = np.random.default_rng(seed).normal(size=(2, 5, 2))
    motors = from_joint_side(robot, None, velocity, effort)
    np.testing.assert_allclose(
        np.sum(motors.velocity * motors.effort, axis=1), np.sum(velocity * effort, axis=1)
    )


def test_the_wrist_of_the_tx40_turns_motor_6_with_both_joints():
    from robot_identification.robot.files.loading import load_robot

    robot = load_robot("tx40", effort_meaning="motor_torque")
    expected = np.diag([32.0, 32, 45, -48, 45, 32])
    expected[5, 4] = 32
    np.testing.assert_array_equal(robot.motor_matrix, expected)
    motor = np.eye(6)
    np.testing.assert_array_equal(to_joint_side(robot, None, None, motor).effort, expected)


def test_effort_needs_a_meaning(write):
    from robot_identification.robot.files.loading import load_robot

    path = write(
        '<robot name="r"><link name="a"/><link name="b"/>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>',
        "r.urdf",
    )
    robot = load_robot(path)
    assert to_joint_side(robot, [[1.0]], None, None).position is not None
    with pytest.raises(SettingError, match="joint_torque, motor_torque or current"):
        to_joint_side(robot, [[1.0]], None, [[1.0]])
    with pytest.raises(SettingError, match="effort_meaning"):
        from_joint_side(robot, None, None, [[1.0]])
    with pytest.raises(SettingError, match=r"joint j needs one.*the command drive-gains"):
        drive_gains(load_robot(path, effort_meaning="current"))


def test_every_joint_needs_its_column():
    with pytest.raises(ShapeError, match=r"velocity .* \(samples, 2\)"):
        to_joint_side(wrist(), None, np.zeros((3, 3)), None)
