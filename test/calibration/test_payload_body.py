"""The physically consistent payload nearest to the identified one."""

from types import SimpleNamespace

import numpy as np
import pytest

from payload_runs import BODY
from robot_identification.calibration.payload_body import consistent_payload
from robot_identification.robot.bodies import pseudo_inertia

MARGIN = 1e-4  # docs/payload.md


def estimate(values, std, rank=10):
    """Return what the consistent payload is made from: values, covariance and rank."""
    return SimpleNamespace(values=np.asarray(values), covariance=np.diag(std) ** 2, rank=rank)


STD = np.array([*[3e-3] * 6, *[2e-3] * 3, 0.01])


def test_a_payload_that_can_exist_stays_as_it_is():
    found = consistent_payload(estimate(BODY.standard, STD))
    assert not found.changed
    assert found.distance < 1e-6
    np.testing.assert_array_equal(found.values, BODY.standard)
    assert found.body.mass == pytest.approx(2.0)
    np.testing.assert_allclose(found.body.inertia, BODY.inertia, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_an_impossible_payload_moves_least_in_its_standard_deviations(seed):
    rng = np.random.default_rng(seed)
    values = np.array(BODY.standard)
    values[[0, 3]] -= 0.02  # two central moments below zero
    values += STD * rng.normal(size=10)
    found = consistent_payload(estimate(values, STD))
    assert found.changed
    assert found.least_eigenvalue >= 0.9 * MARGIN
    assert np.linalg.eigvalsh(pseudo_inertia(found.values))[0] > 0.0
    assert found.distance == pytest.approx(np.linalg.norm((found.values - values) / STD), rel=1e-6)
    towards = np.array(BODY.standard) - values  # a body that can exist is never nearer
    assert found.distance <= np.linalg.norm(towards / STD)


def test_a_payload_that_is_not_told_has_no_consistent_one():
    assert consistent_payload(estimate(BODY.standard, STD, rank=9)) is None


@pytest.mark.parametrize("mass", [-0.5, 0.0, 0.02])
def test_without_a_mass_there_is_no_body(mass):
    values = np.array(BODY.standard)
    values[9] = mass
    assert consistent_payload(estimate(values, STD)) is None
