"""The model along a reference, less what the drive adds there by itself."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import (
    InconsistentParametersError,
    MissingLimitError,
    SampleError,
    SettingError,
    ShapeError,
)
from robot_identification.files.parameters import with_law_of
from robot_identification.robot.experiment import Controller
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.joint import JointLimits


def states(joints):
    return 0.3 * np.random.default_rng(0).normal(size=(3, 20, joints))


def unlimited(robot):
    joints = tuple(replace(joint, limits=JointLimits(effort=1e12)) for joint in robot.joints)
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


@pytest.mark.parametrize("name", ["tx40", "scara", "ur10"])
@pytest.mark.parametrize("scale", [1.0, 1e9, 1e200])
@pytest.mark.parametrize("speed", [1.0, 1e9, 1e300])
def test_no_model_and_no_reference_makes_an_effort_beyond_bounds(name, scale, speed):
    """Whatever is sent is a number: the limit of the joint, and what the drive adds by itself."""
    robot = load_robot(name)
    values = scale * load_values(name if name == "scara" else f"{name}_simulated", robot)
    q, qd, qdd = states(len(robot.joints))
    bounds = [
        2.0 * j.limits.effort
        + np.abs(drive_of(robot, *np.diag([j.limits.velocity, j.limits.acceleration])[:, :1]))[i]
        for i, j in enumerate(robot.joints)
    ]
    model = FeedForward(robot, values)
    try:
        efforts = model.efforts(q, speed * qd, speed * qdd)
    except SampleError:  # one that would be no number
        return
    assert (np.abs(efforts) <= bounds).all()
    assert scale == speed == 1.0 or model.limited


def test_a_robot_without_effort_limits_is_refused_with_the_names_of_the_joints():
    robot = load_robot("scara")
    second = replace(robot.joints[1], limits=JointLimits(velocity=1.0))
    for joints, names in (
        ((robot.joints[0], second), "joint joint_2 has no effort limit"),
        (tuple(replace(j, limits=JointLimits()) for j in robot.joints), "joint_1, joint_2 have no"),
    ):
        with pytest.raises(MissingLimitError, match=names):
            FeedForward(replace(robot, joints=joints), np.zeros(28))


def test_a_model_that_could_not_hold_the_robot_where_it_stands_is_none_of_it():
    robot = load_robot("tx40")
    values = load_values("tx40_simulated", robot)
    FeedForward(robot, values).require_holding(np.zeros(6))
    with pytest.raises(InconsistentParametersError, match="to stand where the robot stands takes"):
        FeedForward(robot, 1e9 * values).require_holding(np.full(6, 0.5))
    huge = np.where(np.arange(len(values)) % 14 == 6, 1.7e308, values)  # MX of every link
    with pytest.raises(InconsistentParametersError, match="to stand where the robot stands takes"):
        FeedForward(robot, huge).require_holding(np.full(6, 0.5))


def test_a_drive_with_a_model_of_its_own_is_refused():
    gains = {"kp": (1.0, 1.0), "kd": (1.0, 1.0)}
    robot = replace(load_robot("scara"), controller=Controller("computed_torque", 100.0, gains))
    with pytest.raises(SettingError, match="a model of its own"):
        FeedForward(robot, np.zeros(28))


def test_wrong_values_are_refused():
    with pytest.raises(ShapeError):
        FeedForward(load_robot("scara"), np.zeros(3))


def test_friction_that_follows_the_load_follows_that_of_the_model_fed_forward():
    """Also where the robot carries no loads of its own: nobody but the caller knows them."""
    robot = unlimited(with_law_of("tx40_stribeck_load", load_robot("tx40")))
    values = load_values("tx40_stribeck_load", robot)
    unloaded = replace(robot, loads=None)
    q, qd, qdd = states(len(robot.joints))
    found = FeedForward(unloaded, values).efforts(q, qd, qdd) + drive_of(robot, qd, qdd)
    np.testing.assert_allclose(found, inverse_dynamics(robot, values, q, qd, qdd), atol=1e-12)
