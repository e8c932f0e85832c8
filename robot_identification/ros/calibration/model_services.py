"""Services of the calibration node that ask the last calibrated model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.model.queries import CalibratedModel, ModelValues
from robot_identification.errors import ResultFileError, SettingError, ShapeError
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common import qos
from robot_identification.ros.common.jobs import JobSlot
from robot_identification.ros.messages.common import floats, time_of
from robot_identification.signals.joint_columns import JointColumns
from robot_identification.srv import Gravity, InverseDynamics, MassMatrix

MOST_SAMPLES = 20_000
"""Samples of a request; a regressor of each is computed."""


@dataclass(frozen=True)
class _Known:
    """The model of a calibration, and when that was, in ns."""

    model: CalibratedModel
    stamp: int


class ModelServices:
    """Answers what the last calibrated model says; calibrating goes on meanwhile.

    Args:
        node: the node that answers.
        robot: its robot.
        slot: turns failures into answers.
        group: callback group of the services.
    """

    def __init__(
        self, node: Node, robot: RobotModel, slot: JobSlot, group: CallbackGroup | None
    ) -> None:
        self._names, self._slot = robot.active_names, slot
        self._known: _Known | None = None
        for kind, name, callback in (
            (InverseDynamics, "~/inverse_dynamics", self.inverse_dynamics),
            (Gravity, "~/gravity", self.gravity),
            (MassMatrix, "~/mass_matrix", self.mass_matrix),
        ):
            node.create_service(
                kind, name, callback, qos_profile=qos.SERVICES, callback_group=group
            )

    def use(self, robot: RobotModel, calibrated: CalibratedParameters, stamp: int) -> None:
        """Answer with these parameters from now on.

        Args:
            robot: the robot with their friction law.
            calibrated: the parameters.
            stamp: when they were calibrated, in ns.
        """
        model = CalibratedModel(robot, calibrated.values, calibrated.spread)
        self._known = _Known(model, stamp)

    def inverse_dynamics(
        self, request: InverseDynamics.Request, response: InverseDynamics.Response
    ) -> InverseDynamics.Response:
        """Answer ~/inverse_dynamics."""

        def ask(model: CalibratedModel) -> ModelValues:
            names = ("positions", "velocities", "accelerations")
            rows = [self._rows(request, name) for name in names]
            for name, given in zip(names, rows, strict=True):
                if len(given) not in (len(rows[0]), 0):
                    raise ShapeError(name, given.shape, str(rows[0].shape))
            return model.inverse_dynamics(rows[0], *(one if len(one) else None for one in rows[1:]))

        return self._answer("inverse_dynamics", response, "efforts", ask)

    def gravity(self, request: Gravity.Request, response: Gravity.Response) -> Gravity.Response:
        """Answer ~/gravity."""
        return self._answer(
            "gravity",
            response,
            "efforts",
            lambda model: model.gravity(self._rows(request, "positions")),
        )

    def mass_matrix(
        self, request: MassMatrix.Request, response: MassMatrix.Response
    ) -> MassMatrix.Response:
        """Answer ~/mass_matrix."""
        return self._answer(
            "mass_matrix",
            response,
            "masses",
            lambda model: model.mass_matrix(self._rows(request, "positions")),
        )

    def _answer(
        self, name: str, response: Any, field: str, ask: Callable[[CalibratedModel], ModelValues]
    ) -> Any:
        def fill(filled: Any) -> str:
            known = self._known
            if known is None:
                raise ResultFileError(
                    "the last calibration", "there is none: call ~/calibrate of this node first"
                )
            found = ask(known.model)
            setattr(filled, field, floats(found.values))
            filled.std, filled.std_robust = floats(found.std), floats(found.std_robust)
            filled.joint_names = list(found.joint_names)
            filled.parameters_hash, filled.stamp = found.parameters_hash, time_of(known.stamp)
            return f"{len(found.values)} samples"

        return self._slot.answer(name, response, fill)

    def _rows(self, request: Any, name: str) -> Array:
        """Return (samples, joints) of a field, in the robot's order.

        Raises:
            ShapeError: it does not consist of whole rows.
            SettingError: it has no row where one is needed, or too many.
            JointNameError, RecordingError: a joint is missing, or is named twice.
        """
        values, joints = np.array(getattr(request, name)), len(self._names)
        columns = self._columns(request.joint_names)
        if len(values) % joints:
            raise ShapeError(name, values.shape, f"a multiple of {joints} joints")
        rows = values.reshape(-1, joints)
        if len(rows) > MOST_SAMPLES:
            raise SettingError(name, f"{len(rows)} samples", f"ask for {MOST_SAMPLES} at most")
        if name == "positions" and not len(rows):
            raise SettingError(name, "none", f"give one for each of {', '.join(self._names)}")
        ordered: Array = rows[:, columns]
        return ordered

    def _columns(self, given: Sequence[str]) -> Any:
        if not given:
            return np.arange(len(self._names))
        unknown = [name for name in given if name not in self._names]
        if unknown:
            raise SettingError(
                "joint_names", ", ".join(unknown), f"the joints are {', '.join(self._names)}"
            )
        return JointColumns(self._names, "the request").of(given)
