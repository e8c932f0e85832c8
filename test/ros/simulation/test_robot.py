import dataclasses

import numpy as np
import pytest

from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.dynamics.simulation.sensors import Sensors, SensorSettings
from robot_identification.errors import TrajectoryError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.experiment import Controller
from robot_identification.robot.model import (
    EffortMeaning,
    Joint,
    JointType,
    PositionMeaning,
    RobotModel,
)
from robot_identification.ros.simulation.robot import RobotSimulator

RATE, CONTROL_RATE = 100.0, 1000.0
JOINT = Joint(
    "hinge", "arm", JointType.REVOLUTE, -1, np.eye(3), np.zeros(3),
    transmission={"hinge": -20.0}, drive_gain=0.5,
)  # fmt: skip
ROBOT = RobotModel(
    "pendulum",
    "base",
    (JOINT,),
    [0.0, -9.81, 0.0],
    effort_meaning=EffortMeaning.JOINT_TORQUE,
    controller=Controller("computed_torque", CONTROL_RATE, {"kp": (900.0,), "kd": (60.0,)}),
)
VALUES = np.zeros(14)
VALUES[[5, 6, 9, 11, 12]] = 0.5, 1.0, 2.0, 0.2, 0.3
MOVE = Trajectory(("hinge",), [0.0, 1.0], [[0.0], [1.0]], np.zeros((2, 1)), np.zeros((2, 1)))


def simulator(robot=ROBOT, position_noise=0.0):
    loop = ClosedLoop(robot, VALUES, sample_rate_hz=RATE)
    sensors = Sensors(robot, SensorSettings((position_noise,), (0.0,), (0.0,), (0.0,)), seed=1)
    return RobotSimulator(loop, sensors, [0.0])


def wanted(times, trajectory=MOVE):
    return trajectory.sample(times)[0]


def test_a_trajectory_starts_at_its_stamp_on_the_simulated_clock():
    robot = simulator()
    robot.produce(7)
    start = robot.follow(MOVE, 0.2)
    assert start.sample == 20
    assert start.delay == pytest.approx(0.2 - 0.07)
    position = robot.produce(120).position
    times = (7 + np.arange(120)) / RATE - 0.2
    np.testing.assert_allclose(position, wanted(times), atol=2e-3)


def test_a_start_between_two_instants_of_the_controller_is_kept_exactly():
    shift = 0.3 / CONTROL_RATE
    robot = simulator()
    robot.follow(MOVE, 0.1 - shift)
    late = robot.produce(80).position
    robot = simulator()
    robot.follow(MOVE, 0.1)
    on_time = robot.produce(80).position
    speed = np.gradient(on_time[:, 0], 1.0 / RATE)
    np.testing.assert_allclose((late - on_time)[20:, 0], shift * speed[20:], atol=2e-5)


def test_the_way_to_the_first_point_begins_at_once():
    robot = simulator()
    robot.follow(Trajectory(("hinge",), [1.0], [[0.5]]), None)
    position = robot.produce(150).position[:, 0]
    np.testing.assert_allclose(position[20:90], 0.5 * np.arange(20, 90) / RATE, atol=5e-3)
    np.testing.assert_allclose(position[-1], 0.5, atol=1e-3)


def test_a_late_trajectory_is_joined_where_it_is_now():
    robot = simulator()
    robot.produce(50)
    start = robot.follow(MOVE, 0.1)
    assert start.delay == pytest.approx(-0.4)
    position = robot.produce(60).position
    times = 0.4 + np.arange(60) / RATE
    np.testing.assert_allclose(position[40:], wanted(times)[40:], atol=5e-3)
    with pytest.raises(TrajectoryError, match="was over"):
        robot.follow(MOVE, 0.05)


