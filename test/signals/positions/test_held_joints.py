"""Joints that a robot file holds fixed, and where they stand in truth."""

import math

import numpy as np
import pytest

from robot_identification.signals.positions.held_joints import HeldJoints


@pytest.fixture
def held():
    return HeldJoints({"finger": 0.0, "lift": 0.2, "turn": 1.0})


def test_joints_that_stand_where_they_are_held_are_no_matter(held):
    assert held.lines() == []
    held.add("finger", 0.009)
    held.add("lift", 0.195, 0.2, 0.205)
    held.add("turn", 1.0 - 2.0 * math.pi)
    assert held.lines() == []


def test_a_joint_that_stands_elsewhere_is_told_with_what_the_robot_file_is_to_say(held):
    held.add("finger", 0.04)
    held.add("lift", 0.2, 0.2)
    (line,) = held.lines()
    assert "finger stands at 0.04" in line
    assert "holds it at 0;" in line
    assert "fixed_joints: {finger: 0.04}" in line


def test_a_joint_that_moves_meanwhile_is_told(held):
    for position in np.linspace(0.0, 0.04, 5):
        held.add("finger", position)
    (line,) = held.lines()
    assert "finger moved from 0 to 0.04" in line
    held.forget()
    held.add("finger", 0.0)
    assert held.lines() == []


@pytest.mark.parametrize("expected", [math.pi, -math.pi])
def test_a_joint_that_stands_where_its_driver_wraps_positions_stands_still(expected):
    wrapped = math.pi * np.array([1.0, -1.0, 1.0]) - [0.0, -1e-4, 1e-4]
    one_by_one, at_once = HeldJoints({"turn": expected}), HeldJoints({"turn": expected})
    for position in wrapped:
        one_by_one.add("turn", position)
    at_once.add_samples("turn", np.append(wrapped, math.nan))
    assert one_by_one.lines() == at_once.lines() == []


def test_a_joint_that_turns_nearly_once_around_has_moved():
    way = np.linspace(-3.1, 3.1, 50)
    one_by_one, at_once = HeldJoints({"turn": 0.0}), HeldJoints({"turn": 0.0})
    for position in way:
        one_by_one.add("turn", position)
    at_once.add_samples("turn", way)
    for held in (one_by_one, at_once):
        (line,) = held.lines()
        assert "turn moved" in line
    held.forget()
    held.add_samples("turn", np.full(3, np.nan))
    assert held.lines() == []


def test_what_is_not_a_number_says_nothing(held):
    held.add("finger", math.nan)
    held.add("finger")
    held.add("lift", math.inf, 0.2, math.nan)
    assert held.lines() == []
