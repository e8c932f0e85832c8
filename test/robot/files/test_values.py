"""Values of standard parameters come in the order of the model, or not at all."""

import numpy as np
import pytest

from robot_identification.errors import RobotDescriptionError, UnknownRobotError
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import (
    known_values,
    load_effort_prior,
    load_given,
    load_values,
)

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
        (
            "parameters:\n  Fs1: 1\nfriction: {joint_1: {Fs: [0.1, 1]}}\n",
            2,
            "parameters.Fs1",
            "belongs to the friction law of this file",
        ),
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


ARM = """\
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="2"/><origin xyz="0.1 0 0"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <joint name="shoulder" type="continuous">
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/><dynamics damping="0.7"/>
  </joint>
</robot>
"""


def test_a_urdf_gives_what_is_not_named(write):
    path = write(ARM, "arm.urdf")
    robot = load_robot(path)
    stated = dict(zip(robot.all_parameter_names, load_values(path, robot), strict=True))
    assert (stated["M1"], stated["MX1"], stated["Fv1"], stated["Ia1"]) == (2.0, 0.2, 0.7, 0.0)
    beside = write("urdf: arm.urdf\nparameters: {Ia1: 0.3, Fv1: 0.9, M1: 2.5}\n", "more.yaml")
    values, given = load_given(beside, robot)
    assert values[robot.all_parameter_names.index("ZZ1")] == pytest.approx(0.12)
    changed = {
        name: value
        for name, value in zip(robot.all_parameter_names, values, strict=True)
        if value != stated[name]
    }
    assert changed == {"Ia1": 0.3, "Fv1": 0.9, "M1": 2.5}
    unknown = {n for n, known in zip(robot.all_parameter_names, given, strict=True) if not known}
    assert unknown == {"Fc1", "off1"}
    with pytest.raises(RobotDescriptionError, match="no value for Fc1, off1"):
        load_values(beside, robot, complete=True)


def test_a_urdf_gives_no_value_to_terms_that_the_robot_leaves_out(write):
    write(ARM, "arm.urdf")
    robot = load_robot(
        write(
            "name: arm\neffort_meaning: joint_torque\nurdf: arm.urdf\n"
            "joint_defaults: {viscous_friction: false}\n"
        )
    )
    values = load_values(write(ARM, "arm.urdf"), robot)
    assert values[robot.all_parameter_names.index("Fv1")] == 0.0
    assert values[robot.all_parameter_names.index("M1")] == 2.0


def test_what_efforts_are_checked_without_is_told(write):
    robot = load_robot(write(ARM, "arm.urdf"))
    prior = write("urdf: arm.urdf\nparameters: {Ia1: 0.3, Fc1: 0.9}\n", "more.yaml")
    values, remarks = load_effort_prior(prior, robot)
    assert remarks == (
        "efforts are checked without what the prior does not state: offset of every joint",
    )
    np.testing.assert_array_equal(values, load_values(prior, robot))
    (told,) = load_effort_prior(write("parameters: {M2: 3, Fv2: 0}\n"), ROBOT)[1]
    assert "bodies of link_1; " in told
    assert "drive inertia of joint_1; viscous friction of joint_1; " in told
    assert load_effort_prior("tx40_simulated", load_robot("tx40"))[1] == ()


@pytest.mark.parametrize("prior", ["robot.urdf", "drives.yaml"])
def test_a_prior_without_any_body_is_none_of_efforts(write, prior):
    start, end = ARM.index("<inertial>"), ARM.index("</link>")
    robot = load_robot(write(ARM[:start] + ARM[end:], "robot.urdf"))
    write("parameters: {Ia1: 0.3}\n", "drives.yaml")
    path = robot.file.parent / prior
    with pytest.raises(RobotDescriptionError, match="no mass, centre of mass or inertia of any"):
        load_effort_prior(path, robot)
