"""The plot of measured and predicted effort."""

import numpy as np
import pytest

from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.statistics.prediction import predict
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.processing.settings import resolve_processing


def test_true_parameters_predict_the_measured_effort(scara_samples):
    robot = load_robot("scara")
    base = base_parameters(robot)
    values = base.values(load_values("scara", robot)[base.columns])
    recording = build_recording(scara_samples, robot.joint_names)
    prediction = predict(base, values, recording, resolve_processing(robot, [recording]))
    rest = np.where(prediction.kept, prediction.measured - prediction.predicted, 0.0)
    assert prediction.kept.mean() > 0.4
    assert np.all(np.abs(rest) < 5.0 * np.array([0.05, 0.01]))
    assert np.all(np.diff(prediction.time) > 0.0)


def test_validate_draws_a_png(run, scara_bag, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra report")
    picture = tmp_path / "efforts.png"
    run("validate", "scara", "scara", scara_bag, "--plot", picture)
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 20_000


def test_a_plot_that_cannot_be_written_is_refused_before_any_work(refusal, scara_bag, tmp_path):
    code, line = refusal("validate", "scara", "scara", scara_bag, "--plot", tmp_path)
    assert code == 2
    assert str(tmp_path) in line
