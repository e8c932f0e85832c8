"""Observation matrices: the regressor of a model, stacked over given or random states."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array
from robot_identification.robot.joint import JointType
from robot_identification.robot.loops import LoopConstraint, project
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.kinds import TermKind

if TYPE_CHECKING:
    from robot_identification.dynamics.energy import EnergyRegressor

# With these ranges inertial, centrifugal and gravity efforts are of one order of magnitude.
_VELOCITY = 3.0
_ACCELERATION = 10.0
_SLIDE = (0.1, 1.0)
# Friction that fades within a speed (Stribeck) or sets in within it is told by motion up to twice
# that speed: in one of so many states, in which the other joints move as they do.
_FADED, _SLOW_ONE_IN = 2.0, 3


class States(NamedTuple):
    """Positions, velocities and accelerations of the active joints, (samples, active) each."""

    q: Array
    qd: Array
    qdd: Array


def ranges(robot: RobotModel, constraint: LoopConstraint) -> Array:
    """Return (3, active) half ranges of position, velocity and acceleration.

    Revolute joints turn half a turn to either side.  Prismatic joints move as far as the links
    are long (between 0.1 m and 1 m), so that both kinds move the links alike.
    """
    lengths = [float(np.linalg.norm(joint.translation)) for joint in robot.joints]
    slide = float(np.clip(max(lengths), *_SLIDE))
    kinds = [robot.joints[i].type for i in constraint.active]
    size = np.array([slide if kind is JointType.PRISMATIC else 1.0 for kind in kinds])
    turn = np.array([slide if kind is JointType.PRISMATIC else np.pi for kind in kinds])
    return np.array([turn, _VELOCITY * size, _ACCELERATION * size])


def slow_ranges(robot: RobotModel, constraint: LoopConstraint) -> Array:
    """Return (active,) half ranges of velocity that tell friction near standstill.

    They are infinite where no friction has a speed in which it fades or sets in.  Of a joint that
    follows others they are those at which its own speed is that, by its rates at position zero.
    """
    speeds = [
        min(
            (joint.shape_of(term)[0] for term in joint.joint_terms if term.kind.shapes),
            default=np.inf,
        )
        for joint in robot.joints
    ]
    found = np.array(speeds)[constraint.active]
    if follower_is_slow(robot, constraint):
        rates = np.abs(np.asarray(constraint.jacobian(np.zeros((1, len(found)))))[0])
        for rate, place in zip(rates, constraint.passive, strict=True):
            own = speeds[place] / max(1.0, float(rate.sum()))
            found = np.where(rate > 0.0, np.minimum(found, own), found)
    return _FADED * found


def follower_is_slow(robot: RobotModel, constraint: LoopConstraint) -> bool:
    """Tell whether a joint that follows others has friction that is told near standstill only."""
    passive = [robot.joints[place] for place in constraint.passive]
    return any(term.kind.shapes for joint in passive for term in joint.joint_terms)


def random_states(
    half_ranges: Array,
    samples: int,
    rng: np.random.Generator,
    slow: Array | None = None,
    *,
    together: bool = False,
) -> States:
    """Return independent, evenly distributed states.

    Args:
        half_ranges: (3, active) as from :func:`ranges`.
        samples: number of states.
        rng: source of the numbers; the same seed gives the same states.
        slow: (active,) as from :func:`slow_ranges`, for the velocity in a third of the states.
        together: whether in a sixth of the states all joints are slow, so that those are that
            follow several of them.
    """
    joints = half_ranges.shape[1]
    numbers = rng.uniform(-1.0, 1.0, size=(3, samples, joints))
    states = States(*(numbers * half_ranges[:, None]))
    if slow is not None:
        # Joints are slow in turn: one that stood whenever another does would tell less.
        is_slow = (np.arange(samples)[:, None] + np.arange(joints)) % _SLOW_ONE_IN == 0
        if together:
            is_slow[:: 2 * _SLOW_ONE_IN] = True
        narrow = np.where(is_slow, np.minimum(slow, half_ranges[1]), half_ranges[1])
        states = states._replace(qd=numbers[1] * narrow)
    return states


class Model(Enum):
    """The three models that are linear in the parameters (Gautier 1991)."""

    DYNAMIC = "dynamic"
    SIMPLIFIED = "simplified"
    ENERGY = "energy"

    @classmethod
    def named(cls, name: str | Model) -> Model:
        """Return the model of a name.

        Raises:
            SettingError: there is no such model.
        """
        try:
            return cls(name)
        except ValueError:
            choices = ", ".join(model.value for model in cls)
            raise SettingError("model", name, f"must be one of {choices}") from None


class Observation:
    """Stacked rows of one model of a robot.

    The dynamic model is d(q, qd, qdd), the simplified one d(q, 0, qdd), the energy model the
    differences of h(q, qd) (eq. 5-12); closed loops project the efforts by G^T.

    Args:
        robot: the robot.
        model: which model.
        constraint: explicit relations of its closed loops.

    Attributes:
        columns: (standard,) columns of the full regressor.
        contained: (standard,) which of them the model contains.
    """

    def __init__(self, robot: RobotModel, model: Model, constraint: LoopConstraint) -> None:
        self.robot = robot
        self.model = model
        self.constraint = constraint
        self._tree = replace(robot, loops=())
        self.columns = robot.standard_indices
        self.contained = self._contained()

    def matrix(self, states: States) -> Array:
        """Return the stacked rows W of given states.

        Returns:
            (rows, standard): samples * active joints rows, or samples - 1 for the energy model.

        Raises:
            ShapeError: if the states do not fit the constraint.
            SettingError: if the constraint cannot give accelerations.
        """
        if self.model is Model.ENERGY:
            motion = self.constraint.motion(states.q, states.qd)
            return self._energies.differences(motion.q, motion.qd)
        rows = self.blocks(states)
        return rows.reshape(-1, rows.shape[2])

    def blocks(self, states: States) -> Array:
        """Return the rows that belong to each sample.

        Returns:
            (samples, active, standard) efforts per unit of each parameter; (samples, 1, standard)
            energies, not differences, for the energy model.

        Raises:
            ShapeError: if the states do not fit the constraint.
            SettingError: if the constraint cannot give accelerations.
        """
        if self.model is Model.ENERGY:
            motion = self.constraint.motion(states.q, states.qd)
            return self._energies.dense(motion.q, motion.qd)[:, None]
        moving = self.model is Model.DYNAMIC
        velocity = states.qd if moving else np.zeros_like(states.qd)
        motion = self.constraint.motion(states.q, velocity, states.qdd)
        rows = self._efforts.dense(motion.q, motion.qd, motion.qdd)
        return project(rows, motion.jacobian) if len(self.constraint.passive) else rows

    @cached_property
    def _efforts(self) -> Regressor:
        return Regressor(self._tree)

    @cached_property
    def _energies(self) -> EnergyRegressor:
        from robot_identification.dynamics.energy import EnergyRegressor

        return EnergyRegressor(self._tree)

    def samples_for(self, rows: int) -> int:
        """Return how many samples give at least that many rows."""
        if self.model is Model.ENERGY:
            return rows + 1
        return -(-rows // len(self.constraint.active))

    def _contained(self) -> npt.NDArray[np.bool_]:
        robot = self.robot
        missing = {c.parameter for c in robot.couplings if self._lacks(c.kind)}
        absent = np.zeros(len(robot.all_parameter_names), dtype=np.bool_)
        for place, term in robot.layout.places:
            robot.layout.table(absent)[:, place] = self._lacks(term.kind)
        if self.model is not Model.DYNAMIC:
            missing |= {own.name for term in robot.user_terms for own in term.parameters}
        # States have no temperatures: what changes with them is independent of all else.
        missing |= {own.parameter.name for own in robot.temperature_terms}
        result = np.array([name not in missing for name in robot.standard_names])
        result &= ~absent[robot.standard_indices]
        if self.model is Model.ENERGY:
            from robot_identification.dynamics.energy import EnergyRegressor

            result &= EnergyRegressor(robot).contained
        return result

    def _lacks(self, kind: TermKind) -> bool:
        """Tell whether the model has no place for terms of a kind."""
        if self.model is Model.ENERGY:
            return not kind.stores_energy
        return self.model is Model.SIMPLIFIED and kind.dissipates
