"""Closed loops with explicit relations: passive joints follow active ones.

A robot with closed loops is cut open into an equivalent tree.  Its joint positions are then

    q = F(q_a),    qd = G(q_a) qd_a,    qdd = G qdd_a + dG/dt qd_a,

with the rows of G that belong to active joints those of the identity (Gautier 1991, "Application
to Graph-Structured Robots").  By the principle of virtual work the efforts of the active joints are
G^T times those of the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel

KNOWN_TO = (
    "base-parameters, identify, validate, calibrate, check, export and simulate know them, and "
    "docs/loops.md tells what does not"
)

Positions = Callable[[Array], npt.ArrayLike]
Rates = Callable[[Array, Array], npt.ArrayLike]


class TreeMotion(NamedTuple):
    """Motion of all joints of the equivalent tree.

    Attributes:
        q: (samples, joints) positions in rad or m.
        qd: (samples, joints) velocities.
        qdd: (samples, joints) accelerations.
        jacobian: (samples, joints, active) matrix G, identity rows included.
    """

    q: Array
    qd: Array
    qdd: Array
    jacobian: Array


@by_value
@dataclass(frozen=True)
class LoopConstraint:
    """Explicit relations between the passive and the active joints of a robot, as functions.

    Attributes:
        joint_names: all joints of the equivalent tree.
        passive_names: the joints that follow; the others are active.
        position: takes (samples, active) positions of the active joints, in the order of the
            robot, to the (samples, passive) positions F of ``passive_names``.
        jacobian: takes them to the (samples, passive, active) derivatives of F.
        jacobian_rate: takes positions and velocities of the active joints to the time derivative
            of ``jacobian``; needed for motions with both velocity and acceleration.
    """

    joint_names: tuple[str, ...]
    passive_names: tuple[str, ...]
    position: Positions
    jacobian: Positions
    jacobian_rate: Rates | None = None
    active: npt.NDArray[np.intp] = field(init=False)
    passive: npt.NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        place = {name: i for i, name in enumerate(self.joint_names)}
        for i, name in enumerate(self.passive_names):
            if name not in place:
                raise SettingError("passive_names", name, "no joint has this name")
            if name in self.passive_names[:i]:
                raise SettingError("passive_names", name, "stands twice")
        if len(self.passive_names) == len(self.joint_names):
            raise SettingError("passive_names", self.passive_names, "one joint must be active")
        passive = np.array([place[name] for name in self.passive_names], dtype=np.intp)
        active = np.setdiff1d(np.arange(len(self.joint_names), dtype=np.intp), passive)
        object.__setattr__(self, "passive", read_only(passive, np.intp))
        object.__setattr__(self, "active", read_only(active, np.intp))

    @property
    def active_names(self) -> tuple[str, ...]:
        """Names of the joints that can be moved independently."""
        return tuple(self.joint_names[i] for i in self.active)

    def motion(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike | None = None
    ) -> TreeMotion:
        """Return the motion of the tree for a motion of the active joints.

        Args:
            q: (samples, active) positions in rad or m.
            qd: (samples, active) velocities.
            qdd: (samples, active) accelerations; zero by default.

        Raises:
            ShapeError: if an array or the result of a function has the wrong shape.
            SettingError: if velocities and accelerations are asked for and ``jacobian_rate`` is
                missing.
        """
        given = np.asarray(q, dtype=np.float64)
        samples, active = len(given), len(self.active)
        rates = [
            np.zeros_like(given) if x is None else np.asarray(x, dtype=np.float64)
            for x in (qd, qdd)
        ]
        for name, array in zip(("q", "qd", "qdd"), (given, *rates), strict=True):
            if array.shape != (samples, active):
                raise ShapeError(name, array.shape, f"({samples}, {active})")
        full = np.empty((samples, len(self.joint_names)))
        full[:, self.active] = given
        full[:, self.passive] = self._checked("position", self.position(given), samples)
        jacobian = np.zeros((samples, len(self.joint_names), active))
        jacobian[:, self.active] = np.eye(active)
        jacobian[:, self.passive] = self._checked("jacobian", self.jacobian(given), samples, active)
        velocity = np.einsum("spa,sa->sp", jacobian, rates[0])
        acceleration = np.einsum("spa,sa->sp", jacobian, rates[1])
        if qdd is not None and rates[0].any():
            acceleration[:, self.passive] += self._bias(given, rates[0])
        return TreeMotion(full, velocity, acceleration, jacobian)

    def _bias(self, q: Array, qd: Array) -> Array:
        """Return dG/dt qd of the passive joints."""
        if self.jacobian_rate is None:
            raise SettingError(
                "jacobian_rate",
                None,
                "needed for accelerations at non-zero velocity; give it, or use the simplified or "
                "the energy model",
            )
        rate = self._checked("jacobian_rate", self.jacobian_rate(q, qd), len(q), len(self.active))
        bias: Array = np.einsum("spa,sa->sp", rate, qd)
        return bias

    def _checked(self, name: str, values: npt.ArrayLike, *leading: int) -> Array:
        array = np.asarray(values, dtype=np.float64)
        expected = (leading[0], len(self.passive_names), *leading[1:])
        if array.shape != expected:
            raise ShapeError(name, array.shape, str(expected))
        return array


def linear_constraint(robot: RobotModel) -> LoopConstraint:
    """Return the relations that a robot file declares, as a constraint.

    A robot without closed loops gives the constraint that ties nothing.

    Raises:
        SettingError: if a joint follows one that itself follows.
    """
    passive = tuple(loop.joint for loop in robot.loops)
    active = [name for name in robot.joint_names if name not in passive]
    matrix = np.zeros((len(passive), len(active)))
    for row, loop in enumerate(robot.loops):
        for name, factor in loop.equals.items():
            if name not in active:
                raise SettingError("loops", name, "follows other joints itself")
            matrix[row, active.index(name)] = factor
    linear = _Linear(read_only(matrix), read_only([loop.offset for loop in robot.loops]))
    return LoopConstraint(
        joint_names=robot.joint_names,
        passive_names=passive,
        position=linear.position,
        jacobian=linear.jacobian,
        jacobian_rate=linear.jacobian_rate,
    )


def refuse_loops(robot: RobotModel, what: str) -> None:
    """Refuse a robot with loops for something that does not know them.

    Args:
        robot: the robot.
        what: what is asked for.

    Raises:
        SettingError: it has loops.
    """
    if robot.loops:
        raise SettingError(
            "loops",
            robot.loops[0].joint,
            f"it follows other joints of {robot.name}, which {what} does not know; {KNOWN_TO}",
        )


def loop_matrix(robot: RobotModel) -> Array:
    """Return the (joints, active) matrix G of the relations q = G q_a + c that a robot declares.

    Without loops every joint is active, and G the identity.

    Raises:
        SettingError: if a joint follows one that itself follows.
    """
    constraint = linear_constraint(robot)
    matrix = np.zeros((len(robot.joints), len(constraint.active)))
    matrix[constraint.active] = np.eye(len(constraint.active))
    still = np.zeros((1, len(constraint.active)))
    matrix[constraint.passive] = np.asarray(constraint.jacobian(still))[0]
    return read_only(matrix)


def loop_offset(robot: RobotModel) -> Array:
    """Return the (joints,) positions c of :func:`loop_matrix`, in rad or m."""
    offset = np.zeros(len(robot.joints))
    for loop in robot.loops:
        offset[robot.joint_names.index(loop.joint)] = loop.offset
    return read_only(offset)


@by_value
@dataclass(frozen=True)
class _Linear:
    """Linear relations q_p = matrix q_a + offset."""

    matrix: Array
    offset: Array

    def position(self, q: Array) -> Array:
        return np.asarray(q @ self.matrix.T + self.offset)

    def jacobian(self, q: Array) -> Array:
        return np.broadcast_to(self.matrix, (len(q), *self.matrix.shape))

    def jacobian_rate(self, q: Array, _: Array) -> Array:
        return np.zeros((len(q), *self.matrix.shape))


def project(rows: npt.ArrayLike, jacobian: npt.ArrayLike) -> Array:
    """Return the part of a tree's regressor or efforts that the active joints feel.

    Args:
        rows: (samples, joints, parameters) regressor or (samples, joints) efforts of the tree.
        jacobian: (samples, joints, active) matrix G of :class:`TreeMotion`.

    Returns:
        (samples, active, parameters) or (samples, active): G^T times the rows.
    """
    transposed = np.swapaxes(np.asarray(jacobian, dtype=np.float64), 1, 2)
    values = np.asarray(rows, dtype=np.float64)
    if values.ndim == 2:
        return np.asarray((transposed @ values[:, :, None])[:, :, 0])
    return np.asarray(transposed @ values)
