"""What is physically consistent passes, what is not is named."""

from dataclasses import replace

import numpy as np
import pytest

from random_robots import coupled_wrist, random_robot, random_values
from robot_identification.calibration.consistency.checks import FrictionCheck, check_consistency
from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.bodies import Body
from robot_identification.robot.files.loading import load_robot


@pytest.mark.parametrize(
    ("friction", "largest", "consistent"),
    [
        (0.0, 0.0, True),
        (-0.02, 2.0, True),
        (-0.021, 2.0, False),
        (-0.005, 0.5, True),
        (-0.006, 0.5, False),
    ],
)
def test_friction_may_drive_a_joint_by_a_hundredth_of_its_largest(friction, largest, consistent):
    check = FrictionCheck("elbow", -1.5, friction, largest, 3.0)
    assert check.consistent is consistent
    assert bool(check.problem) != consistent


def test_every_link_and_drive_of_a_robot_is_tested():
    rng = np.random.default_rng(3)
    robot = random_robot(rng, 3, coupled_wrist())
    values = random_values(rng, robot)
    values[10], values[24] = 2.0, 1.0
    values[11], values[25] = 1.0, 1.0
    names = robot.all_parameter_names
    values[names.index("Fvm2")] = 0.5
    checks = check_consistency(robot, values)
    assert checks.consistent
    assert [link.link for link in checks.links] == ["link_1", "link_2", "link_3"]
    kinds = [(drive.joints, drive.kind) for drive in checks.drives]
    assert ("joint_1, joint_2", "drive inertia") in kinds
    assert ("joint_3", "drive inertia") in kinds
    assert ("joint_1, joint_2", "viscous friction") in kinds
    assert len(kinds) == 2 + 2 + 3 + 1


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("Ia1", 0.9, "joint_1, joint_2: smallest eigenvalue of the drive inertia"),
        ("Ia3", 0.0, "joint_3: drive inertia 0 is not positive"),
        ("Fv3", -0.1, "joint_3: viscous friction -0.1 is negative"),
        ("Fvm2", 1.5, "joint_1, joint_2: smallest eigenvalue of the viscous friction"),
        ("Fc1", -0.1, "joint_1: Coulomb friction -0.1 is negative"),
        ("Fcm2", -0.1, "joint_1, joint_2: smallest eigenvalue of the Coulomb friction"),
    ],
)
def test_a_drive_that_cannot_exist_is_named(name, value, words):
    rng = np.random.default_rng(3)
    robot = random_robot(rng, 3, coupled_wrist())
    values = random_values(rng, robot)
    values[10], values[24], values[11], values[25] = 2.0, 1.0, 1.0, 1.0
    names = robot.all_parameter_names
    values[names.index("Fvm2")] = 0.5
    values[names.index(name)] = value
    checks = check_consistency(robot, values)
    assert not checks.consistent
    assert len(checks.problems) == 1
    assert words in checks.problems[0]


@pytest.mark.parametrize(("asked", "enough"), [({}, False), ({"tolerance": 0.6}, True)])
def test_a_tolerance_is_granted_to_every_link_where_it_is_asked_for(asked, enough):
    robot = random_robot(np.random.default_rng(4), 2)
    values = random_values(np.random.default_rng(5), robot)
    values[14:24] = Body(1.0, np.array((0.2, 0.1, 0.0)), np.diag((1.0, 1.0, 2.5))).standard
    checks = check_consistency(robot, values, **asked)
    assert checks.consistent is enough
    assert checks.tolerance == asked.get("tolerance", 0.0)


def test_a_joint_may_have_no_friction():
    robot = random_robot(np.random.default_rng(3), 3)
    values = random_values(np.random.default_rng(3), robot)
    names = robot.all_parameter_names
    values[[names.index("Fv3"), names.index("Fc3")]] = 0.0
    assert check_consistency(robot, values).consistent


@pytest.mark.parametrize(("share", "left"), [(0.5, True), (1.5, False)])
def test_whether_a_body_is_left_without_what_is_held_is_told_where_that_is_asked(share, left):
    robot = random_robot(np.random.default_rng(4), 2)
    values = random_values(np.random.default_rng(5), robot)
    holding = replace(robot, held={"joint_2": share * values[14:24]})
    assert [link.apart for link in check_consistency(holding, values).links] == [None, None]
    checks = check_consistency(holding, values, apart=True)
    assert [link.apart for link in checks.links] == [None, left]
    assert checks.consistent is left


def test_drives_that_nobody_gives_are_not_tested():
    robot = load_robot("scara")
    values = np.zeros(28)
    given = np.zeros(28, dtype=bool)
    given[11] = True
    checks = check_consistency(robot, values, given=given)
    assert [(d.joints, d.kind) for d in checks.drives] == [("joint_1", "viscous friction")]


def test_a_centre_of_mass_outside_its_box_is_named():
    robot = random_robot(np.random.default_rng(4), 2)
    values = random_values(np.random.default_rng(5), robot)
    values[14:24] = Body(2.0, np.array((0.1, 0.2, 0.3)), np.diag((1.0, 1.0, 1.0))).standard
    inside = {"link_2": (np.zeros(3), np.full(3, 0.4))}
    outside = {"link_2": (np.zeros(3), np.array([0.4, 0.15, 0.4]))}
    assert check_consistency(robot, values, boxes=inside).consistent
    checks = check_consistency(robot, values, boxes=outside)
    assert checks.problems == (
        "link link_2: the centre of mass (0.1, 0.2, 0.3) is outside its box",
    )
    assert checks.links[0].centre_in_box is None
    both = {"link_1": (np.full(3, 8.0), np.full(3, 9.0))} | inside
    links = check_consistency(robot, values, boxes=both).links
    assert [link.centre_in_box for link in links] == [False, True]


@pytest.mark.parametrize(("side", "inside"), [(0.25, True), (0.249, False)])
def test_a_centre_of_mass_on_the_face_of_its_box_is_inside(side, inside):
    robot = random_robot(np.random.default_rng(4), 2)
    values = random_values(np.random.default_rng(5), robot)
    values[14:24] = Body(2.0, np.array((0.25, 0.0, 0.0)), np.diag((1.0, 1.0, 1.0))).standard
    box = {"link_2": (np.full(3, -0.5), np.array([side, 0.5, 0.5]))}
    assert check_consistency(robot, values, boxes=box).links[1].centre_in_box == inside


def test_what_cannot_be_tested_is_refused():
    robot = random_robot(np.random.default_rng(4), 2)
    for count in (5, 27, 29):
        with pytest.raises(ShapeError, match="values"):
            check_consistency(robot, np.zeros(count))
    for tolerance in (-0.1, float("inf"), float("nan")):
        with pytest.raises(SettingError, match="tolerance"):
            check_consistency(robot, np.zeros(28), tolerance=tolerance)
    corner = np.ones(3)
    with pytest.raises(SettingError, match="no such link; links are link_1, link_2"):
        check_consistency(robot, np.zeros(28), boxes={"arm": (-corner, corner)})
    with pytest.raises(SettingError, match="lower corners below"):
        check_consistency(robot, np.zeros(28), boxes={"link_1": (corner, corner)})
