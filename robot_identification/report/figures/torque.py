"""Measured against predicted effort of one joint over time, with the residual below."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from robot_identification.identification.statistics.prediction import Prediction
from robot_identification.report.figures import style
from robot_identification.report.figures.thinning import broken_at_gaps, thinned
from robot_identification.robot.model import Array

_HEIGHT = 2.9
_LEGEND_ABOVE, _LEGEND_BELOW = 0.45, 0.72  # margins below the panels, in inches
_BUCKETS_PER_INCH = 65


def torque_figure(prediction: Prediction, joint: int, *, width: float = style.WIDE) -> Figure:
    """Return two panels over one time axis: both efforts, and their difference.

    Args:
        prediction: efforts of a recording.
        joint: number of the joint.
        width: in inches.
    """
    measured, predicted = prediction.measured[:, joint], prediction.predicted[:, joint]
    kept = prediction.kept[:, joint]
    rest = measured - predicted
    narrow = width < style.WIDE
    figure = style.sheet(width, _HEIGHT, bottom=_LEGEND_BELOW if narrow else _LEGEND_ABOVE)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.3, 1.0))
    figure.subplots_adjust(hspace=0.28)
    lines = (
        (upper, measured, style.MEASURED, 1.3, "measured"),
        (upper, predicted, style.PREDICTED, 0.8, "predicted"),
        (lower, np.where(kept, np.nan, rest), style.FAINT, 0.8, "not used"),
        (lower, np.where(kept, rest, np.nan), style.RESIDUAL, 0.8, "residual"),
    )
    for panel, values, color, size, name in lines:
        time, short = _line(prediction.time, values, width)
        panel.plot(time, short, color=color, linewidth=size, label=name)
    lower.axhline(0.0, color=style.INK, linewidth=0.5)
    used = measured[kept]
    norm = float(np.linalg.norm(used))
    remark = f"residual {100.0 * np.linalg.norm(rest[kept]) / norm:.3g} %" if norm else ""
    style.titled(upper, prediction.joint_names[joint], longest=40)
    lower.set_title(remark, loc="right", fontsize=8.0, color=style.MUTED, pad=3.0)
    for panel in (upper, lower):
        panel.margins(x=0.01)
        panel.grid(axis="y")
        panel.set_ylabel(prediction.units[joint])
    handles, names = upper.get_legend_handles_labels()
    rest_handles, rest_names = lower.get_legend_handles_labels()
    own = [1] if kept.all() else [1, 0]
    place = {"loc": "lower right", "bbox_to_anchor": (1.01, 0.97)}
    (figure if narrow else upper).legend(
        [*handles, *(rest_handles[i] for i in own)],
        [*names, *(rest_names[i] for i in own)],
        **({"loc": "lower left"} if narrow else place),
        ncols=4,
        handlelength=1.2,
        handletextpad=0.4,
        columnspacing=1.0,
    )
    lower.set_xlabel("time in s")
    return figure


def _line(time: Array, values: Array, width: float) -> tuple[Array, Array]:
    period = float(np.median(np.diff(time))) if len(time) > 1 else 1.0
    return thinned(*broken_at_gaps(time, values, period), round(_BUCKETS_PER_INCH * width))
