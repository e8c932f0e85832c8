"""Systems of robots with every friction law there is, and with springs, and their derivatives."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from lawful_robots import LAWS, known_values, with_spring, with_terms
from random_robots import random_robot
from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import SettingError
from robot_identification.excitation.objective.curve import Curve, Points
from robot_identification.excitation.objective.effort_rows import DynamicObservation
from robot_identification.excitation.objective.energy_rows import EnergyObservation
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.terms.springs import SpringKind


def lawful(seed, names=LAWS, kind=SpringKind.COIL):
    """Return the base parameters of a random robot with laws and a spring, loads included.

    It is the first one of which data tell the loads: slides at the base are refused.
    """
    for number in range(100):
        rng = np.random.default_rng((seed, number))
        plain = random_robot(rng, 4)
        robot = with_spring(with_terms(plain, names, rng), rng, kind)
        with suppress(SettingError):
            base = base_parameters(robot)
            return replace(base, robot=robot.loaded_by(known_values(plain, robot, rng)))
    raise AssertionError("no robot was accepted")


def some_points(robot, seed):
    rng = np.random.default_rng(seed)
    shape = (3, len(robot.joints))
    return Points(rng.uniform(-2, 2, shape), rng.uniform(-2, 2, shape), rng.uniform(0.4, 1.0, 2))


def moved(points, way, h):
    return Points(*(x + h * d for x, d in zip(vars(points).values(), way, strict=True)))


@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_those_of_the_rows(seed):
    """Along random ways, by central differences."""
    rng = np.random.default_rng(seed)
    base = lawful(seed)
    observation = DynamicObservation(base, Curve.midpoints(33), 0.1)
    points = some_points(base.robot, seed)
    slope = rng.normal(size=observation.rows(points).shape)
    gradient = observation.pull(points, slope)
    for _ in range(4):
        way = [rng.normal(size=x.shape) * 0.1 for x in vars(points).values()]
        h = 1e-6
        ahead, behind = (observation.rows(moved(points, way, s * h)) for s in (1, -1))
        expected = ((ahead - behind) * slope).sum() / (2 * h)
        parts = [(g * d).sum() for g, d in zip(vars(gradient).values(), way, strict=True)]
        size = sum(np.abs(g * d).sum() for g, d in zip(vars(gradient).values(), way, strict=True))
        assert sum(parts) == pytest.approx(expected, abs=1e-5 * size)


def test_without_smoothing_rows_are_those_of_the_regressor():
    base = lawful(0)
    curve = Curve.midpoints(7)
    points = some_points(base.robot, 0)
    samples = curve.rows(points)
    W = Regressor(base.robot, base.base_columns).dense(*(x.T for x in samples))
    weights = np.sqrt(curve.spans(points))[:, None, None]
    rows = DynamicObservation(base, curve).rows(points)
    np.testing.assert_allclose(rows, (weights * W).reshape(rows.shape), atol=1e-12)


def test_friction_that_jumps_at_rest_is_smoothed_as_coulomb_friction_is():
    """At a speed of the width the smoothed sign is the root of one half."""
    base = lawful(0, ["Fs", "Fl"])
    columns = [base.base_columns.tolist().index(c) for c in base.base_columns if _jumps(base, c)]
    still = np.zeros((2, 4))
    points = Points(np.array([[0.1, 0.2, 0.3, 0.4]] * 2), still + 0.1, np.array([1e-9]))
    sharp, smooth = (
        DynamicObservation(base, Curve(np.array([0.0])), width).rows(points)[:, columns]
        for width in (0.0, 0.1)
    )
    assert len(columns) == 8
    np.testing.assert_allclose(smooth, np.sqrt(0.5) * sharp, atol=1e-12)


def _jumps(base, column):
    return base.robot.all_parameter_names[column][:2] in ("Fs", "Fl")


def test_the_energy_model_refuses_what_it_has_no_rows_for():
    with pytest.raises(SettingError, match="balancer: planning with the energy model does not"):
        EnergyObservation(lawful(0))
