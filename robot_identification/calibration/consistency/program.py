"""Physically consistent standard parameters at the least loss of fit: a semidefinite program.

Where no consistent parameters have the torque that was identified, a semidefinite program gives up
as little of it as it must.  Its objective is the torque error itself, through the triangular
factor, and the distance to the prior.  (Projecting each link by itself after least squares can
wreck the prediction of the torque.)

Standard parameters can be moved along the null space of the factor without any torque showing it.
Gautier and Venture 2013, section V-B, adjust them there by hand until Sylvester's conditions hold,
and note that they depend on each other; here a semidefinite program moves them all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from robot_identification.calibration.consistency.boxes import Boxes
from robot_identification.calibration.consistency.checks import Consistency, check_consistency
from robot_identification.calibration.consistency.conditions import Condition
from robot_identification.calibration.consistency.scales import Scales
from robot_identification.calibration.consistency.semidefinite import Inequality, least_squares
from robot_identification.calibration.prior import Prior
from robot_identification.calibration.standard import StandardSystem, decompose
from robot_identification.errors import CalibrationError
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel

MARGIN = 1e-4
"""Smallest eigenvalue asked of every condition, relative to the size of its link or drive."""

_NOMINAL_WEIGHT = 0.1  # of the tie to a nominal machine, where the prior gives nothing
_LEAST_NOISE = 1e-5  # of the effort: nobody measures better
_ACTIVE = 1.5  # times the margin: a condition with a smaller eigenvalue holds the solution


@dataclass(frozen=True)
class Problem:
    """Parameters, prior and noise of the search for consistent parameters.

    Attributes:
        robot: the robot.
        system: the weighted system of the identification.
        prior: what is known before.
        scales: sizes of the parameters.
        conditions: what must be positive.
    """

    robot: RobotModel
    system: StandardSystem
    prior: Prior
    scales: Scales
    conditions: tuple[Condition, ...]

    @property
    def sizes(self) -> Array:
        """(parameters,) sizes of the parameters of the model."""
        return np.asarray(self.scales.parameters[self.robot.standard_indices])

    @property
    def noise(self) -> float:
        """Standard deviation of the weighted residual; above zero."""
        return max(self.system.rest / self._root_of_freedom, self.least_noise)

    @property
    def least_noise(self) -> float:
        """What the noise is at least, however well the parameters fit; above zero."""
        size = float(np.linalg.norm(self.system.right))
        return max(_LEAST_NOISE * size / self._root_of_freedom, np.finfo(float).tiny)

    def eigenvalues(self, values: Array) -> Array:
        """Return the smallest eigenvalue of every condition, relative to its size.

        Args:
            values: (parameters of the model,) standard parameters.
        """
        return np.array(
            [
                np.linalg.eigvalsh(self._relative(c) @ values + self._constant(c))[0]
                for c in self.conditions
            ]
        )

    def inequalities(self, offset: Array, basis: Array, margin: float) -> list[Inequality]:
        """Return the conditions on y, with the parameters offset + basis y.

        Args:
            offset: (parameters of the model,).
            basis: (parameters of the model, variables).
            margin: smallest eigenvalue, relative to the sizes.
        """
        found = []
        for condition in self.conditions:
            relative = self._relative(condition)
            constant = relative @ offset + self._constant(condition)
            constant -= margin * np.eye(condition.size)
            linear = relative @ basis
            if condition.diagonal:
                rows = range(condition.size)
                found += [
                    Inequality(linear[i : i + 1, i : i + 1], constant[i : i + 1, i : i + 1])
                    for i in rows
                ]
            else:
                found.append(Inequality(linear, constant))
        return found

    def active(self, values: Array, margin: float) -> tuple[Condition, ...]:
        """Return the conditions that hold the solution back: those at the margin."""
        eigenvalues = self.eigenvalues(values)
        at_margin = eigenvalues <= _ACTIVE * margin
        return tuple(c for c, at in zip(self.conditions, at_margin, strict=True) if at)

    def distance_rows(self) -> tuple[Array, Array]:
        """Return weights w and targets t: the distance is |w (chi / sizes - t)|.

        Where the prior gives no value, a weak tie to a nominal machine makes the solution unique.
        """
        known = self.prior.known
        nominal = self.scales.nominal[self.robot.standard_indices]
        target = np.where(known, self.prior.values, nominal) / self.sizes
        return np.where(known, 1.0, _NOMINAL_WEIGHT), target

    @property
    def _root_of_freedom(self) -> float:
        return float(np.sqrt(max(self.system.rows - len(self.system.right), 1)))

    def _relative(self, condition: Condition) -> Array:
        d = self.scales.of(condition)
        columns = condition.basis[:, :, self.robot.standard_indices]
        return np.asarray(columns / np.outer(d, d)[:, :, None])

    def _constant(self, condition: Condition) -> Array:
        """Return the (size, size) part of a condition that no parameter changes, as relative."""
        d = self.scales.of(condition)
        return np.asarray(condition.constant / np.outer(d, d))


def owners(active: Sequence[Condition], *kinds: str) -> tuple[str, ...]:
    """Return the names of the owners of conditions of some kinds, each once."""
    return tuple(dict.fromkeys(c.owner for c in active if c.kind in kinds))


def without_loss(problem: Problem, values: Array, margin: float = MARGIN) -> Array | None:
    """Move parameters along the null space of the factor until every condition holds.

    Of all parameters that meet the conditions with the margin, the nearest to the prior are chosen,
    each measured in the size of its link.

    Args:
        problem: what consistent parameters are sought for.
        values: (parameters of the model,) where to start; their torque is kept.
        margin: smallest eigenvalue asked for, relative to the sizes.

    Returns:
        (parameters of the model,) consistent parameters of the same torque; None where none exist.

    Raises:
        SolverMissingError: the solver is not installed.
    """
    sizes = problem.sizes
    projection = problem.system.projection
    silent = decompose(projection * sizes, rank=len(problem.system.right)).V2.copy()
    alone = projection[np.count_nonzero(projection, axis=1) == 1] != 0.0
    silent[alone.any(axis=0)] = 0.0  # what is a base parameter by itself shows; no rounding in it
    if not silent.shape[1]:
        return None
    weight, target = problem.distance_rows()
    A = silent * weight[:, None]
    b = weight * (target - values / sizes)
    move = least_squares(A, b, problem.inequalities(values, sizes[:, None] * silent, margin))
    return None if move is None else read_only(values + sizes * (silent @ move))


def with_least_loss(
    problem: Problem, values: Array, margin: float = MARGIN, softness: float = 1.0
) -> Array | None:
    """Find the consistent parameters that explain the torque best, near the prior.

    Minimises |R (chi - values)|^2 / s^2 + |w (chi / sizes - prior / sizes)|^2: the torque that the
    parameters change, in standard deviations of the residual, and the distance to the prior.  On
    the base parameters the first term is the torque error itself, up to a constant.

    Args:
        problem: what consistent parameters are sought for.
        values: (parameters of the model,) the parameters to be replaced; their torque is the aim.
        margin: smallest eigenvalue asked for, relative to the sizes.
        softness: factor on s; above 1 the problem is easier to solve, and the prior counts more.

    Returns:
        (parameters of the model,) consistent parameters; None where the solver fails.

    Raises:
        SolverMissingError: the solver is not installed.
    """
    sizes = problem.sizes
    W = problem.system.matrix * sizes / (softness * problem.noise)
    weight, target = problem.distance_rows()
    A = np.vstack([W, np.diag(weight)])
    b = np.concatenate([W @ (values / sizes), weight * target])
    zero = np.zeros(len(sizes))
    scaled = least_squares(A, b, problem.inequalities(zero, np.diag(sizes), margin))
    return None if scaled is None else read_only(sizes * scaled)


DIGITS = 10
"""Significant digits of the published values; what is checked are the rounded ones."""


class Step(Enum):
    """Way in which the published parameters were found."""

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
"""Attempts at consistent parameters: step, margin, softness; the first consistent ones count."""


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
    problem: Problem, free: Array, *, consistent: bool, boxes: Boxes | None = None
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
    checks = check_consistency(robot, values, boxes=boxes, apart=True)
    if checks.consistent or not consistent:
        return Publication(values, Step.NEAREST, (), checks)
    for step, margin, softness in _ATTEMPTS:
        if step is Step.REPAIRED:
            found = without_loss(problem, free, margin)
        else:
            found = with_least_loss(problem, free, margin, softness)
        if found is not None:
            values = _rounded(robot, found)
            checks = check_consistency(robot, values, boxes=boxes, apart=True)
            if checks.consistent:
                active = problem.active(values[robot.standard_indices], margin)
                return Publication(values, step, active, checks)
    raise CalibrationError(checks.problems)


def _rounded(robot: RobotModel, values: Array) -> Array:
    """Return (parameters of the full regressor,) values with the digits that are published."""
    full = np.zeros(len(robot.all_parameter_names))
    full[robot.standard_indices] = [float(f"{value:.{DIGITS}g}") for value in values]
    return read_only(full)
