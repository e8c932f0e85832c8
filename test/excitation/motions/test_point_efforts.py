"""Efforts in the points of trajectories: the lines between them, and the motion that they leave."""

from dataclasses import replace

import numpy as np
import pytest

import robot_identification as ri
from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.errors import SettingError, TrajectoryError
from robot_identification.excitation.motions.point_efforts import (
    SHORTEST,
    TOLERANCE,
    with_efforts,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.plans.trajectories import (
    read_trajectory,
    write_trajectory,
)
from robot_identification.robot.experiment import Controller
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values

ROBOT = load_robot("tx40")
VALUES = load_values("tx40_simulated", ROBOT)
MODEL = FeedForward(ROBOT, VALUES)
STILL = np.zeros((3, 6))
THERE = np.array([np.zeros(6), np.full(6, 0.8), np.full(6, -0.4)])
SPARSE = Trajectory(ROBOT.joint_names, [0.0, 0.9, 2.3], THERE, STILL, STILL)
CUBIC = replace(SPARSE, accelerations=None)
STRAIGHT = replace(CUBIC, velocities=None)


@pytest.mark.parametrize("motion", [SPARSE, CUBIC, STRAIGHT], ids=["quintic", "cubic", "straight"])
def test_the_motion_stays_what_it_is(motion):
    fed = with_efforts(motion, MODEL)
    own = np.isin(fed.times, motion.times)
    np.testing.assert_array_equal(fed.times[own], motion.times)
    for name in ("positions", "velocities", "accelerations"):
        given = getattr(motion, name)
        if given is None:
            assert getattr(fed, name) is None
        else:
            np.testing.assert_array_equal(getattr(fed, name)[own], given)
    times = np.linspace(-0.1, 2.4, 3000)
    for one, other in zip(fed.sample(times), motion.sample(times), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)


def test_lines_between_points_are_the_model_but_where_friction_jumps():
    fed = with_efforts(SPARSE, MODEL)
    times = np.linspace(0.0, 2.3, 20_001)
    off = np.abs(fed.sample_efforts(times) - MODEL.efforts(*SPARSE.sample(times))) / MODEL.limits
    jumps = np.array([0.0, 0.9, 2.3])  # all joints reverse together
    near = np.abs(times[:, None] - jumps).min(axis=1) <= 2.0 * SHORTEST
    assert off[~near].max() <= 1.5 * TOLERANCE
    assert off[near].max() > 2.0 * TOLERANCE
    sparse = replace(SPARSE, efforts=MODEL.efforts(*SPARSE.sample(SPARSE.times)))
    assert np.abs(sparse.sample_efforts(times) - MODEL.efforts(*SPARSE.sample(times))).max() > 10.0
    assert len(fed.times) < 300


def test_a_reversal_in_the_middle_of_a_line_is_seen():
    robot = replace(ROBOT, gravity=np.zeros(3), controller=None)
    values = np.zeros_like(VALUES)
    values[robot.all_parameter_names.index("Fc1")] = 5.0
    swing = np.zeros((3, 6))
    swing[1, 0] = 0.5
    speed = np.zeros((2, 6))
    speed[:, 0] = 1.0, -1.0
    motion = Trajectory(robot.joint_names, [0.0, 1.0], swing[[0, 0]], speed, np.zeros((2, 6)))
    model = FeedForward(robot, values)
    efforts = with_efforts(motion, model).sample_efforts([0.25, 0.5 - 2e-3, 0.5 + 2e-3, 0.75])
    np.testing.assert_allclose(efforts[:, 0], [5.0, 5.0, -5.0, -5.0])


def test_a_robot_that_rests_needs_no_further_points():
    rest = Trajectory(ROBOT.joint_names, [0.0, 4.0], THERE[[1, 1]], STILL[:2], STILL[:2])
    fed = with_efforts(rest, MODEL)
    np.testing.assert_array_equal(fed.times, rest.times)
    np.testing.assert_array_equal(fed.efforts[0], fed.efforts[1])


def test_efforts_stay_within_the_limits_of_the_joints():
    heavy = FeedForward(ROBOT, 50.0 * VALUES)
    fed = with_efforts(SPARSE, heavy)
    drive = FeedForward(ROBOT, np.zeros_like(VALUES)).efforts(*fed.sample(fed.times))
    assert heavy.limited
    assert (np.abs(fed.efforts - drive) <= MODEL.limits * (1.0 + 1e-12)).all()


def test_braking_needs_few_points():
    fed = with_efforts(SPARSE, MODEL, shortest=0.05)
    assert np.diff(fed.times).min() >= 0.05
    assert len(fed.times) < 60


def test_the_front_door_takes_names_and_any_order_of_joints():
    other = SPARSE.reordered(ROBOT.joint_names[::-1])
    fed = ri.with_efforts("tx40", "tx40_simulated", other)
    assert fed == with_efforts(SPARSE, MODEL)
    with pytest.raises(TrajectoryError, match="name each of them once"):
        ri.with_efforts("scara", "scara", SPARSE)


def test_a_controller_with_a_model_of_its_own_is_refused():
    gains = {"kp": (900.0,) * 6, "kd": (60.0,) * 6}
    robot = replace(ROBOT, controller=Controller("computed_torque", 1000.0, gains))
    with pytest.raises(SettingError, match="feed-forward would be twice"):
        ri.with_efforts(robot, VALUES, SPARSE)


def test_files_of_trajectories_keep_efforts(tmp_path):
    fed = with_efforts(SPARSE, MODEL, shortest=0.05)
    write_trajectory(tmp_path / "fed.yaml", fed)
    assert read_trajectory(tmp_path / "fed.yaml") == fed
