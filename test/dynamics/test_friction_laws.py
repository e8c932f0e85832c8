"""Direct and simulated motion of robots whose friction is more than Coulomb's and viscous."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.dynamics.direct import DirectModel, plant_of
from robot_identification.dynamics.friction import rate_terms
from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.errors import SettingError
from robot_identification.excitation.objective.energy_rows import EnergyObservation
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.terms.joint_terms import TERMS
from robot_identification.robot.terms.kinds import TermKind


@pytest.fixture(scope="module")
def robot():
    """The UR10 with every term that there is."""
    ur10 = load_robot("ur10")
    every = frozenset(term.name for term in TERMS)
    return replace(ur10, joints=tuple(replace(j, terms=every) for j in ur10.joints))


def some_values(robot):
    values = np.random.default_rng(0).uniform(0.1, 0.3, len(robot.all_parameter_names))
    table = robot.layout.table(values)
    table[:, [0, 3, 5]], table[:, 9], table[:, 10] = 0.5, 2.0, 3.0
    return values


def test_direct_and_inverse_model_agree_with_every_term(robot):
    values = some_values(robot)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 20, 6))
    effort = inverse_dynamics(robot, values, q, qd, qdd)
    found = DirectModel(robot, values).accelerations(q, qd, effort)
    np.testing.assert_allclose(found, qdd, atol=1e-10)


def test_slopes_are_the_derivatives_of_the_functions(robot):
    rate = np.array([-1.3, -0.2, -0.03, 0.04, 0.5, 1.1])
    curved = [t for t in rate_terms(robot, np.arange(len(robot.all_parameter_names))) if t.of_rate]
    assert len(curved) == 6 * 4
    for term in curved[:4]:
        step = 1e-6
        slope = (term.value(rate + step) - term.value(rate - step)) / (2.0 * step)
        np.testing.assert_allclose(term.slope(rate), slope, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("kind", "shape", "at_rest", "fast"),
    [
        (TermKind.MAGNITUDE, (), 0.0, 2.0),
        (TermKind.ROOT, (), 0.0, np.sqrt(2.0)),
        (TermKind.SMOOTH, (0.01,), 0.0, 1.0),
        (TermKind.STRIBECK, (0.1, 2.0), 1.0, 0.0),
    ],
)
def test_laws_are_what_their_formulas_say(kind, shape, at_rest, fast):
    speeds = np.array([1e-12, 2.0])
    np.testing.assert_allclose(kind.of(speeds, shape=shape), [at_rest, fast], atol=1e-5)
    backwards = kind.of(-speeds, shape=shape)
    assert backwards[1] == pytest.approx(fast if kind is TermKind.MAGNITUDE else -fast)


def test_what_depends_on_positions_or_loads_is_refused_by_what_knows_rates_only(robot):
    with pytest.raises(SettingError, match="planning with the energy model does not know"):
        EnergyObservation(base_parameters(robot))


def test_friction_that_follows_the_load_is_refused_with_loops():
    """What a joint that follows hands on is not told apart from the others."""
    robot = load_robot("hitachi_hpr", closed_loops=True)
    loaded = replace(robot.joints[0], terms=robot.joints[0].terms | {"Fl"})
    robot = replace(robot, joints=(loaded, *robot.joints[1:]))
    for build in (Regressor, lambda r: plant_of(r, np.ones(len(r.all_parameter_names)))):
        with pytest.raises(SettingError, match="friction that follows the load"):
            build(robot)
