"""Tracking errors of the same motion with several models fed forward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from robot_identification.robot.arrays import Array
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

COLOURS = ("#9d9d9d", "#f58518", "#4c78a8", "#54a24b")
_HEIGHT_PER_JOINT = 1.25
_MILLI = 1e3


def tracking_figure(
    robot: RobotModel,
    runs: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]],
    title: str,
) -> Figure:
    """Return a figure with one panel per joint: position less reference over time.

    Args:
        robot: the robot.
        runs: label -> (samples,) time in s and (samples, joints) errors in rad or m; drawn in
            this order, and named with the root mean square over all joints.
        title: one line above the panels.
    """
    joints = len(robot.joints)
    figure = Figure(figsize=(9.0, 0.9 + _HEIGHT_PER_JOINT * joints), layout="constrained")
    panels = figure.subplots(joints, 1, sharex=True, squeeze=False)[:, 0]
    labels = _labels({name: np.asarray(error) for name, (_, error) in runs.items()})
    for index, (name, (time, error)) in enumerate(runs.items()):
        colour = COLOURS[index % len(COLOURS)]
        for j, panel in enumerate(panels):
            values = _MILLI * np.asarray(error)[:, j]
            panel.plot(time, values, color=colour, linewidth=0.9, label=labels[name])
    for joint, panel in zip(robot.joints, panels, strict=True):
        unit = "mm" if joint.type is JointType.PRISMATIC else "mrad"
        panel.set_ylabel(f"{joint.name}\nin {unit}", fontsize="small")
        panel.spines[["top", "right"]].set_visible(False)
        panel.margins(x=0.01)
    panels[-1].set_xlabel("time in s")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(runs), frameon=False)
    figure.suptitle(title, fontsize="medium")
    return figure


def _labels(errors: Mapping[str, Array]) -> dict[str, str]:
    """Return the labels with their root mean squares, in thousandths of rad or m."""
    sizes = {name: _MILLI * np.sqrt(np.mean(np.square(error))) for name, error in errors.items()}
    return {name: f"{name}: {size:.3g}e-3 rms" for name, size in sizes.items()}


def rms_table(
    names: Sequence[str], runs: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]
) -> dict[str, dict[str, float]]:
    """Return the root mean square of the errors by run: of every joint and ``total``.

    Args:
        names: names of the joints.
        runs: as for :func:`tracking_figure`.
    """
    table = {}
    for label, (_, error) in runs.items():
        squares = np.mean(np.square(np.asarray(error, dtype=np.float64)), axis=0)
        table[label] = {
            "total": float(np.sqrt(squares.mean())),
            **dict(zip(names, map(float, np.sqrt(squares)), strict=True)),
        }
    return table
