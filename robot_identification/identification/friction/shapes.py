"""Estimation of shape parameters, and of the loads that friction follows, by iteration.

Beside a term F f(v; s) stands the column F df/dlog s: its coefficient in a linear fit is the step
of Gauss and Newton from log s, and the deviation of that coefficient is the one of log s, with all
that other parameters leave open taken into account (variable projection: G. H. Golub and V.
Pereyra, SIAM J. Numerical Analysis 10(2), 1973).  Every step is one pass over the samples with one
more column for each shape parameter.  Friction that follows the load follows that of the values of
the step before; both end when nothing moves by more than a thousandth of its deviation.

A shape that the data do not tell runs away, or ends with a deviation of more than half its value.
It is held where it began then, and is no longer estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from robot_identification.dynamics.tree import Floats
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.estimators.least_squares import Estimate
from robot_identification.identification.estimators.several_bags import (
    Problem,
    coloured_std,
    solve_stacked,
)
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.friction.extended import (
    ExtendedRegressor,
    extended_rows,
)
from robot_identification.identification.rows.factor import restrict, stack
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import JointTerm
from robot_identification.robot.terms.kinds import TermKind

_STEPS = 30
LONGEST = 0.7
"""Longest step of the logarithm of a shape: a factor of two."""

_STANDS = 1e-3
"""Change, over its deviation, of a value that stands."""

AWAY = 8.0
"""Factor by which a shape that the data tell does not leave the place where it began: the grid of
candidates has a term at every factor of two."""

_TOLD = 0.5
"""Deviation over value of a shape that the data tell."""


@dataclass(frozen=True)
class Unknown:
    """A shape parameter that is estimated.

    Attributes:
        joint: place of the joint.
        term: the term whose function it shapes.
        index: its number among the shape parameters of the term.
    """

    joint: int
    term: JointTerm
    index: int

    @property
    def name(self) -> str:
        """Name, such as ``Fs3.speed`` for the speed of Stribeck's friction of joint 3."""
        return f"{self.term.name}{self.joint + 1}.{self.term.kind.shapes[self.index].name}"


@dataclass(frozen=True)
class EstimatedShape:
    """A shape parameter as estimated.

    Attributes:
        name: such as ``Fs3.speed``, for the speed of Stribeck's friction of joint 3.
        value: estimate.
        std: standard deviation.
        correlation: with the parameter of its term.
    """

    name: str
    value: float
    std: float
    correlation: float


@by_value
@dataclass(frozen=True)
class Settled:
    """A friction model whose shapes and loads stand.

    Attributes:
        source: rows with that model.
        shapes: what was estimated of the shape parameters, in their order.
        std: (base,) standard deviations with the shapes open; None where none was estimated.
        std_robust: the same for coloured residuals.
        held: shapes that the data do not tell, which stay as they were.
        steps: passes over the samples.
        converged: whether all stands.
    """

    source: WholeRows
    shapes: tuple[EstimatedShape, ...] = ()
    std: Array | None = None
    std_robust: Array | None = None
    held: tuple[Unknown, ...] = ()
    steps: int = 0
    converged: bool = True


def settle(source: WholeRows, unknowns: Sequence[Unknown], choice: Choice) -> Settled:
    """Iterate shapes and loads until they stand.

    Args:
        source: rows of a robot with all terms; shapes begin with those of its joints.
        unknowns: shape parameters to estimate.
        choice: the estimator; without weighted joints all rows count alike.

    Raises:
        NotExcitedError: the rows do not determine every parameter.
    """
    start = source.base.robot
    held: list[Unknown] = []
    while True:
        left = [unknown for unknown in unknowns if unknown not in held]
        if not left and not start.follows_load:
            return Settled(source, held=tuple(held))
        found, lost = _iterated(source, left, choice)
        if not lost:
            known = zip(left, found.shapes, strict=False)  # without unknowns there are none
            lost = [unknown for unknown, one in known if one.std > _TOLD * one.value]
        if not lost:
            return replace(found, held=tuple(held))
        held += lost


def _iterated(
    source: WholeRows, unknowns: Sequence[Unknown], choice: Choice
) -> tuple[Settled, list[Unknown]]:
    """Return what an iteration ends with, or the shapes that have run away."""
    rank, first = source.base.rank, source.base.robot
    problem = _problem(source, unknowns, choice)
    values: Array | None = None
    step, change = 0, np.inf
    while change > _STANDS and step < _STEPS:
        step += 1
        rows = extended_rows(source, _ShapeRegressor(source.base, unknowns, values), bands=False)
        factors = rows.merged()
        moves = np.zeros(len(unknowns))
        if values is None:  # a column tells a shape only when the size of its term is known
            alone = replace(problem, names=problem.names[:rank])
            found = alone.solve([restrict(factor, np.arange(rank)) for factor in factors])
        else:
            found = problem.solve(factors)
            moves = np.clip(found.values[rank:], -LONGEST, LONGEST)
            moved = np.concatenate([found.values[:rank] - values, found.values[rank:]])
            change = float(np.max(np.abs(moved) / np.maximum(found.std, np.finfo(float).tiny)))
        values = found.values[:rank]
        source = _moved(source, unknowns, moves, values)
        away = [u for u in unknowns if _ran_away(_value(source.base.robot, u), _value(first, u))]
        if away:
            return Settled(source), away
    told = _with_deviations(source, unknowns, problem, values, step)
    return replace(told, converged=change <= _STANDS), []


