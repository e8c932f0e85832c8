"""Values of standard parameters come in the order of the model, or not at all."""

import numpy as np
import pytest

from robot_identification.errors import RobotDescriptionError, UnknownRobotError
from robot_identification.robot.loading import load_robot
from robot_identification.robot.values import known_values, load_values

ROBOT = load_robot("scara")


def refused(path, **options):
    with pytest.raises(RobotDescriptionError) as caught:
        load_values(path, ROBOT, **options)
    return caught.value


def test_values_come_in_the_order_of_the_model(write):
    values = load_values(write("parameters:\n  MX2: 0.2\n  ZZ1: 3\n"), ROBOT)
    assert values.shape == (28,)
    assert not values.flags.writeable
    given = {ROBOT.all_parameter_names[i]: values[i] for i in np.flatnonzero(values)}
    assert given == {"ZZ1": 3, "MX2": 0.2}


def test_what_is_missing_is_zero_or_refused(write):
    path = write("parameters:\n  ZZ1: 3\n")
    assert load_values(path, ROBOT).sum() == 3
    assert "no value for XX1, XY1" in refused(path, complete=True).problem


@pytest.mark.parametrize(
    ("text", "line", "field", "words"),
    [
        ("parameters:\n  ZZ3: 1\n", 2, "parameters.ZZ3", "did you mean ZZ"),
        ("parameters:\n  ZZ1: 1\n  ZZ1: 2\n", 3, "parameters.ZZ1", "stands here again"),
        ("parameters:\n  ZZ1: .nan\n", 2, "parameters.ZZ1", "not a finite number"),
        ("parameters:\n  ZZ1: one\n", 2, "parameters.ZZ1", "is not a number"),
        ("parameters:\n  Ia2: 1\n", 2, "parameters.Ia2", "leaves Ia2 out"),
        ("robot: ur10\nparameters: {}\n", 1, "robot", "values of ur10"),
        ("parametres: {}\n", 1, "parametres", "did you mean parameters"),
        ("robot: scara\n", 1, "", "parameters is missing"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(write, text, line, field, words):
    error = refused(write(text))
    assert words in error.problem
    assert (error.line, error.field) == (line, field)


def test_an_unknown_file_names_those_that_are_known():
    with pytest.raises(UnknownRobotError, match="tx40_simulated"):
        load_values("tx41", ROBOT)
    assert "tx40_simulated" in known_values()
