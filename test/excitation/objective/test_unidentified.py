"""Parameters that a trajectory does not tell are named, with the reason."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.dynamics.regressor import Regressor
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    condition_number,
    random_points,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.unidentified import unidentified
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings, default_model
from robot_identification.excitation.search.points import PointSettings
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot

ROBOT = load_robot("tx40")
BASE = base_parameters(ROBOT)
UNAFFECTING = [BASE.standard_names[i] for i in BASE.unaffecting]


@pytest.fixture(scope="module")
def motion():
    return random_points(ROBOT, RandomPointsSettings(points=20, draws=3)).trajectory


def reasons(base, trajectory):
    return {one.name: one.reason for one in unidentified(base, trajectory)}


def held(trajectory, joint, share=0.0):
    """Return the trajectory with the motion of a joint made smaller around its start."""
    positions = trajectory.positions.copy()
    positions[:, joint] = positions[0, joint] + share * (positions[:, joint] - positions[0, joint])
    velocities, accelerations = trajectory.velocities.copy(), trajectory.accelerations.copy()
    velocities[:, joint] *= share
    accelerations[:, joint] *= share
    return Trajectory(
        trajectory.joint_names, trajectory.times, positions, velocities, accelerations
    )


def test_a_good_motion_misses_only_what_no_motion_tells(motion):
    found = reasons(BASE, motion)
    assert list(found) == UNAFFECTING
    assert all("whatever the motion" in reason for reason in found.values())


def test_the_drive_of_a_joint_at_rest_is_not_told(motion):
    joint = 2
    found = reasons(BASE, held(motion, joint))
    names = [n for n in BASE.names if n.startswith(("Ia3", "Fv3", "Fc3"))]
    assert names
    for name in names:
        assert "largest one's" in found[name]
        assert "joint_3 moves by 0 rad only" in found[name]
        assert "its limits allow" in found[name]
    assert not [n for n in found if n.startswith(("Fv1", "Fc1", "Fv4"))]


def test_small_motion_blurs_parameters_that_are_alike(motion):
    # Only one joint moves, and little: gravity and offset of its link look the same.
    still = motion
    for joint in (0, 2, 3, 4, 5):
        still = held(still, joint)
    found = reasons(BASE, held(still, 1, 0.005))
    told_apart = [
        reason for reason in found.values() if "hardly be distinguished from that of" in reason
    ]
    assert told_apart
    assert any("joint_2 moves by" in reason for reason in told_apart)
    assert len(found) > len(UNAFFECTING) + 20


@pytest.mark.parametrize(
    ("travel", "reason"), [(1e-4, "joint_1 moves by 0.0001"), (0, "no effort")]
)
def test_motions_that_are_over_at_once_tell_what_they_do_not_tell(travel, reason):
    base = base_parameters(load_robot("scara"))
    still = np.zeros((3, 2))
    there = np.array([[0.0, 0.0], [travel, travel], [0.0, 0.0]])
    motion = Trajectory(base.robot.joint_names, np.array([0, 0.005, 0.01]), there, still, still)
    found = reasons(base, motion)
    assert any(reason in one for one in found.values())
    assert set(base.names) & set(found)
    assert condition_number(base, motion, 50.0) > 1e3


def test_what_is_not_reported_is_well_conditioned(motion):
    trajectory = held(motion, 0)
    found = reasons(BASE, trajectory)
    told = [i for i, name in enumerate(BASE.names) if name not in found]
    time = np.arange(0.0, trajectory.duration, 0.02)
    W = Regressor(ROBOT, BASE.base_columns[told]).dense(*trajectory.sample(time))
    W = W.reshape(-1, len(told))
    assert np.linalg.cond(W / np.linalg.norm(W, axis=0)) < 1e4


def test_a_plan_says_what_narrow_limits_cost():
    robot = load_robot("three_dof")
    joints = list(robot.joints)
    narrow = replace(joints[1].limits, lower=-1e-6, upper=1e-6)
    joints[1] = replace(joints[1], limits=narrow)
    settings = PlanSettings(model="dynamic", points=PointSettings(starts=1), duration=8.0, rows=5)
    found = plan(replace(robot, joints=tuple(joints)), settings).unidentified
    why = {one.name: one.reason for one in found}
    assert "joint_2 moves by" in why["ZZ2R"]
    assert "allow 2e-06 rad" in why["ZZ2R"]


@pytest.mark.parametrize(("name", "model"), [("three_dof", "energy"), ("tx40", "dynamic")])
def test_robots_with_friction_are_planned_with_the_dynamic_model(name, model):
    assert default_model(load_robot(name)) == model
