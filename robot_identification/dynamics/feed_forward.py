"""Feed-forward of a model: the efforts along a reference, for a drive that adds them to its own.

The inverse dynamic model at the reference (Gautier et al. 2013, eq. 1), less what the law of the
drive adds there by itself, so that a robot with an exact model follows without any error.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.direct import checked_values
from robot_identification.dynamics.kernels import control as control_kernels
from robot_identification.dynamics.regressor import Regressor
from robot_identification.dynamics.simulation.control_law import law_of
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import (
    InconsistentParametersError,
    MissingLimitError,
    SettingError,
)
from robot_identification.robot.arrays import check_finite
from robot_identification.robot.model import RobotModel


class FeedForward:
    """Efforts that a model asks for along a reference.

    Args:
        robot: the robot; a controller that it declares is the drive that the efforts are added to.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.

    Raises:
        ShapeError: if the number of values differs.
        SampleError: if a value is NaN or infinite.
        MissingLimitError: if a joint has no effort limit; without one a wrong model has no bounds.
        SettingError: if the declared controller has a model of its own.

    Attributes:
        limited: names of the joints whose efforts the last call has limited.
    """

    def __init__(self, robot: RobotModel, values: npt.ArrayLike) -> None:
        self.limited: tuple[str, ...] = ()
        self._values = checked_values(robot, values)
        self._names = robot.active_names
        loaded = robot.loaded_by(self._values)
        self._regressor = Regressor(loaded, np.arange(len(self._values)))
        limits = [joint.limits.effort for joint in robot.active_joints]
        unlimited = [n for n, limit in zip(self._names, limits, strict=True) if limit is None]
        if unlimited:
            raise MissingLimitError(unlimited[0], "effort", *unlimited[1:])
        self._limit = np.array(limits, dtype=np.float64)
        self._velocity = np.zeros(len(robot.active_joints))
        self._acceleration = np.zeros(len(robot.active_joints))
        if robot.controller is not None:
            law = law_of(robot, robot.controller)
            if law.kind == control_kernels.COMPUTED_TORQUE:
                raise SettingError(
                    "law",
                    robot.controller.law,
                    "has a model of its own; feed-forward would be twice",
                )
            self._velocity = law.velocity - (law.kv if law.kind == control_kernels.CASCADE else 0.0)
            self._acceleration = law.acceleration
        self._own_limit = np.maximum(self._limit, self._own_at_most(robot))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints of the efforts, in their order."""
        return self._names

    @property
    def limits(self) -> Floats:
        """(joints,) effort limits in N m or N."""
        return self._limit

    def _own_at_most(self, robot: RobotModel) -> Floats:
        """Return what the drive adds by itself at the limits of velocity and acceleration."""
        limits = [joint.limits for joint in robot.active_joints]
        fastest = np.array([limit.velocity or 0.0 for limit in limits])
        hardest = np.array([limit.acceleration or 0.0 for limit in limits])
        most: Floats = np.abs(self._velocity) * fastest + np.abs(self._acceleration) * hardest
        return most

    def efforts(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> Floats:
        """Return efforts (samples, joints) in N m or N.

        The model's efforts are limited to those of the joints: along the reference the drive then
        gives no more, whatever it adds by itself.  What it adds counts as far as it can at the
        limits of velocity and acceleration, so that no reference makes the efforts large.

        Args:
            q: (samples, joints) positions of the reference in rad or m.
            qd: (samples, joints) velocities; Coulomb friction follows their signs.
            qdd: (samples, joints) accelerations.

        Raises:
            ShapeError: if the arrays do not have the robot's number of joints or differ in shape.
            SampleError: if an effort would not be finite before it is limited.
        """
        with np.errstate(all="ignore"):
            model = self._model(q, qd, qdd)
            own = self._velocity * np.asarray(qd) + self._acceleration * np.asarray(qdd)
            both = np.asarray(model + own)
        check_finite("feed-forward effort", both, self._names)
        beyond = np.flatnonzero((np.abs(model) > self._limit).any(axis=0))
        self.limited = tuple(self._names[joint] for joint in beyond)
        own = np.clip(own, -self._own_limit, self._own_limit)
        return np.asarray(np.clip(model, -self._limit, self._limit) - own)

    def _model(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> Floats:
        return np.asarray(self._regressor.dense(q, qd, qdd) @ self._values)

    def require_holding(self, q: npt.ArrayLike) -> None:
        """Refuse a model that needs more than the effort limits to stand where the robot stands.

        Args:
            q: (joints,) where it stands, in rad or m.

        Raises:
            InconsistentParametersError: it does; these are not the parameters of this robot.
        """
        place = np.asarray(q, dtype=np.float64)[None]
        still = np.zeros_like(place)
        with np.errstate(all="ignore"):
            held = self._model(place, still, still)[0]
        for joint in np.flatnonzero(~(np.abs(held) <= self._limit)):
            raise InconsistentParametersError(
                f"joint {self._names[joint]}",
                f"to stand where the robot stands takes {held[joint]:.4g}, and its effort limit is "
                f"{self._limit[joint]:g}",
            )
