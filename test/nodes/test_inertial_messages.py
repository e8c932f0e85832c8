"""Parameters on their way into a message and out of it."""

from dataclasses import replace

import numpy as np
import pytest

from random_robots import random_values
from robot_identification.errors import (
    InconsistentParametersError,
    ResultMismatchError,
    SampleError,
    ShapeError,
)
from robot_identification.nodes.inertial_messages import parameters_message, values_of_message
from robot_identification.robot.bodies import body_of
from robot_identification.robot.loading import load_robot

ROBOT = load_robot("tx40")
VALUES = random_values(np.random.default_rng(0), ROBOT)


def message():
    return parameters_message(ROBOT, VALUES, stamp=5_000_000_007)


def test_what_goes_in_comes_out():
    np.testing.assert_array_equal(values_of_message(message(), ROBOT), VALUES)


def test_links_units_and_gravity_are_stated():
    made = message()
    assert (made.header.stamp.sec, made.header.stamp.nanosec) == (5, 7)
    assert made.header.frame_id == "base"
    assert made.gravity.z == -9.81
    assert [link.joint for link in made.links] == list(ROBOT.joint_names)
    for j, link in enumerate(made.links):
        own = VALUES[14 * j : 14 * j + 14]
        body = body_of(own[:10])
        assert link.inertia.m == own[9]
        com = link.inertia.com
        np.testing.assert_array_equal([com.x, com.y, com.z], body.centre)
        assert link.inertia.iyz == body.inertia[1, 2]
        found = [
            link.drive_inertia,
            link.viscous_friction,
            link.coulomb_friction,
            link.offset,
        ]
        assert found == list(own[10:])
    assert made.units[made.names.index("Fcm6")] == "N m"
    assert made.consistent


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("robot", "ur10", "these are parameters of ur10"),
        ("robot", "", "these are parameters of nobody"),
        ("robot_hash", "0" * 64, "another description"),
        ("names", ["XX1"], "the names or the order"),
    ],
)
def test_parameters_of_another_robot_are_refused(field, value, words):
    made = message()
    setattr(made, field, value)
    with pytest.raises(ResultMismatchError, match=words):
        values_of_message(made, ROBOT)


def test_numbers_of_no_use_are_refused():
    made = message()
    made.values[3] = float("nan")
    with pytest.raises(SampleError, match="YY1"):
        values_of_message(made, ROBOT)
    made.values.pop()
    with pytest.raises(ShapeError):
        values_of_message(made, ROBOT)


def test_a_description_without_a_hash_is_known_by_name():
    anonymous = replace(ROBOT, digest="")
    assert values_of_message(message(), anonymous)[9] == VALUES[9]


def test_no_message_holds_what_cannot_exist():
    wrong = VALUES.copy()
    wrong[9] = -1.0
    with pytest.raises(InconsistentParametersError):
        parameters_message(ROBOT, wrong, stamp=0)
