"""Observation matrices: the regressor of a model, stacked over given states."""

from __future__ import annotations

from enum import Enum

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import SettingError
from robot_identification.identification.base.states import States
from robot_identification.robot.loops import LoopConstraint, project
from robot_identification.robot.model import Array, RobotModel, TermKind


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
            from robot_identification.dynamics.energy import EnergyRegressor

            motion = self.constraint.motion(states.q, states.qd)
            return EnergyRegressor(self.robot).differences(motion.q, motion.qd)
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
            from robot_identification.dynamics.energy import EnergyRegressor

            motion = self.constraint.motion(states.q, states.qd)
            return EnergyRegressor(self.robot).dense(motion.q, motion.qd)[:, None]
        moving = self.model is Model.DYNAMIC
        velocity = states.qd if moving else np.zeros_like(states.qd)
        motion = self.constraint.motion(states.q, velocity, states.qdd)
        rows = Regressor(self.robot).dense(motion.q, motion.qd, motion.qdd)
        return project(rows, motion.jacobian) if len(self.constraint.passive) else rows

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
        return self.model is Model.SIMPLIFIED and kind.power is not None
