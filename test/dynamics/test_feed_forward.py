"""The model along a reference, less what the drive adds there by itself."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.controller import Controller
from robot_identification.robot.loading import load_robot
from robot_identification.robot.model import JointLimits
from robot_identification.robot.values import load_values


def states(joints):
    return 0.3 * np.random.default_rng(0).normal(size=(3, 20, joints))


def unlimited(robot):
    joints = tuple(replace(joint, limits=JointLimits()) for joint in robot.joints)
    return replace(robot, joints=joints)


def drive_of(robot, qd, qdd):
    """Return what the drive adds on the reference itself, where its feedback has nothing to say."""
    gains = {key: np.array(gain) for key, gain in robot.controller.gains.items()}
    if robot.controller.law == "cascade":
        return -gains["kv"] * qd
    return gains["velocity_feedforward"] * qd + gains["acceleration_feedforward"] * qdd


@pytest.mark.parametrize("name", ["tx40", "scara"])
def test_drive_and_feed_forward_together_are_the_inverse_dynamics(name):
    robot = unlimited(load_robot(name))
    values = load_values("tx40_simulated" if name == "tx40" else name, robot)
    q, qd, qdd = states(len(robot.joints))
    found = FeedForward(robot, values).efforts(q, qd, qdd) + drive_of(robot, qd, qdd)
    np.testing.assert_allclose(found, inverse_dynamics(robot, values, q, qd, qdd), atol=1e-12)


@pytest.mark.parametrize("name", ["tx40", "scara"])
def test_drive_and_feed_forward_together_stay_within_the_limits(name):
    robot = load_robot(name)
    values = 100.0 * load_values("tx40_simulated" if name == "tx40" else name, robot)
    limits = np.array([joint.limits.effort for joint in robot.joints])
    q, qd, qdd = states(len(robot.joints))
    efforts = FeedForward(robot, values).efforts(q, qd, qdd) + drive_of(robot, qd, qdd)
    assert (np.abs(efforts) <= limits * (1.0 + 1e-12)).all()
    assert np.isclose(np.abs(efforts), limits).any()


def test_a_drive_with_a_model_of_its_own_is_refused():
    gains = {"kp": (1.0, 1.0), "kd": (1.0, 1.0)}
    robot = replace(load_robot("scara"), controller=Controller("computed_torque", 100.0, gains))
    with pytest.raises(SettingError, match="a model of its own"):
        FeedForward(robot, np.zeros(28))


def test_wrong_values_are_refused():
    with pytest.raises(ShapeError):
        FeedForward(load_robot("scara"), np.zeros(3))
