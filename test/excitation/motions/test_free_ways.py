"""Postures to start from that touch nothing, and ways around what stands between two postures."""

import os

import numpy as np
import pytest

pytest.importorskip("coal", reason="the package coal is not installed")

from engines import example
from made_up_cells import SHAPES, collisions, limits_of
from robot_identification.collision.model import load_collision_model
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.approach import approach
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.motions.way_around import nearest_free, way_around
from robot_identification.robot.files.loading import load_robot

LIMITS, STILL = limits_of(), np.zeros(3)
REACH = 0.5 + 0.4 + 0.04  # m, from the shoulder to the end of the stretched hand
BELOW = "{name: stand, box: [0.2, 0.2, 0.1], at: [0, 0, -0.14]}"
"""Three centimetres below the shoulder, wherever the joints are."""


def plate(gap):
    """Return a plate before the stretched arm."""
    return f"{{name: plate, box: [0.01, 4, 4], at: [{REACH + gap + 0.005}, 0, 0]}}"


def cell(*obstacles):
    return f"obstacles: [{', '.join(obstacles)}]\n"


def margin(model, posture):
    return float(model.check.margins(posture[None], STILL, 0.0, 1.0)[0])


def test_a_posture_with_room_is_left_as_it_is(tmp_path):
    model = collisions(tmp_path, cell(plate(0.08)))
    np.testing.assert_array_equal(nearest_free(model, LIMITS, STILL, STILL), STILL)


def test_a_posture_with_little_room_is_left_for_one_with_more(tmp_path):
    model = collisions(tmp_path, cell(plate(0.021)))
    assert margin(model, nearest_free(model, LIMITS, STILL, STILL)) >= 0.07


def test_where_no_posture_has_much_room_it_is_not_one_with_none(tmp_path):
    """A motion that begins at its clearance to the last digit has nowhere to go."""
    model = collisions(tmp_path, cell(BELOW, plate(0.0201)))
    assert margin(model, STILL) == pytest.approx(0.0201, abs=1e-4)
    assert margin(model, nearest_free(model, LIMITS, STILL, STILL)) >= 0.0249


def test_it_is_near_however_far_the_joints_turn(tmp_path):
    """A turn away there is one too, but the way there may lead through the floor."""
    model = collisions(tmp_path, cell(plate(0.021)))
    wide = limits_of(lower=np.full(3, -6.28), upper=np.full(3, 6.28))
    assert np.abs(nearest_free(model, wide, STILL, STILL)).max() < 0.7


def test_where_no_posture_is_free_that_is_told(tmp_path):
    model = collisions(tmp_path, cell(BELOW), clearance=0.04)
    told = r"the best has 0\.03\d* m between link_2 and stand; look at what the cell file says"
    with pytest.raises(NotCertifiedError, match=told):
        nearest_free(model, LIMITS, STILL, STILL)


def test_where_the_assumed_floor_is_in_the_way_of_every_posture_mounting_is_asked_for(tmp_path):
    """The shoulder is in the plane of the base, as the hips of a leg and the rails of a gantry."""
    (tmp_path / "cell.yaml").write_text(SHAPES)
    model = load_collision_model("three_dof", load_robot("three_dof"), cell=tmp_path / "cell.yaml")
    told = r"between link_2 and floor; that floor, the plane of the base, is assumed.*mounting"
    with pytest.raises(NotCertifiedError, match=told):
        nearest_free(model, LIMITS, STILL, STILL)


def goal(posture):
    """Return a motion that begins at a posture."""
    robot, still = load_robot("three_dof"), np.zeros((2, 3))
    return Trajectory(
        robot.joint_names, np.array([0.0, 1.0]), np.array([posture] * 2), still, still
    )


WALL = "{name: wall, box: [0.6, 0.02, 0.5], at: [0.65, 0, -0.1]}"
"""Stands between the arm on one side and on the other; its top is in reach of no upright arm."""


def test_the_way_leads_around_what_stands_in_the_straight_one(tmp_path):
    around = Surroundings(collisions=collisions(tmp_path, cell(WALL)))
    begin, end = np.array([-0.7, 0.0, 0.0]), np.array([0.7, 0.0, 0.0])
    way, certificate = approach(load_robot("three_dof"), goal(end), begin, surroundings=around)
    assert certificate.passed
    assert len(way.times) > 2
    np.testing.assert_array_equal(way.positions[[0, -1]], [begin, end])


def test_joints_that_turn_more_than_once_do_not_make_it_hard(tmp_path):
    """Most postures within the limits of such joints lead nowhere near to both ends."""
    model = collisions(tmp_path, cell(WALL))
    wide = limits_of(lower=np.full(3, -6.28), upper=np.full(3, 6.28))
    begin, end = np.array([-0.7, 0.0, 0.0]), np.array([0.7, 0.0, 0.0])
    way = way_around(model, wide, STILL, begin, end)
    assert np.abs(np.diff(way, axis=0)).sum() < 8.0


def test_there_is_no_way_into_a_box(tmp_path):
    model = collisions(tmp_path, cell(plate(-0.2)))
    begin = np.array([0.0, 1.5, 0.0])
    assert way_around(model, LIMITS, STILL, begin, STILL) is None
    around = Surroundings(collisions=model)
    _, certificate = approach(load_robot("three_dof"), goal(STILL), begin, surroundings=around)
    with pytest.raises(NotCertifiedError, match=r"hand and plate.*no way around it was found"):
        certificate.require()


def test_links_that_are_built_near_each_other_keep_apart_where_joints_are_off(tmp_path):
    """Links 5 and 7 of a Panda are never farther apart than 2.2 cm, with 2 joints between them."""
    urdf = example("panda_description/urdf/panda.urdf")
    path, off = tmp_path / "panda.yaml", np.full(7, 0.1)
    path.write_text(
        f"{{name: panda, effort_meaning: joint_torque, urdf: {os.path.relpath(urdf, tmp_path)}, "
        "fixed_joints: [panda_finger_joint1], "
        "joint_defaults: {limits: {acceleration: 5.0}}}\n"
    )
    robot = load_robot(path)
    model, limits = load_collision_model(path, robot), MotionLimits.of(robot)
    around = Surroundings(collisions=model, off=off)
    home = np.array([0.0, -0.3, 0.0, -1.6, 0.0, 2.0, 0.6])
    free = around.free_posture(limits, home)
    np.testing.assert_allclose(free, home, atol=0.5)
    around.require_free(limits, free)
    beside = free + np.random.default_rng(0).uniform(-off, off, (200, 7))
    nearest = [model.check.nearest(np.zeros(1), posture[None]) for posture in beside]
    assert min(one.distance for one in nearest) >= 0.02
    assert ("panda_link7", "panda_link5") in {one.pair for one in nearest}
    folded = home.copy()
    folded[5] = 0.6  # 1.8 cm
    with pytest.raises(NotCertifiedError, match="panda_link7 and panda_link5"):
        around.require_free(limits, folded)
