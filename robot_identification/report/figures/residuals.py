"""The residual of one joint: over frequency, and how its values are distributed."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from robot_identification.identification.statistics.residuals import JointResidual
from robot_identification.report.figures import style

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
