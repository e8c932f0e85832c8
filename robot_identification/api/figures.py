"""Figures of results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING

from robot_identification.api.identification import validate
from robot_identification.api.sources.recordings import Run, recordings_of
from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.errors import MissingPackageError
from robot_identification.excitation.one_joint.plan import OneJointPlan
from robot_identification.excitation.plan import Plan
from robot_identification.files.atomic import check_target, write_bytes_atomically
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.statistics.prediction import Prediction
from robot_identification.identification.statistics.residuals import joint_friction
from robot_identification.identification.validate import Validation
from robot_identification.presentation import Drawn

try:
    from robot_identification.report.figures.efforts import effort_figure, frictions_figure
    from robot_identification.report.figures.excitation import (
        excitation_figure,
        singular_values_figure,
    )
    from robot_identification.report.figures.residuals import convergence_figure
    from robot_identification.report.figures.style import names_as_text, png
except ImportError as error:
    raise MissingPackageError("matplotlib", "report", "a figure") from error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robot_identification.excitation.motions.trajectory import Trajectory
    from robot_identification.robot.arrays import Array
    from robot_identification.robot.model import RobotModel


def plot(result: Drawn, path: str | Path | None = None, title: str = "") -> Figure:
    """Draw a result.

    Args:
        result: what is drawn.
        path: PNG file to be written; None: none.
        title: one line above the figure; empty: its own.

    Raises:
        OutputError: the file cannot be written.
    """
    if path is not None:
        check_target(path)
    with names_as_text():
        return written(_figure(result, title), path)


def plot_friction(
    result: IdentificationResult,
    path: str | Path | None = None,
    *,
    robot: RobotSource | None = None,
    runs: Run | Sequence[Run] = (),
    title: str = "",
) -> Figure:
    """Draw friction over velocity; see :meth:`.IdentificationResult.plot_friction`."""
    if path is not None:
        check_target(path)
    model = None if robot is None else result.model_of(robot_of(robot, closed_loops=True))
    frictions = joint_friction(result, model)
    units = [("", "")] * len(frictions)
    predictions: list[Prediction] = []
    if model is not None:
        units = [joint.rate_units for joint in model.active_joints]
        recordings = recordings_of(model, runs)
        if recordings:
            validation = validate(model, result, recordings)
            predictions = [validation.prediction(i) for i in range(len(recordings))]
    own = f"{result.robot}: friction over velocity"
    with names_as_text():
        return written(frictions_figure(frictions, predictions, units, title or own), path)


def motion_figure(
    robot: RobotModel,
    trajectory: Trajectory,
    title: str,
    singular_values: tuple[Array, Array] | None = None,
) -> Figure:
    """Return a motion inside its limits, and singular values before and after the search."""
    with names_as_text():
        return excitation_figure(robot, trajectory, title, singular_values=singular_values)


def written(figure: Figure, path: str | Path | None) -> Figure:
    """Write a figure as a PNG file, where one is named, and return it."""
    if path is not None:
        write_bytes_atomically(path, png(figure))
    return figure


@singledispatch
def _figure(result: Drawn, title: str) -> Figure:
    raise NotImplementedError(f"there is no figure of {result!r}")


@_figure.register(Validation)
def _(result: Validation, title: str) -> Figure:
    """Return measured and predicted effort of the first recording."""
    own = f"{result.base.robot.name}: effort of {result.recordings[0].source}, predicted"
    return effort_figure(result.prediction(), title or own)


@_figure.register(IdentificationResult)
def _(result: IdentificationResult, title: str) -> Figure:
    """Return how the iterations went, or how well the motion tells the parameters apart."""
    if result.history is not None:
        figure = convergence_figure(result.history, result.joint_names)
    else:
        figure = singular_values_figure(result.estimate.singular_values, None)
    if title:
        figure.suptitle(title)
    return figure


@_figure.register(Plan)
def _(result: Plan, title: str) -> Figure:
    """Return the motion inside its limits, and the singular values."""
    own = (
        f"{result.robot}: {result.settings.model} model, {result.rows} rows, "
        f"{result.trajectory.duration:.1f} s"
    )
    values = result.before.singular_values, result.after.singular_values
    return motion_figure(result.description, result.trajectory, title or own, values)


@_figure.register(OneJointPlan)
def _(result: OneJointPlan, title: str) -> Figure:
    """Return the motion inside its limits."""
    own = f"{result.robot}: one joint at a time, {result.trajectory.duration:.1f} s"
    return motion_figure(result.description, result.trajectory, title or own)
