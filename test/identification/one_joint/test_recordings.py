"""Recordings of a simulated robot that moves one joint at a time, with noise and stiction."""

from functools import cache

import numpy as np
import pytest

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.errors import NotExcitedError, SettingError
from robot_identification.excitation.one_joint.plan import plan_one_joint
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.identify import identify
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.signals.recording import Recording, Segment

pytestmark = pytest.mark.usefixtures("undiagnosed")

POSITION_NOISE, EFFORT_NOISE = 1e-5, 0.01


def recorded(robot, values, trajectory, seed=0):
    """Return what sensors say while the declared controller follows a trajectory."""
    loop = ClosedLoop(robot, values)
    run = loop.run(trajectory.reference, trajectory.duration)
    rng = np.random.default_rng(seed)
    position = run.position + POSITION_NOISE * rng.normal(size=run.position.shape)
    level = EFFORT_NOISE * np.sqrt(np.mean(run.effort**2, axis=0))
    effort = run.effort + level * rng.normal(size=run.effort.shape)
    segment = Segment(np.array(run.time), position, None, effort)
    return Recording(robot.joint_names, loop.sample_period, (segment,))


@cache
def simulated(name):
    robot, values = load_robot(name), load_values(name, load_robot(name))
    base = base_parameters(robot)
    plan = plan_one_joint(robot)
    return robot, base.values(values[base.columns]), recorded(robot, values, plan.trajectory)


@pytest.mark.parametrize("name", ["scara", "three_dof"])
def test_base_parameters_come_back_with_honest_deviations(name):
    robot, truth, recording = simulated(name)
    result = identify(robot, [recording], method="one-joint")
    assert result.method == "one-joint"
    error = result.estimate.values - truth
    assert np.linalg.norm(error) < 0.02 * np.linalg.norm(truth)
    for std in (result.estimate.std, result.estimate.std_robust):
        assert (std > 0.0).all()
    assert np.mean(np.abs(error) < 3.0 * result.estimate.std_robust) > 0.8
    assert result.estimate.relative_error.total < 0.03


def test_rows_of_joints_that_hold_are_kept_where_nothing_rubs():
    robot, _, recording = simulated("three_dof")
    result = identify(robot, [recording], method="one-joint")
    threshold = result.settings["velocity_threshold"]
    assert threshold["value"] == [0.0, 0.0, 0.0]
    assert "while they hold" in threshold["reason"]
    rubbing, _, moved = simulated("scara")
    kept = identify(rubbing, [moved], method="one-joint").settings["velocity_threshold"]
    assert min(kept["value"]) > 0.0


def test_a_motion_that_leaves_a_joint_alone_is_refused_by_name():
    robot = load_robot("puma560")
    plan = plan_one_joint(robot, OneJointSettings(locked=("joint_5",)))
    times = np.arange(0.0, plan.trajectory.duration, 2e-3)
    motion = plan.trajectory.sample(times)
    effort = inverse_dynamics(robot, load_values("puma560", robot), *motion)
    segment = Segment(times, np.array(motion[0]), None, np.array(effort))
    recording = Recording(robot.joint_names, 2e-3, (segment,))
    with pytest.raises(NotExcitedError) as refusal:
        identify(robot, [recording], method="one-joint")
    assert "Ia5" in refusal.value.parameters
    assert "does not determine the parameters of joint_5 (" in str(refusal.value)
    assert all(name[-1] == "5" for name in refusal.value.parameters)


def test_elimination_is_for_stacked_systems():
    robot, _, recording = simulated("three_dof")
    with pytest.raises(SettingError, match="essential"):
        identify(robot, [recording], method="one-joint", essential=EliminationRule())
