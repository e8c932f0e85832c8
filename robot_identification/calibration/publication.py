"""Published parameters: those nearest to the prior, made consistent, rounded and tested again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np

from robot_identification.calibration.checks import Consistency, check_consistency
from robot_identification.calibration.conditions import Box, Condition
from robot_identification.calibration.consistency import with_least_loss
from robot_identification.calibration.problem import MARGIN, Problem
from robot_identification.calibration.repair import without_loss
from robot_identification.errors import CalibrationError
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array, RobotModel, read_only

DIGITS = 10
"""Significant digits of the published values; what is checked are the rounded ones."""


class Step(Enum):
    """How the published parameters were found."""

    NEAREST = "nearest"
    """The nearest solution to the prior as it is."""
    REPAIRED = "repaired"
    """Moved where no torque shows it, until they were consistent."""
    SEMIDEFINITE = "semidefinite"
    """By a semidefinite program, with some loss of fit."""


_ATTEMPTS = (
    (Step.REPAIRED, 10.0 * MARGIN, 1.0),
    (Step.REPAIRED, 0.1 * MARGIN, 1.0),
    (Step.SEMIDEFINITE, MARGIN, 1.0),
    (Step.SEMIDEFINITE, 3.0 * MARGIN, 10.0),
    (Step.SEMIDEFINITE, 10.0 * MARGIN, 100.0),
    (Step.SEMIDEFINITE, 10.0 * MARGIN, 10000.0),
)
"""How consistent parameters are sought: step, margin, softness; the first consistent ones count."""


@by_value
@dataclass(frozen=True)
class Publication:
    """Parameters that are fit to be published.

    Attributes:
        values: (parameters of the full regressor,) rounded.
        step: how they were found.
        active: the conditions that hold them back.
        checks: every test, on the rounded values.
    """

    values: Array
    step: Step
    active: tuple[Condition, ...]
    checks: Consistency


def publish(
    problem: Problem, free: Array, *, consistent: bool, boxes: Mapping[str, Box] | None = None
) -> Publication:
    """Return the parameters to publish.

    Args:
        problem: what consistent parameters are sought for.
        free: (parameters of the model,) the nearest parameters.
        consistent: whether every link and drive has to be physically consistent.
        boxes: link name -> box that must hold its centre of mass.

    Raises:
        CalibrationError: no consistent parameters were found.
        SolverMissingError: they need the solver, and it is not installed.
    """
    robot = problem.robot
    values = _rounded(robot, free)
    checks = check_consistency(robot, values, boxes=boxes)
    if checks.consistent or not consistent:
        return Publication(values, Step.NEAREST, (), checks)
    for step, margin, softness in _ATTEMPTS:
        if step is Step.REPAIRED:
            found = without_loss(problem, free, margin)
        else:
            found = with_least_loss(problem, free, margin, softness)
        if found is not None:
            values = _rounded(robot, found)
            checks = check_consistency(robot, values, boxes=boxes)
            if checks.consistent:
                active = problem.active(values[robot.standard_indices], margin)
                return Publication(values, step, active, checks)
    raise CalibrationError(checks.problems)


def _rounded(robot: RobotModel, values: Array) -> Array:
    """Return (parameters of the full regressor,) values with the digits that are published."""
    full = np.zeros(len(robot.all_parameter_names))
    full[robot.standard_indices] = [float(f"{value:.{DIGITS}g}") for value in values]
    return read_only(full)
