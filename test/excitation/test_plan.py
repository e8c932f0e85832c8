"""Plans: certified, reproducible, slowed down for efforts, refused where nothing passes."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_cells import collisions
from robot_identification.errors import (
    CancelledError,
    MissingLimitError,
    NotCertifiedError,
    SettingError,
    ShapeError,
)
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search import dynamic, optimizers, search
from robot_identification.excitation.search.points import PointSettings
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values

ROBOT = load_robot("three_dof")
QUICK = PlanSettings(
    model="dynamic", points=PointSettings(starts=1), duration=8.0, rows=5, start=np.full(3, 0.1)
)


def with_limit(**changes):
    joints = tuple(replace(j, limits=replace(j.limits, **changes)) for j in ROBOT.joints)
    return replace(ROBOT, joints=joints)


@pytest.fixture(scope="module")
def free():
    """The plan of a robot without limits of efforts, with nothing around it."""
    return plan(ROBOT, QUICK)


def test_a_plan_is_certified_and_reproducible(free):
    first, second = free, plan(ROBOT, QUICK)
    assert first.certificate.passed
    np.testing.assert_array_equal(first.trajectory.positions, second.trajectory.positions)
    assert first.certificate.digest == second.certificate.digest
    assert first.after.condition_number < first.before.condition_number
    np.testing.assert_allclose(first.trajectory.positions[[0, -1]], 0.1)


def test_a_robot_with_friction_beats_random_motions_by_half():
    robot = load_robot("scara")
    joints = tuple(
        replace(j, limits=replace(j.limits, lower=-2.5, upper=2.5, velocity=3.0, acceleration=10.0))
        for j in robot.joints
    )
    robot = replace(robot, joints=joints)
    found = plan(robot, replace(QUICK, duration=20.0, rows=None, start=None))
    settings = RandomPointsSettings(points=14, draws=20, speed=1.0, reach=1.0)
    best = random_points(robot, settings).condition_number
    assert found.trajectory_condition_number <= best / 2.0


def test_an_energy_plan_is_not_lost_to_one_motion_that_has_no_room_to_brake(monkeypatch):
    """The points alone pass too near an end of the slide; refined, they keep clear of it."""
    monkeypatch.setattr(search, "_STAGES", search._STAGES[:2])
    monkeypatch.setattr(optimizers, "_ITERATIONS", 3)
    robot = load_robot("emps")
    jerky = tuple(replace(j, limits=replace(j.limits, jerk=10.0)) for j in robot.joints)
    settings = PlanSettings(
        model="energy", rows=8, points=PointSettings(starts=1, seed=1), start=np.array([-0.03])
    )
    found = plan(replace(robot, joints=jerky), settings)
    assert found.certificate.results["braking"]


def test_jerk_limits_are_kept():
    found = plan(with_limit(jerk=60.0), QUICK)
    assert found.certificate.results["jerk"]


def test_large_efforts_slow_the_motion_down(free, monkeypatch):
    prior = load_values("three_dof", ROBOT)
    weak = with_limit(effort=170.0)
    found = plan(weak, QUICK, surroundings=Surroundings(prior=prior))
    assert found.certificate.results["effort"]
    assert found.trajectory.duration >= free.trajectory.duration
    monkeypatch.setattr(dynamic, "STAGES", dynamic.STAGES[:1])
    with pytest.raises(NotCertifiedError, match="effort"):
        plan(with_limit(effort=1.0), QUICK, surroundings=Surroundings(prior=prior))


def test_a_plan_keeps_clear_of_what_the_free_one_would_touch(free, tmp_path):
    pytest.importorskip("coal", reason="the package coal is not installed")
    table = "obstacles: [{name: table, box: [1.0, 1.0, 0.1], at: [0.7, 0.0, -0.45]}]\n"
    cell = Surroundings(collisions=collisions(tmp_path, table))
    assert not certify(ROBOT, free.trajectory, surroundings=cell).passed
    found = plan(ROBOT, QUICK, surroundings=cell)
    assert found.certificate.results["obstacles"]
    again = certify(ROBOT, found.trajectory, surroundings=cell)
    assert again.clearance.kept
    assert again.obstacles.endswith("wanted 0.02 m") or "farther" in again.obstacles


def test_obstacles_everywhere_are_refused_with_what_was_tried(tmp_path):
    pytest.importorskip("coal", reason="the package coal is not installed")
    nowhere = Surroundings(
        collisions=collisions(tmp_path, "keep_in: [{name: box, box: [1, 1, 1]}]\n")
    )
    with pytest.raises(NotCertifiedError, match=r"where the motion begins: hand and box"):
        plan(ROBOT, QUICK, surroundings=nowhere)


def test_what_is_missing_or_wrong_is_named():
    with pytest.raises(MissingLimitError, match="acceleration"):
        plan(with_limit(acceleration=None), QUICK)
    with pytest.raises(SettingError, match="joint_2"):
        plan(ROBOT, replace(QUICK, start=np.array([0.0, 9.0, 0.0])))
    with pytest.raises(ShapeError):
        plan(ROBOT, replace(QUICK, start=np.zeros(2)))
    with pytest.raises(SettingError, match="model"):
        PlanSettings(model="magic")
    with pytest.raises(CancelledError):
        plan(ROBOT, QUICK, cancelled=lambda: True)
