import numpy as np
import pytest

from robot_identification.calibration.running_payload.body import conditioned_body
from robot_identification.calibration.running_payload.settings import RunningPayloadSettings
from robot_identification.robot.bodies import Body, pseudo_inertia

SETTINGS = RunningPayloadSettings()
TRUE = Body(1.5, [0.03, -0.02, 0.09], np.diag([0.006, 0.007, 0.008]))


def factor(std, body=TRUE):
    """Return the factor of standard parameters that are known to deviations (10,)."""
    triangle = np.diag(1.0 / np.asarray(std))
    return np.column_stack([triangle, triangle @ body.standard])


def test_rows_that_tell_everything_outweigh_what_is_usual():
    found = conditioned_body(factor([1e-6] * 10), SETTINGS)
    np.testing.assert_allclose(found.standard, TRUE.standard, rtol=1e-3, atol=1e-6)
    assert found.told.all()
    np.testing.assert_allclose(found.body().inertia, TRUE.inertia, atol=1e-5)


def test_inertias_that_rows_do_not_tell_are_those_of_a_body_of_usual_size():
    found = conditioned_body(factor([10.0] * 6 + [1e-4] * 3 + [1e-3]), SETTINGS)
    values = found.estimate.values
    np.testing.assert_allclose(values[:4], [1.5, *TRUE.centre], rtol=1e-3)
    assert found.told[:4].all()
    assert not found.told[4:].any()
    usual = 1.5 * SETTINGS.gyration**2
    np.testing.assert_allclose(values[4:], usual * np.array([1, 0, 0, 1, 0, 1]), atol=0.2 * usual)


def test_a_mass_that_may_be_none_has_no_centre():
    light = Body(0.01, [0.0, 0.0, 0.0], 1e-5 * np.eye(3))
    found = conditioned_body(factor([10.0] * 6 + [1e-2] * 3 + [0.1], light), SETTINGS)
    assert found.mass[1] == pytest.approx(0.1, rel=0.1)
    assert np.isnan(found.estimate.values[1:]).all()


def test_what_is_handed_on_is_physically_consistent():
    thin = Body(1.0, [0.0, 0.0, 0.1], np.diag([0.001, 0.001, 0.004]))
    body = conditioned_body(factor([1e-6] * 10, thin), SETTINGS).body()
    assert np.linalg.eigvalsh(pseudo_inertia(body.standard))[0] > 0.0


def test_inflated_deviations_are_larger():
    plain, inflated = (
        conditioned_body(factor([1e-4] * 9 + [1e-2]), SETTINGS, by) for by in (1.0, 2.0)
    )
    assert inflated.mass[1] == pytest.approx(2.0 * plain.mass[1], rel=0.05)
