"""Passive joints follow active ones, and only what fits is taken."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.loops import (
    LoopConstraint,
    linear_constraint,
    loop_matrix,
    loop_offset,
    project,
    refuse_loops,
)


@pytest.fixture(scope="module")
def parallelogram():
    return linear_constraint(load_robot("hitachi_hpr", closed_loops=True))


def test_relations_of_a_robot_file(parallelogram):
    assert parallelogram.passive_names == ("joint_2", "joint_5")
    assert parallelogram.active_names == ("joint_1", "joint_3", "joint_4", "joint_6", "joint_7")
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 4, 5))
    motion = parallelogram.motion(q, qd, qdd)
    np.testing.assert_array_equal(motion.q[:, [0, 2, 3, 5, 6]], q)
    np.testing.assert_allclose(motion.q[:, 1], q[:, 1] - q[:, 2])
    np.testing.assert_allclose(motion.q[:, 4], 3 * np.pi - q[:, 2])
    np.testing.assert_allclose(motion.qd[:, 1], qd[:, 1] - qd[:, 2])
    np.testing.assert_allclose(motion.qdd[:, 4], -qdd[:, 2])
    np.testing.assert_array_equal(motion.jacobian[:, [0, 2, 3, 5, 6]], [np.eye(5)] * 4)


def test_a_robot_without_loops_moves_as_told():
    robot = load_robot("scara")
    constraint = linear_constraint(robot)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 4, 2))
    motion = constraint.motion(q, qd, qdd)
    for given, found in zip((q, qd, qdd), motion[:3], strict=True):
        np.testing.assert_array_equal(given, found)


def test_projected_efforts_do_the_same_work(parallelogram):
    rng = np.random.default_rng(1)
    motion = parallelogram.motion(*rng.normal(size=(2, 6, 5)))
    efforts = rng.normal(size=(6, 7))
    projected = project(efforts, motion.jacobian)
    active = motion.qd[:, parallelogram.active]
    np.testing.assert_allclose((projected * active).sum(1), (efforts * motion.qd).sum(1))
    rows = np.stack([efforts, 2 * efforts], axis=2)
    np.testing.assert_allclose(project(rows, motion.jacobian)[:, :, 1], 2 * projected)


def constraint_of(**changes):
    given = {
        "joint_names": ("a", "b", "c"),
        "passive_names": ("c",),
        "position": lambda q: np.sin(q[:, :1]),
        "jacobian": lambda q: np.stack([np.cos(q[:, :1]), 0 * q[:, :1]], axis=2),
        "jacobian_rate": lambda q, qd: np.stack(
            [-np.sin(q[:, :1]) * qd[:, :1], 0 * q[:, :1]], axis=2
        ),
    }
    return LoopConstraint(**(given | changes))


def test_accelerations_contain_the_rate_of_the_jacobian():
    constraint = constraint_of()
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, 5, 2))
    step = 1e-4
    ahead, here, behind = (
        constraint.motion(q + t * qd + t**2 / 2 * qdd, qd).q for t in (step, 0.0, -step)
    )
    difference = (ahead - 2 * here + behind) / step**2
    np.testing.assert_allclose(constraint.motion(q, qd, qdd).qdd, difference, atol=1e-6)


def test_the_rate_is_needed_only_for_accelerations_at_speed():
    constraint = constraint_of(jacobian_rate=None)
    q, qd, qdd = np.ones((3, 5, 2))
    constraint.motion(q, qd)
    constraint.motion(q, 0 * qd, qdd)
    with pytest.raises(SettingError, match="jacobian_rate"):
        constraint.motion(q, qd, qdd)


@pytest.mark.parametrize("names", [("d",), ("c", "c"), ("a", "b", "c")])
def test_passive_joints_must_be_some_of_the_joints(names):
    with pytest.raises(SettingError, match="passive_names"):
        constraint_of(passive_names=names)


def test_wrong_shapes_are_named():
    with pytest.raises(ShapeError, match="qd has shape"):
        constraint_of().motion(np.zeros((5, 2)), np.zeros((5, 3)))
    with pytest.raises(ShapeError, match="position has shape"):
        constraint_of(position=lambda q: q).motion(np.zeros((5, 2)), np.zeros((5, 2)))


def test_a_motor_that_moves_with_a_follower_moves_with_those_that_it_follows():
    robot = load_robot("hitachi_hpr", closed_loops=True)
    joints = list(robot.joints)
    joints[2] = replace(joints[2], transmission={"joint_3": 50.0, "joint_2": 10.0})
    robot = replace(robot, joints=tuple(joints))
    expected = np.eye(5)
    expected[1] = [0.0, 60.0, -10.0, 0.0, 0.0]  # q2 = q3 - q4
    np.testing.assert_array_equal(robot.motor_matrix, expected)


def test_relations_as_matrices_move_the_tree_as_the_constraint_does(parallelogram):
    robot = load_robot("hitachi_hpr", closed_loops=True)
    q = np.random.default_rng(0).normal(size=(5, 5))
    moved = parallelogram.motion(q, q).q
    np.testing.assert_allclose(q @ loop_matrix(robot).T + loop_offset(robot), moved, rtol=1e-14)


def test_what_does_not_know_loops_names_the_joint_and_the_page():
    robot = load_robot("hitachi_hpr", closed_loops=True)
    with pytest.raises(SettingError, match=r"joint_2.*the search.*docs/loops.md"):
        refuse_loops(robot, "the search")
    refuse_loops(replace(robot, loops=()), "the search")
