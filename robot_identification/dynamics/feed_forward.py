"""Feed-forward of a model: the efforts along a reference, for a drive that adds them to its own.

The inverse dynamic model at the reference (Gautier et al. 2013, eq. 1), less what the law of the
drive adds there by itself, so that a robot with an exact model follows without any error.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics import control_kernels
from robot_identification.dynamics.direct import checked_values
from robot_identification.dynamics.regressor import Regressor
from robot_identification.dynamics.simulation import law_of
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import SettingError
from robot_identification.robot.model import RobotModel


class FeedForward:
    """Efforts that a model asks for along a reference.

    Args:
        robot: the robot; a controller that it declares is the drive that the efforts are added to.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.

    Raises:
        ShapeError: if the number of values differs.
        SampleError: if a value is NaN or infinite.
        SettingError: if the declared controller has a model of its own.
    """

    def __init__(self, robot: RobotModel, values: npt.ArrayLike) -> None:
        self._values = checked_values(robot, values)
        self._regressor = Regressor(robot, np.arange(len(self._values)))
        limits = [joint.limits.effort for joint in robot.joints]
        self._limit = np.array([np.inf if limit is None else limit for limit in limits])
        self._velocity = np.zeros(len(robot.joints))
        self._acceleration = np.zeros(len(robot.joints))
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

    def efforts(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> Floats:
        """Return efforts (samples, joints) in N m or N.

        The model's efforts are limited to those of the joints: along the reference the drive then
        gives no more, whatever it adds by itself.

        Args:
            q: (samples, joints) positions of the reference in rad or m.
            qd: (samples, joints) velocities; Coulomb friction follows their signs.
            qdd: (samples, joints) accelerations.

        Raises:
            ShapeError: if the arrays do not have the robot's number of joints or differ in shape.
        """
        model = self._regressor.dense(q, qd, qdd) @ self._values
        own = self._velocity * np.asarray(qd) + self._acceleration * np.asarray(qdd)
        return np.asarray(np.clip(model, -self._limit, self._limit) - own)
