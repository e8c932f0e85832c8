import numpy as np
import pytest

from robot_identification.errors import MissingLimitError, SettingError
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    condition_number,
    random_points,
)
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.model import RobotModel
from robot_identification.share import share_directory

QUICK = RandomPointsSettings(points=6, draws=3, seed=5)


def assert_inside(robot, trajectory, share=1.0):
    """Check limits on the interpolated curve, and rest at both ends."""
    times = np.arange(trajectory.times[0], trajectory.times[-1], 5e-4)
    position, velocity, acceleration = trajectory.sample(times)
    for j, joint in enumerate(robot.joints):
        limits = joint.limits
        assert position[:, j].min() >= limits.lower
        assert position[:, j].max() <= limits.upper
        assert np.abs(velocity[:, j]).max() <= share * limits.velocity * (1 + 1e-9)
        assert np.abs(acceleration[:, j]).max() <= share * limits.acceleration * (1 + 1e-9)
    np.testing.assert_array_equal(trajectory.velocities[[0, -1]], 0.0)
    np.testing.assert_array_equal(trajectory.accelerations[[0, -1]], 0.0)


def test_the_motion_keeps_its_share_of_the_limits():
    robot = load_robot("tx40")
    assert_inside(robot, random_points(robot, QUICK).trajectory, share=QUICK.speed)


def test_same_seed_same_trajectory_and_the_best_draw_is_kept():
    robot = load_robot("three_dof")
    first, second = random_points(robot, QUICK), random_points(robot, QUICK)
    np.testing.assert_array_equal(first.trajectory.positions, second.trajectory.positions)
    assert first.condition_number == min(first.condition_numbers)
    assert len(set(first.condition_numbers)) == QUICK.draws


def test_the_first_point_can_be_given():
    robot = load_robot("tx40")
    start = np.full(6, 0.1)
    trajectory = random_points(robot, QUICK, start).trajectory
    np.testing.assert_array_equal(trajectory.positions[0], start)


def test_a_missing_limit_is_refused_by_name():
    joint = Joint("hinge", "arm", JointType.REVOLUTE, -1, np.eye(3), np.zeros(3))
    with pytest.raises(MissingLimitError, match="hinge"):
        random_points(RobotModel("pendulum", "base", (joint,), [0.0, 0.0, -9.81]), QUICK)


@pytest.mark.parametrize(
    "wrong", [{"points": 1}, {"draws": 0}, {"speed": 1.5}, {"reach": 0.0}, {"through": 1.0}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(SettingError):
        RandomPointsSettings(**wrong)


def test_the_shipped_trajectory_of_the_tx40_is_what_its_file_says():
    robot = load_robot("tx40")
    trajectory = read_trajectory(share_directory() / "config" / "trajectories" / "tx40.yaml")
    assert_inside(robot, trajectory, share=0.7)
    np.testing.assert_array_equal(trajectory.positions[0], 0.0)
    assert 20.0 < trajectory.duration < 30.0
    assert condition_number(base_parameters(robot), trajectory, 50.0) < 90.0