def _value(robot: RobotModel, unknown: Unknown) -> float:
    return robot.joints[unknown.joint].shape_of(unknown.term)[unknown.index]


def _ran_away(value: float, start: float) -> bool:
    return not 1.0 / AWAY < value / start < AWAY


def _problem(source: WholeRows, unknowns: Sequence[Unknown], choice: Choice) -> Problem:
    names = (*source.names, *(unknown.name for unknown in unknowns))
    return Problem(choice.method != "ols", names, source.divisor, Weighting())


class _ShapeRegressor(ExtendedRegressor):
    """Regressor with the derivatives over the logarithms of shapes behind."""

    def __init__(
        self, base: BaseParameters, unknowns: Sequence[Unknown], values: Array | None
    ) -> None:
        joints = range(len(base.robot.joints))
        self._unknowns = [[u for u in unknowns if u.joint == k] for k in joints]
        super().__init__(base, [len(own) for own in self._unknowns])
        self._base, self._values = base, values

    def further(
        self,
        joint: int,
        q: Floats,  # noqa: ARG002
        qd: Floats,
        qdd: Floats,  # noqa: ARG002
        load: Floats | None,  # noqa: ARG002
    ) -> list[Floats]:
        """Return the derivative of the effort over the logarithm of every shape of a joint."""
        own = self._base.robot.joints[joint]
        found = []
        for unknown in self._unknowns[joint]:
            size = 0.0
            if self._values is not None:
                size = float(self._values[place_of(self._base, unknown)])
            slope = log_slope(unknown.term.kind, qd[joint], own.shape_of(unknown.term))
            found.append(size * slope[unknown.index])
        return found


def place_of(base: BaseParameters, unknown: Unknown) -> int:
    """Return the place among the base parameters of the term that a shape belongs to."""
    return base.leading_names.index(f"{unknown.term.name}{unknown.joint + 1}")


def log_slope(kind: TermKind, v: Array, shape: Sequence[float]) -> tuple[Array, ...]:
    """Return the derivatives of a function of the rate over the logarithms of its shapes.

    Args:
        kind: a kind with shape parameters.
        v: rates.
        shape: their values.
    """
    if kind is TermKind.SMOOTH:
        part = v / shape[0]
        return (-part * (1.0 - np.tanh(part) ** 2),)
    speed, exponent = shape
    power = (np.abs(v) / speed) ** exponent
    value = np.sign(v) * np.exp(-power)
    logarithm = np.log(np.maximum(power, np.finfo(float).tiny))
    return value * exponent * power, -value * power * logarithm


def _moved(
    source: WholeRows, unknowns: Sequence[Unknown], moves: Array, values: Array
) -> WholeRows:
    """Return rows of the robot with moved shapes, loaded by new values."""
    robot = source.base.robot
    joints = list(robot.joints)
    for unknown, move in zip(unknowns, moves, strict=True):
        joint = joints[unknown.joint]
        shape = list(joint.shape_of(unknown.term))
        shape[unknown.index] *= float(np.exp(move))
        joints[unknown.joint] = replace(
            joint, shapes={**joint.shapes, unknown.term.name: tuple(shape)}
        )
    full = np.zeros(len(robot.all_parameter_names))
    full[source.base.base_columns] = values
    return with_robot(source, replace(robot, joints=tuple(joints)).loaded_by(full))


def with_robot(source: WholeRows, robot: RobotModel) -> WholeRows:
    """Return the same rows of a robot with the same base parameters."""
    return replace(source, base=replace(source.base, robot=robot))


def _with_deviations(
    source: WholeRows,
    unknowns: Sequence[Unknown],
    problem: Problem,
    values: Array | None,
    steps: int,
) -> Settled:
    if not unknowns:
        return Settled(source, steps=steps)
    rows = extended_rows(source, _ShapeRegressor(source.base, unknowns, values), bands=True)
    solved = solve_stacked(problem, rows)
    estimate: Estimate = solved.estimate
    robust = coloured_std(rows, solved)
    rank = source.base.rank
    root = stack(solved.factors, len(estimate.values), list(estimate.weights))[:-1, :-1]
    inverse = scipy.linalg.solve_triangular(root, np.eye(len(root)))
    covariance = inverse @ inverse.T
    shapes = []
    for number, unknown in enumerate(unknowns, rank):
        amplitude = place_of(source.base, unknown)
        value = _value(source.base.robot, unknown)
        together = covariance[number, amplitude]
        alone = np.sqrt(covariance[number, number] * covariance[amplitude, amplitude])
        deviation = max(float(estimate.std[number]), float(robust[number]))
        correlation = float(together / alone)
        shapes.append(EstimatedShape(unknown.name, value, value * deviation, correlation))
    return Settled(
        source,
        tuple(shapes),
        read_only(estimate.std[:rank]),
        read_only(robust[:rank]),
        steps=steps,
    )
