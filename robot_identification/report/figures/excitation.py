"""Singular values of the regressor of a motion, for exciting trajectories and results."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from robot_identification.report.figures import style
from robot_identification.robot.model import Array


def singular_values_figure(
    values: Array, scaled: Array | None, *, width: float = style.WIDE
) -> Figure:
    """Return the singular values, of the regressor as it is and with columns of unit norm.

    Args:
        values: (parameters,) of the weighted regressor, largest first.
        scaled: (parameters,) with columns of unit norm; None where they are not known.
        width: in inches.
    """
    figure = style.sheet(width, 2.9, top=0.15, bottom=0.8)
    panel = figure.subplots()
    drawn = [("weighted regressor", style.MEASURED, "o", values)]
    if scaled is not None:
        drawn.append(("columns of unit norm", style.PREDICTED, "s", scaled))
    for name, color, marker, own in drawn:
        positive = own[own > 0.0]
        condition = positive[0] / positive[-1] if len(positive) else np.inf
        panel.plot(
            np.arange(1, len(positive) + 1),
            positive / positive[0] if len(positive) else positive,
            color=color,
            marker=marker,
            markersize=3.2,
            linewidth=1.0,
            label=f"{name}, condition number {condition:.3g}",
        )
    style.decades(panel)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlabel("number")
    panel.set_ylabel("over the largest")
    panel.grid()
    figure.legend(loc="lower left", ncols=1 if width < style.WIDE else 2)
    return figure
