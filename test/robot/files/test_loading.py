"""A robot is found by file or by name, whatever the form of its description."""

import pytest

from robot_identification.errors import RobotDescriptionError, SettingError, UnknownRobotError
from robot_identification.robot.files.loading import (
    FORMATS,
    known_robots,
    load_robot,
    with_joint_limits,
)
from robot_identification.robot.model import EffortMeaning

SLIDE = """\
name: slide
effort_meaning: current
joints: [{name: a, type: prismatic, geometry: {}}]
"""


def test_a_robot_of_the_package_is_known_by_name():
    assert load_robot("tx40").name == "tx40"
    assert set(known_robots()) >= {"emps", "puma560", "scara", "stanford", "three_dof", "ur10"}


def test_a_folder_of_the_same_name_does_not_hide_it(tmp_path, monkeypatch):
    (tmp_path / "emps").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_robot("emps").name == "emps"


def test_a_file_is_loaded_by_its_path(write):
    assert load_robot(write(SLIDE)).joint_names == ("a",)
    assert load_robot(str(write(SLIDE, "robot.YML"))).joint_names == ("a",)


def test_an_unknown_robot_names_those_that_are_known():
    with pytest.raises(UnknownRobotError, match="tx40") as caught:
        load_robot("tx41")
    assert caught.value.name == "tx41"


def test_a_file_of_another_kind_is_refused(write):
    with pytest.raises(RobotDescriptionError, match="YAML file"):
        load_robot(write(SLIDE, "robot.json"))


def test_the_caller_may_say_what_effort_means(write):
    path = write(SLIDE)
    assert load_robot(path).effort_meaning is EffortMeaning.CURRENT
    robot = load_robot(path, effort_meaning="joint_torque")
    assert robot.effort_meaning is EffortMeaning.JOINT_TORQUE
    with pytest.raises(SettingError, match="motor_torque"):
        load_robot(path, effort_meaning="torque")


def test_closed_loops_are_refused_unless_the_caller_knows_them(write):
    path = write(
        SLIDE.replace("]\n", ", {name: b, type: prismatic, geometry: {}}]\n")
        + "loops: [{joint: b, equals: {a: 1}}]\n"
    )
    with pytest.raises(RobotDescriptionError, match="loops"):
        load_robot(path)
    assert len(load_robot(path, closed_loops=True).loops) == 1


@pytest.mark.parametrize("content", [b"", b"nothing that describes a robot", b"\x00\xff\x80"])
@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_that_describes_no_robot_is_refused_by_its_name(tmp_path, ending, content):
    path = tmp_path / f"arm{ending}"
    path.write_bytes(content)
    with pytest.raises(RobotDescriptionError, match=f"arm{ending}"):
        load_robot(path)


@pytest.mark.parametrize(
    ("entry", "field", "words"),
    [
        ("has_acceleration_limits: no, max_acceleration: 50", "has_acceleration_limits", "true or"),
        ("has_position_limits: 'false', min_position: -9, max_position: 9", "has_position", "true"),
        ("max_position: 0.5", "min_position", "a number is missing"),
    ],
)
def test_a_table_of_limits_says_in_full_whether_a_joint_has_them(write, entry, field, words):
    robot = load_robot(write(SLIDE))
    table = write(f"joint_limits:\n  a: {{{entry}}}\n", "joint_limits.yaml")
    with pytest.raises(RobotDescriptionError, match=words) as caught:
        with_joint_limits(robot, table)
    assert caught.value.field.startswith(f"joint_limits.a.{field}")
    assert caught.value.line == 2


@pytest.mark.parametrize("key", ["max_velocty", "velocity", "has_velocity_limit", "max_vel"])
def test_a_misspelt_key_of_a_table_of_limits_is_refused(write, key):
    table = write(f"joint_limits:\n  a: {{max_acceleration: 2, {key}: 0.1}}\n", "limits.yaml")
    with pytest.raises(RobotDescriptionError, match=rf"a\.{key}: unknown key; did you mean"):
        with_joint_limits(load_robot(write(SLIDE)), table)


def test_keys_of_a_table_of_limits_that_others_read_are_passed_over(write):
    entry = "max_velocity: 2, has_deceleration_limits: true, max_deceleration: -1, weight: 3"
    table = write(f"joint_limits: {{a: {{{entry}}}}}\n", "joint_limits.yaml")
    assert with_joint_limits(load_robot(write(SLIDE)), table).joints[0].limits.velocity == 2.0


def test_ranges_of_a_table_of_limits_that_are_many_turns_are_told(write):
    robot = load_robot("scara")
    first, second = robot.joint_names
    entry = "{{has_position_limits: true, min_position: -{0}, max_position: {0}}}"
    text = f"joint_limits:\n  {first}: {entry}\n  {second}: {entry}\n"
    table = write(text.format(2.0), "joint_limits.yaml")
    assert with_joint_limits(robot, table).warnings == robot.warnings
    table = write(text.format(170.0), "joint_limits.yaml")
    limited = with_joint_limits(robot, table)
    told = limited.warnings[len(robot.warnings) :]
    assert len(told) == 4
    assert told[0].startswith(f"{table}: limits: lower of {first} is -170 rad, 27 turns; in deg")
    assert with_joint_limits(limited, table).warnings == limited.warnings


def test_limits_that_a_table_says_a_joint_has_not_are_passed_over(write):
    robot = load_robot(write(SLIDE))
    entry = "has_velocity_limits: true, max_velocity: 2, has_jerk_limits: false, max_jerk: 50"
    table = write(f"joint_limits: {{a: {{{entry}}}}}\n", "joint_limits.yaml")
    limits = with_joint_limits(robot, table).joints[0].limits
    assert (limits.velocity, limits.jerk, limits.lower) == (2.0, None, None)
