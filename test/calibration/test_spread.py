"""Standard deviations of calibrated parameters are those of the identification behind them."""

import numpy as np
import pytest

from friction_arm import SETTINGS, arm, moved, values_of
from robot_identification.calibration.calibrate import calibrate
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.identify import identify

ROBOT = arm()
ALONE = ("Fv1", "Fc1", "Fv2", "Fc2")  # base parameters that stand for nothing but themselves


@pytest.fixture(scope="module")
def recording():
    return moved(ROBOT, values_of(ROBOT))


@pytest.mark.parametrize(
    "settings",
    [{"method": "wls"}, {"method": "energy"}, {"robust": HuberSettings()}],
    ids=["weighted least squares", "energy", "limited outliers"],
)
def test_friction_is_as_uncertain_as_it_was_identified(recording, settings):
    result = identify(ROBOT, [recording], overrides=SETTINGS, **settings)
    calibrated = calibrate(ROBOT, result, space="base")
    base = [result.regrouping.names.index(name) for name in ALONE]
    own = [calibrated.names.index(name) for name in ALONE]
    estimate = result.estimate
    np.testing.assert_allclose(calibrated.std[own], estimate.std[base], rtol=0.02)
    np.testing.assert_allclose(calibrated.std_robust[own], estimate.std_robust[base], rtol=0.02)
