"""Singular values of the regressor of a motion, for exciting trajectories and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.ticker import MaxNLocator

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.report.figures import style
from robot_identification.robot.arrays import Array
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

MOTION, APPROACH, LIMIT, BEFORE, AFTER = "#4c78a8", "#9d9d9d", "#d62728", "#f58518", "#4c78a8"
_HEIGHT_PER_JOINT = 1.15
_LEAST_HEIGHT = 4.6
_ROOM = 1.18  # range of a panel as a multiple of the limits
_SAMPLES = 2000
_RATES = ("position", "velocity", "acceleration")
_PER_TIME = ("", "/s", "/s²")


def excitation_figure(
    robot: RobotModel,
    trajectory: Trajectory,
    title: str,
    *,
    singular_values: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    approach: Trajectory | None = None,
) -> Figure:
    """Return a figure with three panels per joint, and one of the singular values.

    Args:
        robot: the robot, with limits of position, velocity and acceleration.
        trajectory: joints in the robot's order.
        title: one line above the panels.
        singular_values: of the system at the random start and along the plan, largest first.
        approach: the way to the start, drawn before time 0.

    Raises:
        MissingLimitError: a joint lacks a limit.
    """
    joints = len(robot.joints)
    height = max(_LEAST_HEIGHT, 1.3 + _HEIGHT_PER_JOINT * joints)
    figure = Figure(figsize=(13.0 if singular_values else 10.0, height), layout="constrained")
    figure.suptitle(title, fontsize="medium")
    if singular_values is None:
        motion: FigureBase = figure
    else:
        parts: Any = figure.subfigures(1, 2, width_ratios=(3.2, 1.0))
        motion, side = parts
        _draw_singular_values(side.subplots(), *map(np.asarray, singular_values))
    panels = motion.subplots(joints, 3, sharex=True, squeeze=False)
    _draw_motion(panels, robot, trajectory, approach)
    motion.legend(
        *panels[0, 0].get_legend_handles_labels(),
        loc="outside lower left",
        ncols=3,
        fontsize="small",
        frameon=False,
    )
    return figure


def _draw_motion(
    panels: npt.NDArray[np.object_],
    robot: RobotModel,
    trajectory: Trajectory,
    approach: Trajectory | None,
) -> None:
    bounds = _bounds(MotionLimits.of(robot))
    phases = [("trajectory", MOTION, *_sampled(trajectory, 0.0))]
    if approach is not None:
        phases.append(("approach", APPROACH, *_sampled(approach, -approach.duration)))
    for (j, order), panel in np.ndenumerate(panels):
        for name, color, time, values in phases:
            panel.plot(time, values[order][:, j], color=color, linewidth=1.1, label=name)
        lower, upper = bounds[order]
        _draw_limits(panel, float(lower[j]), float(upper[j]))
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize="small")
        panel.margins(x=0.01)
        unit = "m" if robot.joints[j].type is JointType.PRISMATIC else "rad"
        panel.set_ylabel(f"{unit}{_PER_TIME[order]}", fontsize="small")
        if order == 0:
            panel.annotate(
                robot.joint_names[j], (0.01, 1.04), xycoords="axes fraction", fontsize="small"
            )
    for panel, name in zip(panels[0], _RATES, strict=True):
        panel.set_title(name, fontsize="medium", pad=12)
    for panel in panels[-1]:
        panel.set_xlabel("time in s", fontsize="small")
    panels[0, 0].figure.align_ylabels(panels)


def _bounds(limits: MotionLimits) -> Sequence[tuple[Array, Array]]:
    return (
        (limits.lower, limits.upper),
        (-limits.velocity, limits.velocity),
        (-limits.acceleration, limits.acceleration),
    )


def _sampled(trajectory: Trajectory, begin: float) -> tuple[Array, tuple[Array, Array, Array]]:
    """Return times that start at ``begin``, and positions, velocities, accelerations at them."""
    time = np.linspace(0.0, trajectory.duration, _SAMPLES)
    return time + begin, trajectory.sample(time + trajectory.times[0])


def _draw_limits(panel: Axes, lower: float, upper: float) -> None:
    for bound, label in ((upper, "limit"), (lower, None)):
        panel.axhline(bound, color=LIMIT, linestyle="--", linewidth=0.9, label=label)
    middle, half = (upper + lower) / 2.0, (upper - lower) / 2.0
    panel.set_ylim(middle - _ROOM * half, middle + _ROOM * half)


def _draw_singular_values(panel: Axes, before: Array, after: Array) -> None:
    for name, color, marker, values in (
        ("random start", BEFORE, "o", before),
        ("plan", AFTER, "s", after),
    ):
        condition = values[0] / values[-1] if values[-1] > 0.0 else np.inf
        panel.plot(
            np.arange(1, len(values) + 1),
            values,
            color=color,
            marker=marker,
            markersize=3.5,
            linewidth=1.0,
            label=f"{name}, condition number {condition:.3g}",
        )
    panel.set_yscale("log")
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_title("singular values of the\nobservation matrix", fontsize="medium")
    panel.set_xlabel("number", fontsize="small")
    panel.tick_params(labelsize="small")
    panel.grid(axis="y", color="#e5e5e5", linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), fontsize="small", frameon=False)


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
