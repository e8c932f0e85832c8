"""Measured and predicted effort of every joint over time, with the residual."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from robot_identification.identification.statistics.prediction import Prediction

MEASURED, PREDICTED, RESIDUAL = "#4c78a8", "#f58518", "#9d9d9d"
_HEIGHT_PER_JOINT = 1.5


def effort_figure(prediction: Prediction, title: str) -> Figure:
    """Return a figure with one panel per joint.

    Args:
        prediction: efforts to show.
        title: one line above the panels.
    """
    joints = len(prediction.joint_names)
    figure = Figure(figsize=(9.0, 0.8 + _HEIGHT_PER_JOINT * joints), layout="constrained")
    panels = figure.subplots(joints, 1, sharex=True, squeeze=False)[:, 0]
    for j, panel in enumerate(panels):
        _draw(panel, prediction, j)
    panels[0].legend(loc="upper right", ncols=3, fontsize="small", frameon=False)
    panels[-1].set_xlabel("time in s")
    figure.suptitle(title, fontsize="medium", parse_math=False)
    return figure


def _draw(panel: Axes, prediction: Prediction, joint: int) -> None:
    measured, predicted = prediction.measured[:, joint], prediction.predicted[:, joint]
    residual = np.where(prediction.kept[:, joint], measured - predicted, np.nan)
    panel.plot(prediction.time, measured, color=MEASURED, linewidth=1.2, label="measured")
    panel.plot(prediction.time, predicted, color=PREDICTED, linewidth=0.8, label="predicted")
    panel.plot(prediction.time, residual, color=RESIDUAL, linewidth=0.8, label="residual")
    panel.set_ylabel(
        f"{prediction.joint_names[joint]}\nin {prediction.units[joint]}",
        fontsize="small",
        parse_math=False,  # a name may hold dollar signs
    )
    panel.spines[["top", "right"]].set_visible(False)
    panel.margins(x=0.01)