def test_a_replaced_trajectory_is_left_without_a_jump():
    robot = simulator()
    robot.follow(MOVE, None)
    robot.produce(50)
    back = Trajectory(("hinge",), [1.0], [[0.0]], np.zeros((1, 1)), np.zeros((1, 1)))
    robot.follow(back, None)
    samples = robot.produce(150)
    assert np.abs(np.diff(samples.velocity, axis=0)).max() < 0.3
    np.testing.assert_allclose(samples.position[-1], 0.0, atol=1e-3)


def test_noise_begins_anew_with_every_trajectory():
    noise = []
    for before in (3, 11):
        robot = simulator(position_noise=1e-3)
        robot.produce(before)
        robot.follow(MOVE, (before + 9) / RATE)
        parts = [robot.produce(count).position for count in (5, 40, 60)]
        noise.append(np.concatenate(parts)[9:100])
    np.testing.assert_allclose(noise[0], noise[1], atol=1e-12)


def test_added_efforts_move_the_robot_and_end_when_taken_back():
    robot = simulator()
    still = robot.produce(10).position[-1, 0]
    robot.add_effort([5.0])
    pushed = robot.produce(100).position[-1, 0]
    assert pushed > still + 1e-3
    robot.add_effort([0.0])
    assert robot.produce(200).position[-1, 0] < pushed - 1e-3


def test_currents_and_motor_positions_are_given_where_the_robot_declares_them():
    motor = dataclasses.replace(
        ROBOT, effort_meaning=EffortMeaning.CURRENT, position_meaning=PositionMeaning.MOTOR
    )
    at_joint, at_motor = simulator(), simulator(motor)
    for robot in (at_joint, at_motor):
        robot.follow(MOVE, None)
    joint, drive = at_joint.produce(100), at_motor.produce(100)
    np.testing.assert_allclose(drive.position, -20.0 * joint.position)
    np.testing.assert_allclose(drive.velocity, -20.0 * joint.velocity)
    np.testing.assert_allclose(drive.effort, joint.effort / -20.0 / 0.5)


def free_fall():
    """Return a simulated robot whose controller does nothing, without gravity or friction."""
    robot = dataclasses.replace(
        ROBOT, gravity=[0.0, 0.0, 0.0], controller=Controller("pid", CONTROL_RATE, {})
    )
    values = np.zeros(14)
    values[5] = 1.0
    loop = ClosedLoop(robot, values, sample_rate_hz=RATE)
    sensors = Sensors(robot, SensorSettings((0.0,), (0.0,), (0.0,), (0.0,)), seed=1)
    return RobotSimulator(loop, sensors, [0.0])


def test_efforts_hold_from_their_stamp_until_the_next():
    robot = free_fall()
    robot.add_effort([2.0], 0.1)
    robot.add_effort([0.0], 0.2)
    velocity = np.concatenate([robot.produce(count).velocity[:, 0] for count in (7, 11, 22)])
    times = np.arange(40) / RATE
    np.testing.assert_allclose(velocity, 2.0 * np.clip(times - 0.1, 0.0, 0.1), atol=1e-9)


def test_an_effort_replaces_those_that_were_to_come_later():
    robot = free_fall()
    robot.add_effort([2.0], 0.1)
    robot.add_effort([5.0], 0.3)
    robot.add_effort([1.0], 0.2)
    assert robot.produce(41).velocity[40, 0] == pytest.approx(0.2 + 0.2, abs=1e-9)
    robot.add_effort([7.0], 0.5)
    robot.add_effort([0.0])
    assert robot.produce(20).velocity[-1, 0] == pytest.approx(0.41, abs=1e-9)


def test_an_effort_that_is_late_holds_at_once_and_one_far_ahead_is_refused():
    robot = free_fall()
    robot.produce(10)
    robot.add_effort([1.0], 0.01)
    assert robot.produce(11).velocity[-1, 0] == pytest.approx(0.1, abs=1e-9)
    with pytest.raises(TrajectoryError, match=r"at most 5 s ahead"):
        robot.add_effort([1.0], 9.0)
