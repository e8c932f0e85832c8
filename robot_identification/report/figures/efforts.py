"""Measured against predicted effort of one joint over time, with the residual below."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from robot_identification.identification.statistics.prediction import Prediction
from robot_identification.identification.statistics.reliability import TWO_SIDED_95
from robot_identification.identification.statistics.residuals import Friction
from robot_identification.report.figures import style
from robot_identification.robot.arrays import Array
from robot_identification.signals.clock.stamps import Clock

_POINTS = 350
_GRID = 121


def friction_figure(
    friction: Friction,
    joint: int,
    predictions: Sequence[Prediction],
    units: tuple[str, str],
    *,
    width: float = style.HALF,
) -> Figure:
    """Return the curve of friction and offset, its interval of 95 %, and points around it.

    A point is the effort that is left when everything but friction and offset is taken away:
    measured effort less the predicted one, plus the curve at its velocity.

    Args:
        friction: what was identified.
        joint: number of the joint.
        predictions: of the recordings to show; without any, the curve alone, up to the largest
            speed where that is known, else over -1 to 1.
        units: of velocity and effort; empty where not known.
        width: in inches.
    """
    figure = style.sheet(width, 2.6)
    _friction_panel(figure.subplots(), friction, joint, predictions, units)
    return figure


def frictions_figure(
    frictions: Sequence[Friction | None],
    predictions: Sequence[Prediction],
    units: Sequence[tuple[str, str]],
    title: str,
) -> Figure:
    """Return one panel as of :func:`friction_figure` for every joint that has friction.

    Args:
        frictions: of every joint; None where it has none.
        predictions: of the recordings to show.
        units: of velocity and effort of every joint; empty where not known.
        title: one line above the panels.
    """
    shown = [(j, friction) for j, friction in enumerate(frictions) if friction is not None]
    rows = max(1, -(-len(shown) // 2))
    figure = Figure(figsize=(9.0, 0.6 + 2.4 * rows), layout="constrained")
    panels = figure.subplots(rows, 2, squeeze=False).ravel()
    for panel, (joint, friction) in zip(panels, shown, strict=False):
        _friction_panel(panel, friction, joint, predictions, units[joint])
    for panel in panels[len(shown) :]:
        panel.set_axis_off()
    figure.suptitle(title, fontsize="medium", parse_math=False)
    return figure


def _friction_panel(
    panel: Axes,
    friction: Friction,
    joint: int,
    predictions: Sequence[Prediction],
    units: tuple[str, str],
) -> None:
    velocity, effort = _points(friction, joint, predictions)
    reach = float(np.abs(velocity).max()) if len(velocity) else friction.speed
    grid = (reach or 1.0) * np.linspace(0.0, 1.0, _GRID) ** 2  # dense where laws bend
    panel.plot(velocity, effort, "o", color=style.MEASURED, alpha=0.35, markersize=2.2, mew=0.0)
    for side in (-1.0, 1.0):
        speed = side * np.maximum(grid, 1e-9 * reach)
        curve, band = friction.torque(speed), TWO_SIDED_95 * friction.torque_std(speed)
        panel.fill_between(
            speed, curve - band, curve + band, color=style.PREDICTED, alpha=0.2, linewidth=0.0
        )
        panel.plot(speed, curve, color=style.PREDICTED, linewidth=1.5)
    panel.axhline(0.0, color=style.INK, linewidth=0.5)
    panel.axvline(0.0, color=style.INK, linewidth=0.5)
    style.titled(panel, friction.joint)
    if friction.load:
        remark = f"at the mean load, {friction.load:.3g} {units[1]}".rstrip()
        panel.set_title(remark, loc="right", fontsize=8.0, color=style.MUTED, pad=3.0)
    panel.set_xlabel(f"velocity in {units[0]}" if units[0] else "velocity")
    panel.set_ylabel(f"friction in {units[1]}" if units[1] else "friction")
    panel.grid()


def _points(
    friction: Friction, joint: int, predictions: Sequence[Prediction]
) -> tuple[Array, Array]:
    if not predictions:
        return np.zeros(0), np.zeros(0)
    kept = [p.kept[:, joint] for p in predictions]
    velocity = np.concatenate(
        [p.velocity[k, joint] for p, k in zip(predictions, kept, strict=True)]
    )
    rest = np.concatenate(
        [(p.measured - p.predicted)[k, joint] for p, k in zip(predictions, kept, strict=True)]
    )
    chosen = np.linspace(0, len(velocity) - 1, min(len(velocity), _POINTS)).astype(np.intp)
    return velocity[chosen], rest[chosen] + friction.torque(velocity[chosen])


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


def thinned(time: npt.ArrayLike, values: npt.ArrayLike, buckets: int) -> tuple[Array, Array]:
    """Return the smallest and the largest value of each bucket, in their order.

    Args:
        time: (points,) rising.
        values: (points,) may hold NaN, where the line is broken.
        buckets: number of buckets; a line of up to twice as many points stays as it is.

    Returns:
        (shorter,) times and values.
    """
    t, v = np.asarray(time, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(t) <= 2 * buckets:
        return t, v
    chosen = []
    edges = np.linspace(0, len(t), buckets + 1).astype(np.intp)
    for begin, end in itertools.pairwise(edges):
        part = v[begin:end]
        sound = np.flatnonzero(np.isfinite(part))
        if not len(sound):
            chosen.append(begin)
            continue
        low, high = sound[np.argmin(part[sound])], sound[np.argmax(part[sound])]
        chosen.extend(sorted({begin + int(low), begin + int(high)}))
    return t[chosen], v[chosen]


def broken_at_gaps(
    time: npt.ArrayLike, values: npt.ArrayLike, period: float
) -> tuple[Array, Array]:
    """Return a line with NaN wherever more than one row and a half is missing.

    Args:
        time: (points,) rising, in s.
        values: (points,) at these times.
        period: of rows without a gap, in s.
    """
    t, v = np.asarray(time, dtype=np.float64), np.asarray(values, dtype=np.float64)
    gaps = np.flatnonzero(Clock(period).is_gap(np.abs(np.diff(t)))) + 1
    return np.insert(t, gaps, t[gaps - 1]), np.insert(v, gaps, np.nan)


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
