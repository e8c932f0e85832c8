"""Gauss-Newton steps on a made-up problem whose simulations do what a test wants."""

from types import SimpleNamespace

import numpy as np
import pytest

from robot_identification.errors import SimulationError
from robot_identification.identification.didim.iteration import Iterations, Trial, _relative_change
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.estimators.least_squares import ordinary
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.robot.files.loading import load_robot

TRUTH = 4.0


class MadeUpProblem:
    """One joint, one parameter; ``slope(value)`` is the regressor along the simulated motion."""

    def __init__(self, slope, breaks_above=np.inf, **settings):
        self.slope = slope
        self.breaks_above = breaks_above
        self.settings = DidimSettings(weighting="ols", **settings)
        self.base = SimpleNamespace(robot=load_robot("emps"))

    def inertia(self, values):
        return np.array(values)

    def simulate(self, values, assumed):
        if values[0] > self.breaks_above:
            raise SimulationError(0.1, "made up")
        rows = np.array([[self.slope(values[0]), TRUTH], [0.0, 1e-3]])
        factor = JointFactor("slide", np.array([0]), rows, 2)
        return Trial(values, self.inertia(values), assumed, (factor,), ())

    def solve(self, factors):
        return ordinary(factors, ["M1"])


def iterate(problem, start=1.0):
    first = problem.simulate(np.array([start]), np.array([start]))
    iterations = Iterations(problem, first)
    iterations.run()
    return iterations


def test_a_motion_that_hardly_depends_on_the_parameters_needs_few_steps():
    iterations = iterate(MadeUpProblem(lambda value: 1.0 + 1e-4 * (value - TRUTH)))
    assert iterations.converged
    assert len(iterations.history) <= 4
    np.testing.assert_allclose(iterations.trial.values, TRUTH, rtol=1e-6)
    assert [i.step for i in iterations.history[1:3]] == [1.0, 1.0]


def test_a_step_whose_simulation_breaks_down_is_halved():
    iterations = iterate(MadeUpProblem(lambda _: 1.0, breaks_above=3.5))
    first = iterations.history[1]
    assert first.step == 0.5
    assert first.simulations == 2
    np.testing.assert_allclose(first.values, 2.5)


def test_without_any_way_on_the_last_good_parameters_stay():
    iterations = iterate(MadeUpProblem(lambda _: 1.0, breaks_above=1.0))
    assert not iterations.converged
    assert "made up" in iterations.failure
    np.testing.assert_array_equal(iterations.trial.values, [1.0])
    assert len(iterations.history) == 1


def test_a_growing_torque_error_halves_the_step():
    iterations = iterate(MadeUpProblem(lambda value: 1.0 if value < 3.0 else 3.0))
    assert iterations.history[1].step == 0.5
    errors = [i.torque_error.total for i in iterations.history]
    assert errors[1] < errors[0]


def test_iterations_that_go_to_and_fro_end_at_their_limit():
    problem = MadeUpProblem(lambda value: 1.0 if value < 3.0 else 1.6, max_iterations=5)
    iterations = iterate(problem)
    assert not iterations.converged
    assert "5 iterations" in iterations.failure


@pytest.mark.parametrize(
    ("before", "after", "std", "expected"),
    [
        ([2.0], [2.1], [0.01], 0.05),
        ([-2.0], [-2.1], [0.01], 0.05),
        ([0.0], [0.1], [0.02], 0.5),
        ([0.0], [0.0], [0.0], 0.0),
        ([0.0], [0.1], [0.0], np.inf),
    ],
)
def test_changes_are_relative_also_to_zero_and_negative_values(before, after, std, expected):
    change = _relative_change(np.array(before), np.array(after), np.array(std))
    assert change == pytest.approx(expected)
