"""Rows of the energy model: the work of the efforts between chained instants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.dynamics import friction
from robot_identification.dynamics.energy import EnergyRegressor
from robot_identification.dynamics.kernels.terms import MAGNITUDE
from robot_identification.errors import ShapeError
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.robot.arrays import Array, by_value, check_finite
from robot_identification.robot.loops import loop_matrix
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.complete import Processing


@by_value
@dataclass(frozen=True)
class EnergyRows:
    """Rows of the energy model.

    Attributes:
        W: (intervals, parameters) differences of the energy functions, integrals of friction.
        Y: (intervals,) work of the efforts, in J.
        squares: (intervals, joints) integrals of the squared velocities, per sampling period; 0
            where efforts were lost, so that the interval says nothing.
    """

    W: Array
    Y: Array
    squares: Array


def energy_rows(
    base: BaseParameters,
    time: Array,
    position: Array,
    velocity: Array,
    acceleration: Array,
    effort: Array,
    marks: Sequence[int],
) -> EnergyRows:
    """Return the rows between chained instants of sampled signals; integrals are trapezoidal.

    Args:
        base: base parameters; their columns are those of W.
        time: (samples,) in s.
        position: (samples, joints) in rad or m.
        velocity: (samples, joints).
        acceleration: (samples, joints); only couplings that store no energy need it.
        effort: (samples, joints) in N m or N.
        marks: rising numbers of the samples at which intervals end and begin.

    Raises:
        ShapeError: a signal has another shape, or there are fewer than two marks.
        SampleError: a value is NaN or infinite.
        SettingError: a joint has a spring of its own, or friction that follows the load.
    """
    _check_signals(base, position, velocity=velocity, acceleration=acceleration, effort=effort)
    if len(marks) < 2:
        raise ShapeError("marks", (len(marks),), "(at least 2,)")
    friction.require_kinds(base.robot, "the method energy", MAGNITUDE, springs=True)
    at = np.asarray(marks, dtype=np.intp)
    regressor = EnergyRegressor(base.robot, base.base_columns)
    W = regressor.differences(position[at], velocity[at])
    follow = loop_matrix(base.robot).T
    rates, changes = velocity @ follow, acceleration @ follow
    for term in friction.rate_terms(base.robot, base.base_columns):
        if not regressor.contained[term.column]:
            flow, _, _ = friction.power(term, rates, changes)
            W[:, term.column] += term.gain * _integrals(time, flow, at)
    period = float(np.mean(np.diff(time)))
    squares = [period * _integrals(time, v**2, at) for v in velocity.T]
    work = _integrals(time, np.einsum("tj,tj->t", effort, velocity), at)
    return EnergyRows(W, work, np.column_stack(squares))


def _check_signals(base: BaseParameters, position: Array, **others: Array) -> None:
    joints = len(base.robot.active_joints)
    if position.ndim != 2 or position.shape[1] != joints:
        raise ShapeError("position", position.shape, f"(samples, {joints})")
    for name, signal in {"position": position, **others}.items():
        if signal.shape != position.shape:
            raise ShapeError(name, signal.shape, str(position.shape))
        check_finite(name, signal, base.robot.active_names)


def _integrals(time: Array, values: Array, marks: np.ndarray) -> Array:
    """Return the integrals between marks, by the trapezoidal rule."""
    pieces = np.diff(time) * (values[1:] + values[:-1]) / 2.0
    total = np.concatenate([[0.0], np.cumsum(pieces)])
    result: Array = np.diff(total[marks])
    return result


def segment_rows(
    base: BaseParameters, segment: FilteredSegment, processing: Processing, length: float
) -> EnergyRows | None:
    """Return the rows of one segment without its ends, None where it is too short.

    Args:
        base: base parameters of the robot.
        segment: filtered signals at the full rate.
        processing: the settings that they were made with.
        length: of an interval, in s.
    """
    decimator = processing.decimator(segment.period)
    cut = processing.cut_outputs(segment.period) * decimator.factor
    step = max(decimator.factor, round(length / segment.period))
    lost = _lost(segment, decimator.factor)
    marks = _marks(lost[cut : segment.samples - cut], step) + cut
    if len(marks) < 3:
        return None
    signals = (segment.position, segment.velocity, segment.acceleration, segment.effort)
    q, qd, qdd, effort = (np.ascontiguousarray(signal.T) for signal in signals)
    rows = energy_rows(base, segment.time, q, qd, qdd, effort, list(marks))
    before = np.concatenate([[0], np.cumsum(lost)])
    without = before[marks[1:]] > before[marks[:-1]]
    return replace(rows, squares=np.where(without[:, None], 0.0, rows.squares))


def _lost(segment: FilteredSegment, longest: int) -> npt.NDArray[np.bool_]:
    """Return (samples,) where so many efforts in a row were lost that their work is not known.

    A straight line stands for them, which is as good as measured across a decimation step: of what
    is faster no method knows.

    Args:
        segment: filtered signals.
        longest: number of samples that a line may stand for.
    """
    if segment.measured is None:
        return np.zeros(segment.samples, dtype=np.bool_)
    runs, count = scipy.ndimage.label(~segment.measured)
    long = np.bincount(runs, minlength=count + 1) > longest
    long[0] = False  # those that were measured
    return np.asarray(long[runs])


def _marks(lost: npt.NDArray[np.bool_], step: int) -> npt.NDArray[np.intp]:
    """Return the samples at which intervals end and begin; behind lost efforts they begin anew.

    Args:
        lost: (samples,) from :func:`_lost`.
        step: samples of an interval.
    """
    runs = scipy.ndimage.find_objects(scipy.ndimage.label(~lost)[0])
    marks = [np.arange(run.start, run.stop, step, dtype=np.intp) for (run,) in runs]
    return np.concatenate(marks or [np.zeros(0, dtype=np.intp)])
