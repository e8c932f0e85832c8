"""Residuals of the efforts: their size, their spectrum, and the friction in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.statistics.prediction import Prediction
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import TERMS, JointTerm
from robot_identification.robot.terms.kinds import TermKind

_WINDOW = 256  # rows per transform of Welch's method, at most
_LEAST_ROWS = 16


@by_value
@dataclass(frozen=True)
class JointResidual:
    """The residual of one joint, over the rows that take part in the estimation.

    Attributes:
        joint: name of the joint.
        unit: of its effort.
        values: (rows,) measured less predicted effort.
        std: its root mean square.
        relative: norm over that of the effort, a fraction.
        autocorrelation: between one row and the next; 0 for white residuals, NaN where there are
            too few rows.
        frequency: (frequencies,) in Hz; empty where there are too few rows.
        density: (frequencies,) its power spectral density, unit^2 / Hz.
        effort_density: (frequencies,) that of the measured effort.
    """

    joint: str
    unit: str
    values: Array
    std: float
    relative: float
    autocorrelation: float
    frequency: Array
    density: Array
    effort_density: Array


def joint_residuals(predictions: tuple[Prediction, ...]) -> tuple[JointResidual, ...]:
    """Return the residual of every joint over one or more recordings.

    Args:
        predictions: of recordings of the same robot; at least one.
    """
    return tuple(
        _joint_residual(predictions, joint) for joint in range(len(predictions[0].joint_names))
    )


def _joint_residual(predictions: tuple[Prediction, ...], joint: int) -> JointResidual:
    kept = [p.kept[:, joint] for p in predictions]
    effort = [p.measured[:, joint] for p in predictions]
    rest = [p.measured[:, joint] - p.predicted[:, joint] for p in predictions]
    values = np.concatenate([r[k] for r, k in zip(rest, kept, strict=True)])
    size = np.linalg.norm(np.concatenate([e[k] for e, k in zip(effort, kept, strict=True)]))
    period = _period(predictions[0].time)
    joined = np.concatenate(rest), np.concatenate(effort), np.concatenate(kept)
    frequency, density, effort_density = _densities(*joined, period)
    return JointResidual(
        joint=predictions[0].joint_names[joint],
        unit=predictions[0].units[joint],
        values=read_only(values),
        std=float(np.sqrt(np.mean(values**2))) if len(values) else float("nan"),
        relative=float(np.linalg.norm(values) / size) if size > 0.0 else float("nan"),
        autocorrelation=_autocorrelation(joined[0], joined[2]),
        frequency=frequency,
        density=density,
        effort_density=effort_density,
    )


def _period(time: Array) -> float:
    """Return the period of rows whose times may have gaps, in s."""
    return float(np.median(np.diff(time))) if len(time) > 1 else 1.0


def _densities(
    rest: Array, effort: Array, kept: npt.NDArray[np.bool_], period: float
) -> tuple[Array, Array, Array]:
    """Return frequencies and the spectral densities of residual and effort.

    Rows that take no part stand as zeros, and the power that they lack is given back in proportion.
    """
    if np.count_nonzero(kept) < _LEAST_ROWS:
        return read_only(np.zeros(0)), read_only(np.zeros(0)), read_only(np.zeros(0))
    length = min(_WINDOW, len(rest))
    found = [
        scipy.signal.welch(
            np.where(kept, signal, 0.0), fs=1.0 / period, nperseg=length, detrend=False
        )
        for signal in (rest, effort)
    ]
    frequency, share = found[0][0], float(np.mean(kept))
    density, effort_density = (read_only(power / share) for _, power in found)
    return read_only(frequency), density, effort_density


def _autocorrelation(rest: Array, kept: npt.NDArray[np.bool_]) -> float:
    both = kept[1:] & kept[:-1]
    if np.count_nonzero(both) < _LEAST_ROWS:
        return float("nan")
    first, second = rest[:-1][both], rest[1:][both]
    size = np.linalg.norm(first) * np.linalg.norm(second)
    return float(first @ second / size) if size > 0.0 else 0.0


@by_value
@dataclass(frozen=True)
class Friction:
    """Friction and offset of one joint, as identified.

    Attributes:
        joint: name of the joint.
        names: names of the base parameters that they are.
        terms: the joint terms that act without an acceleration: friction and offset.
        values: (terms,) their values; 0 for one that the model does not have.
        std: (terms,) standard deviations, the larger where there are two.
        shapes: (terms,) shape parameters of their functions.
        grouped: whether one of them is grouped with other parameters, so that the curve is not
            friction alone.
        speed: largest speed of the recordings; 0 where nobody has said.
        load: mean size of the effort that load-dependent friction follows; the curve is that at
            this load.
    """

    joint: str
    names: tuple[str, ...]
    terms: tuple[JointTerm, ...]
    values: Array
    std: Array
    shapes: tuple[tuple[float, ...], ...]
    grouped: bool
    speed: float
    load: float

    def torque(self, velocity: npt.ArrayLike) -> Array:
        """Return the effort of friction and offset at velocities, in N m or N.

        Args:
            velocity: (points,) in rad/s or m/s.
        """
        speed = np.asarray(velocity, dtype=np.float64)
        parts = (v * f for v, f in zip(self.values, self._functions(speed), strict=True))
        return read_only(sum(parts, np.zeros_like(speed)))

    def _functions(self, speed: Array) -> Iterator[Array]:
        """Yield the functions of the terms; those that follow a load are those at its mean."""
        load = np.full_like(speed, self.load)
        for term, shape in zip(self.terms, self.shapes, strict=True):
            yield term.kind.of(speed, load=load, shape=shape)

    def torque_std(self, velocity: npt.ArrayLike) -> Array:
        """Return the standard deviation of :meth:`torque`, correlations left out."""
        speed = np.asarray(velocity, dtype=np.float64)
        parts = ((s * f) ** 2 for s, f in zip(self.std, self._functions(speed), strict=True))
        return read_only(np.sqrt(sum(parts, np.zeros_like(speed))))


_TERMS = tuple(term for term in TERMS if term.dissipates or term.kind is TermKind.OFFSET)


def joint_friction(
    result: IdentificationResult, robot: RobotModel | None = None
) -> tuple[Friction | None, ...]:
    """Return the friction of every joint of a result; None where it has none.

    Friction that couples joints, as in wrists, is not in it.

    Args:
        result: the result.
        robot: the robot; its file states the shapes that the result does not hold.  None: these
            are the nominal ones.
    """
    return tuple(_friction(result, robot, joint) for joint in range(len(result.joint_names)))


def _shape(
    result: IdentificationResult, robot: RobotModel | None, joint: int, term: JointTerm
) -> tuple[float, ...]:
    law = {} if result.friction is None else result.friction.joints[joint]
    if found := law.get(term.name):
        return found
    return term.kind.nominal_shape if robot is None else robot.active_joints[joint].shape_of(term)


def _friction(
    result: IdentificationResult, robot: RobotModel | None, joint: int
) -> Friction | None:
    estimate, leading = result.estimate, result.regrouping.leading
    larger = estimate.std
    if estimate.std_robust is not None:
        larger = np.maximum(larger, estimate.std_robust)
    names, grouped, dissipates = [], False, False
    values, std = np.zeros((2, len(_TERMS)))
    for place, term in enumerate(_TERMS):
        parameter = f"{term.name}{result.numbers[joint]}"
        if parameter in leading:
            index = leading.index(parameter)
            values[place], std[place] = estimate.values[index], larger[index]
            names.append(result.regrouping.names[index])
            grouped |= len(result.regrouping.grouping(index)) > 1
            dissipates |= term.dissipates
    if not dissipates:
        return None
    measured = None if result.friction is None else result.friction.measured
    return Friction(
        joint=result.joint_names[joint],
        names=tuple(names),
        terms=_TERMS,
        values=read_only(values),
        std=read_only(std),
        shapes=tuple(_shape(result, robot, joint, term) for term in _TERMS),
        grouped=grouped,
        speed=0.0 if measured is None else float(measured.speeds[joint]),
        load=0.0 if measured is None else float(measured.loads[joint, 0]),
    )
