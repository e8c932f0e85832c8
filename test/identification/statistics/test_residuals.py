"""What residuals show: their size, their colour, the friction in them."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

from made_up_results import made_up_result
from robot_identification.identification.statistics.prediction import Prediction
from robot_identification.identification.statistics.residuals import joint_friction, joint_residuals
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values

PERIOD = 0.02


def prediction(measured, predicted, kept=None):
    """Return a prediction of one joint."""
    rows = len(measured)
    return Prediction(
        joint_names=("joint_1",),
        units=("N m",),
        time=PERIOD * np.arange(rows),
        measured=np.reshape(measured, (rows, 1)),
        predicted=np.reshape(predicted, (rows, 1)),
        kept=np.ones((rows, 1), bool) if kept is None else np.reshape(kept, (rows, 1)),
        velocity=np.zeros((rows, 1)),
    )


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_white_noise_is_white_and_of_its_size(rng):
    effort = 3.0 * np.sin(np.arange(4000) * 0.1)
    (found,) = joint_residuals((prediction(effort + 0.2 * rng.normal(size=4000), effort),))
    assert found.std == pytest.approx(0.2, rel=0.05)
    assert abs(found.autocorrelation) < 0.06
    assert found.relative == pytest.approx(0.2 / np.sqrt(4.5 + 0.04), rel=0.05)
    # one-sided: all of the power between 0 and half the rate
    np.testing.assert_allclose(np.median(found.density), 0.2**2 * 2.0 * PERIOD, rtol=0.2)
    assert trapezoid(found.density, found.frequency) == pytest.approx(0.04, rel=0.1)


def test_a_forgotten_oscillation_stands_out_at_its_frequency(rng):
    time = PERIOD * np.arange(4000)
    rest = 0.3 * np.sin(2.0 * np.pi * 6.25 * time) + 0.05 * rng.normal(size=4000)
    (found,) = joint_residuals((prediction(rest + 1.0, np.ones(4000)),))
    assert found.frequency[np.argmax(found.density)] == pytest.approx(6.25, abs=0.2)
    assert found.autocorrelation > 0.5


def test_rows_that_take_no_part_do_not_count(rng):
    rest = rng.normal(size=2000)
    kept = np.arange(2000) % 4 != 0
    spoilt = np.where(kept, rest, 1e6)
    (found,) = joint_residuals((prediction(spoilt, np.zeros(2000), kept),))
    assert found.std == pytest.approx(1.0, rel=0.1)
    assert len(found.values) == 1500
    np.testing.assert_allclose(np.median(found.density), 2.0 * PERIOD, rtol=0.3)


def test_few_rows_have_no_spectrum():
    kept = np.arange(40) < 5
    (found,) = joint_residuals((prediction(np.ones(40), np.zeros(40), kept),))
    assert len(found.frequency) == 0
    assert np.isnan(found.autocorrelation)
    nothing = prediction(np.ones(4), np.zeros(4), np.zeros(4, bool))
    assert np.isnan(joint_residuals((nothing,))[0].std)


def test_friction_is_that_of_the_robot(rng):
    robot = load_robot("scara")
    truth = load_values("scara", robot)
    result = made_up_result(robot, truth, rng)
    place = {name: i for i, name in enumerate(robot.all_parameter_names)}
    for number, friction in enumerate(joint_friction(result), 1):
        viscous, coulomb = (truth[place[f"{kind}{number}"]] for kind in ("Fv", "Fc"))
        np.testing.assert_allclose(
            friction.torque([-2.0, 3.0])[:2] - friction.values[2],
            [-2.0 * viscous - coulomb, 3.0 * viscous + coulomb],
            rtol=1e-6,
        )
        assert not friction.grouped
