"""Parameters on their way into a message and out of it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from robot_identification.errors import (
    InconsistentParametersError,
    MessageError,
    ResultMismatchError,
)
from robot_identification.files.parameters import with_law_of
from robot_identification.robot.bodies import body_of
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.messages.inertial import (
    parameters_message,
    robot_of_message,
    values_of_message,
)

ROBOT = load_robot("tx40")
VALUES = load_values("tx40_simulated", ROBOT)


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
        ("robot_hash", "", "without a hash"),
        ("names", ["XX1"], "the names or the order"),
    ],
)
def test_parameters_of_another_robot_are_refused(field, value, words):
    made = message()
    setattr(made, field, value)
    with pytest.raises(ResultMismatchError, match=words):
        values_of_message(made, ROBOT)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, -1e13])
def test_numbers_of_no_use_are_refused(value):
    made = message()
    made.values[3] = value
    with pytest.raises(MessageError, match="YY1 is"):
        values_of_message(made, ROBOT)


@pytest.mark.parametrize("name", ["values", "units", "std", "std_robust", "verdicts"])
def test_every_array_has_an_entry_for_every_parameter(name):
    made = message()
    getattr(made, name).pop()
    with pytest.raises(MessageError, match=f"85 {name} for 86 parameters"):
        values_of_message(made, ROBOT)


def test_other_units_are_refused():
    made = message()
    made.units[0] = "g mm^2"
    with pytest.raises(MessageError, match="other units"):
        values_of_message(made, ROBOT)


def test_parameters_that_are_not_called_consistent_are_refused():
    made = message()
    made.consistent = False
    with pytest.raises(InconsistentParametersError, match="not called consistent"):
        values_of_message(made, ROBOT)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("M2", -1.0, "M = -1"),
        ("M3", 0.0, "M = 0"),
        ("Ia4", -0.1, "drive inertia"),
        ("Fv1", -0.1, "joint_1: viscous friction -0.1 is negative"),
        ("Fc2", -0.1, "joint_2: Coulomb friction -0.1 is negative"),
        ("XX2", 1e9, "link"),
    ],
)
def test_what_cannot_exist_is_refused_whatever_a_message_says_of_it(name, value, words):
    """It is called consistent, and everything else about it is right."""
    made = message()
    made.values[ROBOT.all_parameter_names.index(name)] = value
    assert made.consistent
    with pytest.raises(InconsistentParametersError, match=words):
        values_of_message(made, ROBOT)


def test_a_message_says_of_itself_what_is_so():
    wrong = np.array(VALUES)
    wrong[ROBOT.all_parameter_names.index("Ia4")] = -0.1
    assert not parameters_message(ROBOT, wrong, stamp=0).consistent


def test_a_description_without_a_hash_is_known_by_name():
    anonymous = replace(ROBOT, digest="")
    assert values_of_message(message(), anonymous)[9] == VALUES[9]


def test_no_message_holds_what_cannot_exist():
    wrong = VALUES.copy()
    wrong[9] = -1.0
    with pytest.raises(InconsistentParametersError):
        parameters_message(ROBOT, wrong, stamp=0)


LAW = with_law_of("tx40_stribeck_load", ROBOT)
WITH_LAW = load_values("tx40_stribeck_load", LAW)


def test_a_friction_law_that_the_robot_file_does_not_state_comes_with_its_parameters():
    made = parameters_message(LAW, WITH_LAW, stamp=5)
    functions = dict(zip(made.terms, made.functions, strict=True))
    assert functions["Fs3"] == "sign(v) exp(-|v/vs|^delta)"
    assert functions["off3"] == "1"
    assert dict(zip(made.shape_names, made.shapes, strict=True))["Fs3.speed"] == 0.2
    robot = robot_of_message(made, ROBOT)
    assert robot == LAW
    np.testing.assert_array_equal(robot.loads, WITH_LAW)
    np.testing.assert_array_equal(values_of_message(made, robot), WITH_LAW)
    with pytest.raises(ResultMismatchError, match="the names or the order"):
        values_of_message(made, ROBOT)


def test_parameters_without_a_law_are_those_of_the_robot_file():
    made = message()
    assert made.terms[:5] == ["Ia1", "Fv1", "Fc1", "off1", "Ia2"]
    assert robot_of_message(made, ROBOT) == ROBOT
    made.terms = []  # as from a node that does not tell
    assert robot_of_message(made, ROBOT) is ROBOT


@pytest.mark.parametrize(
    ("field", "change", "words"),
    [
        ("terms", lambda terms: [*terms, "Fq1"], "'Fq1' is no term of a joint of tx40"),
        ("terms", lambda terms: [*terms, "Fs7"], "'Fs7' is no term"),
        ("shape_names", lambda names: ["Fs9.speed", *names[1:]], "Fs1.speed' is missing"),
        ("shape_names", lambda names: names[1:], "12 shapes for 11 names"),
        ("shapes", lambda shapes: [math.nan, *shapes[1:]], "Fs1 is nan"),
        ("shapes", lambda shapes: [-0.2, *shapes[1:]], "not positive"),
        ("terms", lambda terms: [t for t in terms if t != "Fs1"], "no term for the shape"),
    ],
)
def test_laws_of_no_use_are_refused(field, change, words):
    made = parameters_message(LAW, WITH_LAW, stamp=5)
    setattr(made, field, change(list(getattr(made, field))))
    with pytest.raises(MessageError, match=words):
        robot_of_message(made, ROBOT)
