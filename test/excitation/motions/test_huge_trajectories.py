"""Trajectories whose numbers overflow are refused, not published."""

import numpy as np
import pytest

from robot_identification.errors import TrajectoryError
from robot_identification.excitation.certification import checks
from robot_identification.excitation.motions.trajectory import Trajectory


@pytest.mark.parametrize(
    ("times", "velocity"), [([0.0, 1.0], 1e308), ([0.0, 1e-200], 1.0), ([0.0, 1e200], 1.0)]
)
def test_numbers_that_overflow_are_refused(times, velocity):
    still = np.zeros((2, 1))
    moving = np.array([[0.0], [velocity]])
    trajectory = Trajectory(("hip",), np.array(times), moving, moving, still)
    with pytest.raises(TrajectoryError, match="joint hip cannot be interpolated from point 0 on"):
        trajectory.coefficients  # noqa: B018 (computed on demand)


@pytest.mark.parametrize("last", [1e300, 2.0**32])
def test_times_that_no_message_holds_are_not_certified(last):
    still = np.zeros((2, 1))
    trajectory = Trajectory(("hip",), np.array([0.0, last]), still)
    assert not checks.times(trajectory).passed
    assert checks.times(Trajectory(("hip",), np.array([0.0, 1.0]), still)).passed
