"""The residual of one joint: over frequency, and how its values are distributed."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from robot_identification.identification.history import History
from robot_identification.identification.statistics.residuals import JointResidual
from robot_identification.report.figures import style


def convergence_figure(
    history: History, joint_names: tuple[str, ...], *, width: float = style.WIDE
) -> Figure:
    """Return the torque error of every iteration, total and per joint, and the parameter change.

    Args:
        history: iterations from the start on.
        joint_names: names of the joints.
        width: in inches; below the full width the panels stand one above the other.
    """
    beside = width >= style.WIDE
    figure = style.sheet(width, 3.3 if beside else 5.6, bottom=0.85)
    errors, changes = figure.subplots(*((1, 2) if beside else (2, 1)))
    figure.subplots_adjust(wspace=0.16, hspace=0.4)
    numbers = np.array([i.number for i in history.iterations])
    total = np.array([i.torque_error.total for i in history.iterations])
    for joint, name in enumerate(joint_names):
        color = style.JOINTS[joint % len(style.JOINTS)]
        own = np.array([i.torque_error.joints[joint] for i in history.iterations])
        errors.plot(numbers, own, color=color, linewidth=1.0, label=style.plain(name))
        floor = history.noise_floor[joint]
        if floor > 0.0:
            errors.axhline(floor, color=color, linewidth=0.7, linestyle=":")
    errors.plot(numbers, total, "o-", color=style.INK, linewidth=1.8, markersize=3.5, label="total")
    style.titled(errors, "torque error", "dotted: noise floor")
    errors.set_ylabel("fraction of the effort")
    steps = history.iterations[1:]
    changes.plot(
        [i.number for i in steps],
        [max(i.parameter_change, 1e-12) for i in steps],
        "o-",
        color=style.MEASURED,
        linewidth=1.3,
        markersize=3.5,
    )
    style.titled(changes, "largest relative change of a parameter", longest=60)
    for panel in (errors, changes):
        style.decades(panel)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.set_xlabel("iteration")
        panel.grid()
    figure.legend(loc="lower left", ncols=7 if beside else 3)
    return figure


_HEIGHT = 2.4
_REACH = 4.0  # standard deviations that the histogram shows
_BINS = 33


def spectrum_figure(residual: JointResidual, *, width: float = style.HALF) -> Figure:
    """Return the amplitude densities of residual and measured effort.

    Args:
        residual: with a spectrum.
        width: in inches.
    """
    figure = style.sheet(width, _HEIGHT)
    panel = figure.subplots()
    for density, color, size, name in (
        (residual.effort_density, style.MEASURED, 0.9, "measured effort"),
        (residual.density, style.RESIDUAL, 1.3, "residual"),
    ):
        shown = density > 0.0
        panel.plot(
            residual.frequency[shown],
            np.sqrt(density[shown]),
            color=color,
            linewidth=size,
            label=name,
        )
    style.decades(panel)
    style.titled(panel, residual.joint, f"row to row {residual.autocorrelation:+.2f}")
    panel.set_xlabel("frequency in Hz")
    panel.set_ylabel(f"{residual.unit} / √Hz")
    panel.margins(x=0.01)
    panel.grid()
    panel.legend(loc="upper right", handlelength=1.4)
    return figure


def histogram_figure(residual: JointResidual, *, width: float = style.HALF) -> Figure:
    """Return the distribution of the residual over its standard deviation, and a normal one.

    Args:
        residual: with at least one row.
        width: in inches.
    """
    figure = style.sheet(width, _HEIGHT)
    panel = figure.subplots()
    scaled = residual.values / residual.std if residual.std > 0.0 else residual.values
    clipped = np.clip(scaled, -_REACH, _REACH)
    panel.hist(
        clipped, bins=_BINS, range=(-_REACH, _REACH), density=True, color=style.RESIDUAL, alpha=0.55
    )
    grid = np.linspace(-_REACH, _REACH, 161)
    normal = np.exp(-(grid**2) / 2.0) / np.sqrt(2.0 * np.pi)
    panel.plot(grid, normal, color=style.PREDICTED, linewidth=1.3, label="normal")
    style.titled(panel, residual.joint, f"std {residual.std:.3g} {residual.unit}")
    panel.set_xlabel("residual in standard deviations")
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    panel.legend(loc="upper right", handlelength=1.4)
    return figure
