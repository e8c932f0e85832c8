"""Measured joints that follow others are held against the relations of their loops."""

import numpy as np
import pytest

from looped_robots import gripper, hitachi, tree_motion, waves
from robot_identification.errors import LoopMismatchError
from robot_identification.signals.positions.followers import follower_warning


def measured(robot, name):
    _, q, qd, qdd = waves(robot, 5.0)
    return q, tree_motion(robot, q, qd, qdd)[0][:, robot.joint_names.index(name)]


def test_a_follower_that_follows_says_nothing():
    robot = hitachi()
    active, own = measured(robot, "joint_2")
    noise = np.random.default_rng(0).normal(scale=1e-3, size=own.shape)
    assert follower_warning(robot, "joint_2", active, own + noise) is None


def test_of_a_follower_with_stamps_of_its_own_nothing_can_be_said():
    assert follower_warning(hitachi(), "joint_2", np.zeros((0, 5)), []) is None


def test_a_follower_off_by_some_degrees_is_told():
    robot = hitachi()
    active, own = measured(robot, "joint_2")
    assert "joint_2 is off the relation" in follower_warning(robot, "joint_2", active, own + 0.05)


@pytest.mark.parametrize("wrong", [lambda q: -q, lambda q: q + np.pi / 2, np.rad2deg])
def test_a_wrong_sign_offset_or_unit_is_refused(wrong):
    robot = hitachi()
    active, own = measured(robot, "joint_2")
    with pytest.raises(LoopMismatchError, match="mend equals or offset") as caught:
        follower_warning(robot, "joint_2", active, wrong(own), "bag")
    assert caught.value.joint == "joint_2"
    assert caught.value.source == "bag"


def test_a_finger_is_judged_by_its_stroke():
    robot = gripper()
    active, own = measured(robot, "joint_3")
    stroke = np.ptp(own)
    assert follower_warning(robot, "joint_3", active, own + 0.005 * stroke) is None
    with pytest.raises(LoopMismatchError):
        follower_warning(robot, "joint_3", active, own + 0.2 * stroke)


def test_the_noise_of_a_finger_that_stands_is_no_mismatch():
    """As of a gripper that stays closed while the arm moves."""
    robot = gripper()
    _, own = measured(robot, "joint_3")
    active = np.tile(measured(robot, "joint_3")[0][:1], (len(own), 1))
    stands = own[0] + np.random.default_rng(0).normal(scale=1e-5, size=own.shape)
    assert follower_warning(robot, "joint_3", active, stands) is None
    with pytest.raises(LoopMismatchError):
        follower_warning(robot, "joint_3", active, stands + 0.002)


@pytest.mark.parametrize("filled", [0.0, np.nan])
def test_a_column_that_a_driver_fills_is_no_measurement(filled):
    robot = hitachi()
    active, own = measured(robot, "joint_2")
    assert "are computed" in follower_warning(robot, "joint_2", active, np.full_like(own, filled))
