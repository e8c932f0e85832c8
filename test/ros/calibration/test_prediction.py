"""What the calibration node says of residuals, without a process."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import JointState

from live_nodes import BEGIN, RATE, ROBOT, TRUTH, motion
from robot_identification.calibration.model.monitor import ModelMonitor, ResidualReference
from robot_identification.ros.calibration.parameters import CalibrationParameters
from robot_identification.ros.calibration.prediction import Prediction
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.messages.common import time_of
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


class Arm:
    """The topic `joint_states`, and the predictions that come of it.

    Args:
        made: the node.
        rate: of the predictions in Hz, 0 for all.
        efforts: what publishes external efforts of the same states.
    """

    topic = "/joint_states"

    def __init__(self, made, rate=0.0, efforts=None):
        values = CalibrationParameters(robot="scara", predicted_rate=rate)
        self.prediction = Prediction(made, ROBOT, None, SimpleNamespace(now=values), efforts)
        self.monitor = ModelMonitor(ROBOT, TRUTH, LEVEL)
        self.prediction.use(self.monitor)
        self.prediction._states, self._waiting = self, []
        self.predicted = []
        self.prediction._publisher = SimpleNamespace(publish=self.predicted.append)

    def take(self, most):
        """Give out what waits, as a subscription does."""
        taken, self._waiting = self._waiting[:most], self._waiting[most:]
        return iter(taken)

    def send(self, stamps, position, effort, velocity=None):
        """Send states, and let them be worked on in blocks of ten."""
        rows = zip(stamps.tolist(), position.tolist(), effort.tolist(), strict=True)
        for number, (stamp, q, tau) in enumerate(rows, 1):
            state = JointState(name=list(ROBOT.joint_names), position=q, effort=tau)
            if velocity is not None:
                state.velocity = velocity[number - 1].tolist()
            state.header.stamp = time_of(stamp)
            self._waiting.append(state)
            if number % 10 == 0 or number == len(stamps):
                self.prediction._work_on(whole=True)


STAMPS = BEGIN + np.rint(np.arange(800) * 1e9 / RATE).astype(np.int64)


@pytest.mark.parametrize("rate", [0.0, 50.0])
def test_predictions_go_on_after_the_clock_was_set_back(rate):
    q, tau = (signal[: len(STAMPS)] for signal in motion())
    with node() as made:
        arm = Arm(made, rate)
        arm.send(STAMPS, q, tau)
        before = len(arm.predicted)
        arm.send(STAMPS - 10**11, q, tau)
    assert before > 320
    assert len(arm.predicted) == 2 * before
    assert stamp_of(arm.predicted[before]) == STAMPS[0] - 10**11


def test_predictions_wait_until_external_efforts_have_been_handed_on():
    q, tau = (signal[: len(STAMPS)] for signal in motion())
    handed_on = []
    with node() as made:
        alone, beside = Arm(made), Arm(made, efforts=SimpleNamespace(push=handed_on.append))
        for arm in (alone, beside):
            arm.send(STAMPS, q, tau)
        assert sum(map(len, handed_on)) == len(STAMPS)
        waiting = len(alone.predicted) - len(beside.predicted)
        beside.prediction._send(until=0.0)  # no time is left
        assert len(alone.predicted) - len(beside.predicted) == waiting > 0
        beside.prediction._send()
    assert [stamp_of(one) for one in beside.predicted] == [stamp_of(one) for one in alone.predicted]


@pytest.mark.parametrize(
    ("stamp", "words"),
    [(0, "refused: the joint states carry no stamps"), (BEGIN, "refused: the stamps of the joint")],
)
def test_a_driver_that_repeats_its_stamp_is_told_and_takes_no_memory(stamp, words):
    q, tau = motion()
    with node() as made:
        arm = Arm(made)
        arm.send(np.full(len(q), stamp), q, tau)
        report = arm.prediction.report()
    assert report.level == DiagnosticStatus.ERROR
    assert words in report.message
    assert arm.monitor._motion.waiting == 1
