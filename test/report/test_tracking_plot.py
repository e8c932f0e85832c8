"""Tracking errors are drawn joint by joint, and summed up in numbers."""

import numpy as np
import pytest

from robot_identification.report.figures.style import png
from robot_identification.robot.files.loading import load_robot
from tracking_plot import rms_table, tracking_figure

ROBOT = load_robot("stanford")
TIME = np.linspace(0.0, 1.0, 11)
RUNS = {
    "prior": (TIME, np.full((11, 6), 2e-3)),
    "identified": (TIME[:5], np.full((5, 6), 1e-4)),
}


def test_every_joint_has_a_panel_with_every_run():
    figure = tracking_figure(ROBOT, RUNS, "Stanford arm")
    assert len(figure.axes) == 6
    for joint, panel in zip(ROBOT.joints, figure.axes, strict=True):
        assert panel.get_ylabel().startswith(joint.name)
        lines = panel.get_lines()
        assert [len(line.get_xdata()) for line in lines] == [11, 5]
        np.testing.assert_allclose(lines[0].get_ydata(), 2.0)
    assert figure.axes[2].get_ylabel().endswith("mm")
    assert figure.axes[0].get_ylabel().endswith("mrad")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "prior: 2e-3 rms",
        "identified: 0.1e-3 rms",
    ]
    assert png(figure).startswith(b"\x89PNG")


def test_root_mean_squares_are_those_of_the_joints_and_of_all():
    error = np.tile([[3e-3, 0.0], [-3e-3, 0.0]], (4, 1))
    table = rms_table(("a", "b"), {"prior": (np.arange(8), error)})
    assert table["prior"]["a"] == pytest.approx(3e-3)
    assert table["prior"]["b"] == 0.0
    assert table["prior"]["total"] == pytest.approx(3e-3 / np.sqrt(2))
