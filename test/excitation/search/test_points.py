"""Points: change of variables, what changes the system, and the figures of the paper."""

import numpy as np
import pytest

from robot_identification.errors import CancelledError, SettingError
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.objective.criterion import Criterion, Measure
from robot_identification.excitation.objective.energy_rows import EnergyObservation
from robot_identification.excitation.search.optimizers import OPTIMIZERS, minimise
from robot_identification.excitation.search.points import PointSettings, optimise_points
from robot_identification.excitation.search.problem import point_problem
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot

ROBOT = load_robot("three_dof")
LIMITS = MotionLimits.of(ROBOT)
OBSERVATION = EnergyObservation(base_parameters(ROBOT))
ONE_START = PointSettings(starts=1)


def problem(rows=30, seed=0, criterion=None):
    rng = np.random.default_rng(seed)
    return point_problem(OBSERVATION, criterion or Criterion(), LIMITS, np.ones(rows), rng)


def test_position_of_the_first_vertical_axis_does_not_matter():
    p = problem()
    assert p.position_matters.tolist() == [False, True, True]
    assert p.velocity_matters.all()
    assert p.variables == 155
    assert problem(15).variables == 80
    q = p.points(p.random_start(np.random.default_rng(1))).positions
    assert (np.abs(q) <= np.pi).all()
    assert len(set(q[:, 0])) == 31


def test_change_of_variables_covers_the_limits_and_is_inverted():
    p = problem(15)
    x = np.random.default_rng(2).normal(size=p.variables) * 5.0
    z = p.from_angles(x)
    assert (np.abs(z) <= 1.0).all()
    np.testing.assert_allclose(p.from_angles(p.angles(z)), z, atol=1e-7)
    points = p.points(z)
    rows = x.reshape(16, 5)
    np.testing.assert_allclose(
        points.positions[:, 1:], -np.pi + 2 * np.pi * np.sin(rows[:, :2]) ** 2, atol=1e-9
    )
    np.testing.assert_allclose(points.velocities, 2.0 * np.sin(rows[:, 2:]), atol=1e-9)


def test_gradient_over_the_unknowns_is_exact():
    p = problem(20)
    rng = np.random.default_rng(3)
    z, way = p.random_start(rng) * 0.9, rng.normal(size=p.variables)
    _, gradient = p.smooth(z, 1.0, 0.3)
    h = 1e-7
    expected = (p.smooth(z + h * way, 1.0, 0.3)[0] - p.smooth(z - h * way, 1.0, 0.3)[0]) / (2 * h)
    assert gradient @ way == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_makes_the_criterion_smaller(optimizer):
    p = problem()
    start = p.random_start(np.random.default_rng(4))
    result = minimise(p, start, optimizer, 1500)
    assert result.value < (0.1 if optimizer == "gradient" else 1.0) * p.value(start)
    assert result.value == pytest.approx(p.value(result.unknowns))
    assert (np.abs(result.unknowns) <= 1.0).all()
    assert result.evaluations <= 1500


def test_published_optimum_is_beaten():
    """Gautier and Khalil 1992, section 6.2: 155 variables, condition 11.16 with S = 175."""
    plan = optimise_points(OBSERVATION, LIMITS, np.ones(30), ONE_START)
    assert plan.variables == 155
    assert plan.after.condition_number < 9.5
    assert plan.after.equilibrium < 175.0
    assert plan.before.equilibrium > 1e3
    assert (np.abs(plan.points.positions) <= np.pi + 1e-12).all()
    assert (np.abs(plan.points.velocities) <= 2.0 + 1e-12).all()


@pytest.mark.parametrize(("rows", "published"), [(15, 53.0), (20, 30.0)])
def test_table_2_is_beaten_for_fewer_rows(rows, published):
    plan = optimise_points(OBSERVATION, LIMITS, np.ones(rows), ONE_START)
    assert plan.after.condition_number < published


@pytest.mark.parametrize("measure", list(Measure))
def test_same_seed_same_points(measure):
    settings = PointSettings(Criterion(measure), starts=2, evaluations=300, seed=7)
    first, second = (optimise_points(OBSERVATION, LIMITS, np.ones(20), settings) for _ in range(2))
    np.testing.assert_array_equal(first.points.positions, second.points.positions)


def test_bad_settings_are_refused():
    with pytest.raises(SettingError, match="at least 15"):
        optimise_points(OBSERVATION, LIMITS, np.ones(14))
    with pytest.raises(SettingError, match="optimizer"):
        PointSettings(optimizers=("annealing",))
    with pytest.raises(SettingError, match="starts"):
        PointSettings(starts=0)
    with pytest.raises(CancelledError):
        optimise_points(OBSERVATION, LIMITS, np.ones(30), cancelled=lambda: True)
