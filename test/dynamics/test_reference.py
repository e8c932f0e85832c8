import numpy as np
import pytest

from robot_identification.dynamics.reference import hold, in_sequence, sample, through
from robot_identification.errors import ShapeError
from robot_identification.excitation.motions.trajectory import Trajectory


def ramp(begin, end, first=0.0):
    return Trajectory(("a",), np.array([first, first + 1.0]), np.array([[begin], [end]]))


def test_a_spline_through_samples_gives_their_derivatives_too():
    t = np.linspace(0.0, 2.0, 201)
    q, qd, qdd = sample(through(t, np.sin(3.0 * t)[:, None]), t[20:-20])
    np.testing.assert_allclose(q[:, 0], np.sin(3.0 * t[20:-20]), atol=1e-12)
    np.testing.assert_allclose(qd[:, 0], 3.0 * np.cos(3.0 * t[20:-20]), atol=1e-5)
    np.testing.assert_allclose(qdd[:, 0], -9.0 * np.sin(3.0 * t[20:-20]), atol=2e-3)


def test_trajectories_replace_one_another_and_stand_still_in_between():
    parts = [(1.0, ramp(0.0, 1.0).reference), (3.0, ramp(1.0, -1.0).reference)]
    position, velocity, _ = sample(in_sequence(parts), [0.0, 1.5, 2.5, 3.25, 9.0])
    np.testing.assert_allclose(position[:, 0], [0.0, 0.5, 1.0, 0.5, -1.0])
    np.testing.assert_allclose(velocity[:, 0], [0.0, 1.0, 0.0, -2.0, 0.0])


def test_a_trajectory_that_is_replaced_early_ends_there():
    parts = [(0.0, ramp(0.0, 1.0).reference), (0.5, hold([0.5]))]
    position, velocity, _ = sample(in_sequence(parts), [0.25, 0.75])
    np.testing.assert_allclose(position[:, 0], [0.25, 0.5])
    np.testing.assert_allclose(velocity[:, 0], [1.0, 0.0])


def test_references_of_nothing_are_refused():
    with pytest.raises(ShapeError, match="parts"):
        in_sequence([])
    with pytest.raises(ShapeError, match="times"):
        through([0.0], [[1.0]])
    with pytest.raises(ShapeError, match="positions"):
        through([0.0, 1.0], [[1.0]])
