"""Friction of one joint over its velocity: identified, and as the recording shows it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from robot_identification.identification.statistics.prediction import Prediction
from robot_identification.identification.statistics.reliability import TWO_SIDED_95
from robot_identification.identification.statistics.residuals import Friction
from robot_identification.report.figures import style
from robot_identification.robot.model import Array

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
        predictions: of the recordings to show; without any, the curve alone over -1 to 1.
        units: of velocity and effort; empty where not known.
        width: in inches.
    """
    velocity, effort = _points(friction, joint, predictions)
    reach = float(np.abs(velocity).max()) if len(velocity) else 1.0
    grid = np.linspace(0.0, reach or 1.0, _GRID)
    figure = style.sheet(width, 2.6)
    panel = figure.subplots()
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
    panel.set_xlabel(f"velocity in {units[0]}" if units[0] else "velocity")
    panel.set_ylabel(f"friction in {units[1]}" if units[1] else "friction")
    panel.grid()
    return figure


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
