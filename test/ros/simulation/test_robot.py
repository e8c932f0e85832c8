import dataclasses

import numpy as np
import pytest

from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.dynamics.simulation.sensors import Sensors, SensorSettings
from robot_identification.errors import SettingError, TrajectoryError
from robot_identification.excitation.motions.point_efforts import with_efforts
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.experiment import Controller
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.model import EffortMeaning, PositionMeaning, RobotModel
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


def test_a_robot_whose_efforts_nobody_can_convert_has_no_sensors():
    unknown = dataclasses.replace(JOINT, drive_gain=None)
    robot = dataclasses.replace(ROBOT, joints=(unknown,), effort_meaning=EffortMeaning.CURRENT)
    with pytest.raises(SettingError, match="joint hinge needs one"):
        simulator(robot)
    with pytest.raises(SettingError, match="effort_meaning"):
        simulator(dataclasses.replace(ROBOT, effort_meaning=None))


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


def fed(efforts, times=(0.0, 1.0), position=0.0):
    """Return the command to stay at a position, with efforts in the points."""
    place = np.full((len(times), 1), position)
    still = np.zeros_like(place)
    return Trajectory(("hinge",), times, place, still, still, np.reshape(efforts, (-1, 1)))


def pushed(*trajectories, count=150):
    """Return how far a feather-light spring is pushed by the efforts of points, per 1 N m."""
    soft = Controller("pid", CONTROL_RATE, {"kp": (1e4,), "kd": (200.0,)})
    robot = simulator(dataclasses.replace(ROBOT, gravity=np.zeros(3), controller=soft))
    for trajectory in trajectories[:-1]:
        robot.follow(trajectory, None)
        robot.produce(count)
    robot.follow(trajectories[-1], None)
    return 1e4 * robot.produce(count).position[:, 0]


def test_efforts_of_points_are_straight_lines_and_hold_on_after_the_end():
    effort = pushed(fed([0.0, 50.0]))
    times = np.arange(150) / RATE
    lagging = 50.0 * np.clip(times - 0.02, 0.0, 1.0)  # of the controller and its damping
    np.testing.assert_allclose(effort[10:], lagging[10:], atol=1.5)
    np.testing.assert_allclose(effort[-1], 50.0, atol=0.5)


def test_a_trajectory_without_efforts_takes_those_before_away():
    after = dataclasses.replace(fed([0.0, 0.0]), efforts=None)
    assert abs(pushed(fed([50.0, 50.0]), after)[-1]) < 0.5


def test_the_way_to_the_first_point_leads_from_the_effort_of_now():
    late = dataclasses.replace(fed([0.0, 0.0]), times=np.array([1.0, 2.0]))
    effort = pushed(fed([50.0, 50.0]), late)
    np.testing.assert_allclose(effort[50], 25.0, atol=2.0)


def test_a_robot_that_is_told_to_hold_has_no_efforts_of_points():
    soft = Controller("pid", CONTROL_RATE, {"kp": (1e4,), "kd": (200.0,)})
    robot = simulator(dataclasses.replace(ROBOT, gravity=np.zeros(3), controller=soft))
    robot.follow(fed([50.0, 50.0]), None)
    held = robot.produce(100).position[-1, 0]
    robot.hold()
    np.testing.assert_allclose(robot.produce(100).position[-1, 0], held, atol=2e-4)
    assert held > 4e-3


def test_efforts_of_points_change_with_every_step_of_the_controller():
    loop = ClosedLoop(ROBOT, VALUES, sample_rate_hz=RATE)
    state = loop.settled([0.0])
    steady = np.repeat([[3.0]], 40, axis=0)
    still = Trajectory(("hinge",), [0.0], [[0.0]]).reference
    one, samples = loop.advance(state, still, 40, [3.0])
    other, same = loop.advance(state, still, 40, steady)
    assert (one, samples) == (other, same)
    ramp = np.linspace(0.0, 6.0, 40)[:, None]
    whole, together = loop.advance(state, still, 40, ramp)
    part, first = loop.advance(state, still, 13, ramp[:13])
    end, rest = loop.advance(part, still, 27, ramp[13:])
    assert end == whole
    np.testing.assert_array_equal(
        np.concatenate([first.position, rest.position]), together.position
    )


def test_efforts_in_the_points_make_the_arm_follow_twenty_times_better():
    arm = load_robot("tx40")
    values = load_values("tx40_simulated", arm)
    loop = ClosedLoop(arm, values, sample_rate_hz=500.0)
    still = np.zeros((3, 6))
    there = np.array([np.zeros(6), np.full(6, 0.8), np.full(6, -0.4)])
    motion = Trajectory(arm.joint_names, [0.0, 0.9, 2.3], there, still, still)
    settings = SensorSettings(*[(0.0,) * 6] * 4)
    errors = []
    for trajectory in (motion, with_efforts(motion, FeedForward(arm, values))):
        robot = RobotSimulator(loop, Sensors(arm, settings, seed=1), np.zeros(6))
        robot.follow(trajectory, None)
        position = robot.produce(1200).position
        wanted_position = motion.sample(np.arange(1200) / 500.0)[0]
        errors.append(np.sqrt(np.mean((position - wanted_position)[100:] ** 2)))
    assert errors[1] < errors[0] / 20.0
