"""What the calibration node says of residuals, without a process."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from live_nodes import ROBOT, TRUTH
from robot_identification.calibration.model.monitor import ModelMonitor, ResidualReference
from robot_identification.ros.calibration.parameters import CalibrationParameters
from robot_identification.ros.calibration.prediction import Prediction
from ros_nodes import node

LEVEL = ResidualReference(20.0, 10.0, np.zeros(2), 2, 6, np.ones(2))


@pytest.mark.parametrize(
    ("std", "words"), [(1.0, "watching"), (0.0, "watching; drift is not told: the identification")]
)
def test_that_there_is_no_level_to_compare_residuals_with_is_told(std, words):
    parameters = SimpleNamespace(now=CalibrationParameters(robot="scara"))
    with node() as made:
        prediction = Prediction(made, ROBOT, None, parameters)
        assert prediction.report().message == "no parameters yet"
        level = replace(LEVEL, residual_std=np.full(2, std))
        prediction.use(ModelMonitor(ROBOT, TRUTH, level))
        report = prediction.report()
    assert report.message[: len(words)] == words
    assert (report.message == "watching") == (std > 0.0)
    drift = {value.key: value.value for value in report.values}
    assert [drift[f"drift_{name}"] for name in ROBOT.joint_names] == ["nan", "nan"]
