"""Queries of a calibrated model: efforts, gravity and mass matrix, with their deviations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.spread import Spread
from robot_identification.dynamics.direct import checked_values
from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import ShapeError
from robot_identification.identification.friction.law import FrictionLaw
from robot_identification.robot.arrays import Array, by_value, check_finite, numbers, read_only
from robot_identification.robot.files.document import content_digest
from robot_identification.robot.model import RobotModel

_AT_A_TIME = 256
"""Samples whose regressors are kept together: some megabytes."""


@by_value
@dataclass(frozen=True)
class ModelValues:
    """What a model says of one or many samples, and how far the data determine it.

    Attributes:
        values: efforts (samples, joints) in N m or N, or masses (samples, joints, joints) in
            kg m^2, kg m or kg; without the first axis where one sample was asked for.
        std: their standard deviations by those of the parameters (the papers' formula), the prior
            being taken as certain; NaN where the parameters have none.
        std_robust: such that hold for correlated residuals too; NaN where there are none.
        joint_names: joints of the axes.
        parameters_hash: of the parameters, see :func:`parameters_hash`.
    """

    values: Array
    std: Array
    std_robust: Array
    joint_names: tuple[str, ...]
    parameters_hash: str


def parameters_hash(robot: RobotModel, values: npt.ArrayLike) -> str:
    """Return the SHA-256 of a robot's parameters: names, values and friction law.

    Args:
        robot: the robot, with the friction law of the parameters.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
    """
    numbers = np.asarray(values, dtype=np.float64).tolist()
    law = FrictionLaw.of(robot).joint_entries(robot.joint_names)
    named = dict(zip(robot.all_parameter_names, numbers, strict=True))
    return content_digest({"robot": robot.name, "parameters": named, "friction": law})


class CalibratedModel:
    """A robot with known parameters, as programs ask it (Gautier et al. 2013, eq. 1).

    Args:
        robot: the robot, with the friction law of the parameters.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        spread: what noise does to those of the model; None where nobody knows.

    Attributes:
        parameters_hash: of the parameters.

    Raises:
        ShapeError: if the number of values differs.
        SampleError: if a value is NaN or infinite.
    """

    def __init__(
        self, robot: RobotModel, values: npt.ArrayLike, spread: Spread | None = None
    ) -> None:
        self._values, self._spread = checked_values(robot, values), spread
        self._names, self._model = robot.active_names, robot.standard_indices
        self._regressor = Regressor(robot.loaded_by(self._values), np.arange(len(self._values)))
        layout = robot.layout
        self._others = np.ones(len(self._values), dtype=np.bool_)
        for joint in range(layout.joints):
            self._others[layout.link(joint)] = False
        self.parameters_hash = parameters_hash(robot, self._values)

    def inverse_dynamics(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike | None = None,
        qdd: npt.ArrayLike | None = None,
    ) -> ModelValues:
        """Return the efforts that motions need, friction and offsets included.

        Args:
            q: (samples, joints) or (joints,) positions in rad or m.
            qd: velocities, likewise; Coulomb friction follows their signs.  By default at rest.
            qdd: accelerations, likewise; by default 0.

        Raises:
            ShapeError: an array does not fit.
            SettingError: it holds no numbers, or is a table with the joints in another order.
            SampleError: a value is NaN or infinite, or an effort would be.
        """
        motion = self._signals(position=q, velocity=qd, acceleration=qdd)
        return self._answer(self._regressor.dense, motion, np.ndim(q))

    def gravity(self, q: npt.ArrayLike) -> ModelValues:
        """Return the efforts that hold the bodies against gravity, without offsets and springs.

        Args:
            q: (samples, joints) or (joints,) positions in rad or m.

        Raises:
            ShapeError, SettingError, SampleError: as :meth:`inverse_dynamics`.
        """
        still = self._signals(position=q, velocity=None, acceleration=None)
        return self._answer(self._gravity_rows, still, np.ndim(q))

    def mass_matrix(self, q: npt.ArrayLike) -> ModelValues:
        """Return mass matrices, drives included: the efforts that unit accelerations need.

        Args:
            q: (samples, joints) or (joints,) positions in rad or m.

        Raises:
            ShapeError, SettingError, SampleError: as :meth:`inverse_dynamics`.
        """
        still = self._signals(position=q, velocity=None, acceleration=None)
        return self._answer(self._mass_rows, still, np.ndim(q))

    def _gravity_rows(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return regressor rows (samples, joints, full columns) of bodies alone."""
        found = self._regressor.dense(q, qd, qdd)
        found[..., self._others] = 0.0
        return found

    def _mass_rows(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return rows (samples, joints, joints, full columns) of what unit accelerations add."""
        held = self._regressor.dense(q, qd, qdd)
        columns = []
        for joint in range(len(self._names)):
            moved = np.array(qdd)
            moved[:, joint] += 1.0
            columns.append(self._regressor.dense(q, qd, moved) - held)
        return np.stack(columns, axis=2)

    def _signals(self, **given: npt.ArrayLike | None) -> Array:
        """Return (3, samples, joints) positions, velocities and accelerations.

        Raises:
            ShapeError, SettingError, SampleError: as :meth:`inverse_dynamics`.
        """
        joints = len(self._names)
        known = {n: numbers(n, v, self._names) for n, v in given.items() if v is not None}
        first = known["position"]
        expected = f"({joints},) or (samples, {joints})"
        if first.ndim not in (1, 2) or first.shape[-1] != joints:
            raise ShapeError("position", first.shape, expected)
        signals = []
        for name in given:
            signal = known.get(name, np.zeros_like(first))
            if signal.shape != first.shape:
                raise ShapeError(name, signal.shape, str(first.shape))
            rows = np.atleast_2d(signal)
            check_finite(name, rows, self._names)
            signals.append(rows)
        return np.stack(signals)

    def _answer(
        self, rows: Callable[[Array, Array, Array], Array], motion: Array, axes: int
    ) -> ModelValues:
        """Return values and deviations of the regressor rows of a motion, block by block."""
        with np.errstate(all="ignore"):
            blocks = [self._block(rows(*motion[:, now])) for now in _blocks(motion.shape[1])]
        parts = [np.concatenate(part) for part in zip(*blocks, strict=True)]
        check_finite("effort of the model", parts[0], self._names)
        values, std, robust = (part[0] if axes == 1 else part for part in parts)
        return ModelValues(
            read_only(values),
            read_only(std),
            read_only(robust),
            self._names,
            self.parameters_hash,
        )

    def _block(self, rows: Array) -> tuple[Array, Array, Array]:
        """Return values (...,) of rows (..., full columns), and their two deviations."""
        values = rows @ self._values
        known = self._spread
        kinds = (None, None) if known is None else (known.formula, known.robust)
        std, robust = (
            np.full(values.shape, np.nan)
            if kind is None
            else np.linalg.norm(rows[..., self._model] @ kind, axis=-1)
            for kind in kinds
        )
        return values, std, robust


def _blocks(samples: int) -> Iterator[slice]:
    for begin in range(0, max(samples, 1), _AT_A_TIME):
        yield slice(begin, begin + _AT_A_TIME)
