"""What is told of the payload of a real arm that carries nothing."""

from itertools import pairwise

import numpy as np
import pytest

import robot_identification as ri
from shared_data import measured_data, requires

RECORDING = "ur10_exciting_trajectory.db3"
HALVES = ((0.0, 0.5), (0.5, 1.0))
WINDOWS = 3
"""Estimates of each half, from 4.6 s each; the bare arm is learned from the other half, 14 s."""
MOMENTS = slice(6, 10)  # of the standard parameters: three first moments, and the mass


@pytest.fixture(scope="module")
def estimates():
    (recording,) = ri.read_bags("ur10", measured_data("ur10") / RECORDING)
    calibrated = ri.calibrate("ur10", ri.identify("ur10", recording))
    found = []
    for learned, judged in (HALVES, HALVES[::-1]):
        free = recording.between(*learned)
        places = np.linspace(*judged, WINDOWS + 1)
        for begin, end in pairwise(places):
            part = recording.between(begin, end)
            found.append(ri.running_payload("ur10", calibrated, part, free_motion=free).states[-1])
    return found


@requires("ur10")
def test_an_empty_hand_is_not_told_to_carry_anything(estimates):
    masses = np.array([state.body.mass for state in estimates])
    assert len(masses) == 2 * WINDOWS
    assert np.abs(masses[:, 0]).max() < 0.2
    assert not any(state.body.certain for state in estimates)


@requires("ur10")
def test_deviations_of_mass_and_first_moments_are_those_of_the_errors_of_a_real_arm(estimates):
    bodies = [state.body for state in estimates]
    errors = np.array([body.standard[MOMENTS] for body in bodies])
    told = np.array([np.sqrt(np.diag(body.covariance)[MOMENTS]) for body in bodies])
    assert 0.6 < np.sqrt(np.mean((errors / told) ** 2)) < 1.6
