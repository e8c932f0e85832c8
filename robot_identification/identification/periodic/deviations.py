"""Standard deviations of an estimate from periodic recordings, by the noise between periods.

With V_t = D^2 W_t, the weighted rows of an instant t, the estimate deviates by

    A^-1 sum over t of V_t^T (e_t - J_t dq_t),    A = sum over t of W_t^T D^2 W_t.

e_t is the noise of the mean efforts, white in time, with the covariance that the periods tell, also
between joints; dq_t is what noise of the positions makes of the fitted series and its derivatives,
and J_t how the predicted efforts depend on these.  The residual has no part in this: what the model
does not explain repeats, and does not become smaller with more periods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.estimators.least_squares import Estimate
from robot_identification.identification.rows.factor import JointFactor, stack
from robot_identification.identification.rows.whole import RowBlock
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array, read_only
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.filters.decimation import Decimator
from robot_identification.signals.periodic.average import AveragedPeriods

# Steps of the numerical derivatives: inverse dynamics are quadratic in the velocities and linear in
# the accelerations, so that only the step of the positions has an error, of 1e-10 of the effort.
_STEPS = (1e-5, 1e-6, 1e-2)


class NoiseEffect(NamedTuple):
    """Covariance of an estimate from the noise that differs between periods.

    Attributes:
        std: (base,) standard deviations of the estimate.
        of_positions: (recordings, joints) standard deviation of the rows' residual that noise of
            the positions makes, in N m or N, before rows were scaled.
    """

    std: Array
    of_positions: Array


def noise_effect(
    source: WholeRows,
    averages: Sequence[AveragedPeriods],
    estimate: Estimate,
    factors: Sequence[JointFactor],
    scales: Array | None,
) -> NoiseEffect:
    """Return what noise makes of an estimate by least squares with weights.

    Args:
        source: their rows, one segment for every recording.
        averages: the recordings.
        estimate: values and weights.
        factors: one per joint, of the rows of all recordings, scaled.
        scales: (recordings, joints) by what the rows were scaled before; None: not at all.
    """
    if scales is None:
        scales = np.ones((len(averages), len(estimate.weights)))
    rank = len(estimate.values)
    root = stack(factors, rank, list(estimate.weights))[:-1, :-1]
    found = [
        _Meat(
            source.regressor,
            segment,
            average,
            source.processing.decimator(segment.period),
            estimate.values,
            (own * estimate.weights) ** 2,
        )
        for segment, average, own in zip(source.segments, averages, scales, strict=True)
    ]
    source.each_block([lambda number, block: found[number].add(block)])
    meat = np.sum([own.covariance() for own in found], axis=0)
    half = scipy.linalg.solve_triangular(root, np.eye(rank))
    bread = half @ half.T
    std = np.sqrt(np.einsum("ij,jk,ik->i", bread, meat, bread))
    return NoiseEffect(read_only(std), read_only([own.of_positions() for own in found]))


class _Meat:
    """Covariance of the sum over t of V_t^T (e_t - J_t dq_t) of a recording, growing with its rows.

    Args:
        regressor: of the rows.
        segment: the averaged samples that they are made of.
        average: the recording.
        decimator: of the rows.
        values: (base,) base parameters.
        squares: (joints,) squared weights of the rows.
    """

    def __init__(
        self,
        regressor: Regressor,
        segment: FilteredSegment,
        average: AveragedPeriods,
        decimator: Decimator,
        values: Array,
        squares: Array,
    ) -> None:
        joints, rank = len(squares), len(values)
        self._regressor, self._segment, self._average = regressor, segment, average
        self._kept = decimator.kept(segment.samples)
        self._values, self._squares = values, squares
        # White noise keeps its density in decimation.
        self._effort = average.covariance / (average.effective_periods * decimator.factor)
        self._spread = average.position_noise[:, None] * average.series.spread
        self._covariance = np.zeros((rank, rank))
        self._sensitivity = np.zeros((joints, rank, self._spread.shape[1]))
        self._moved, self._rows = np.zeros(joints), np.zeros(joints)

    def add(self, block: RowBlock) -> None:
        """Take in a block of rows."""
        segment, joints = self._segment, range(len(self._squares))
        places = self._kept[block.window.outputs]
        weighted = np.zeros((len(places), len(joints), len(self._values)))
        for k, own in enumerate(self._regressor.joint_rows):
            weighted[:, k, own.columns] = block.rows[own.rows].T
        weighted *= (block.kept.T * self._squares)[:, :, None]
        mixed = np.einsum("jk,tkp->tjp", self._effort, weighted)
        self._covariance += np.einsum("tjp,tjq->pq", mixed, weighted, optimize=True)
        motion = [
            signal[:, places]
            for signal in (segment.position, segment.velocity, segment.acceleration)
        ]
        bases = self._average.series.basis(segment.time[places] - self._average.segment.time[0])
        self._rows += block.kept.sum(axis=1)
        for k in joints:
            slopes = [
                _slope(self._regressor, motion, order, k, self._values)
                for order in range(len(bases))
            ]
            for j in joints:
                # How the effort of joint j at every instant depends on the series of joint k.
                change = sum(
                    (slope[:, j, None] * basis for slope, basis in zip(slopes, bases, strict=True)),
                    np.zeros_like(bases[0]),
                )
                self._sensitivity[k] += weighted[:, j].T @ change
                squares = ((change * self._spread[k]) ** 2).sum(axis=1)
                self._moved[j] += float((squares * block.kept[j]).sum())

    def covariance(self) -> Array:
        """Return the (base, base) covariance of the rows so far."""
        result = self._covariance
        for sensitivity, spread in zip(self._sensitivity, self._spread, strict=True):
            half = sensitivity * spread
            result = result + half @ half.T
        return result

    def of_positions(self) -> Array:
        """Return the (joints,) standard deviations of J_t dq_t."""
        result: Array = np.sqrt(self._moved / np.maximum(self._rows, 1.0))
        return result


def _slope(
    regressor: Regressor, motion: Sequence[Array], derivative: int, joint: int, values: Array
) -> Array:
    """Return (samples, joints) the derivative of the efforts with respect to one joint's motion."""
    step = _STEPS[derivative]
    efforts: list[npt.NDArray[np.float64]] = []
    for sign in (1.0, -1.0):
        moved = [np.array(signal) for signal in motion]
        moved[derivative][joint] += sign * step
        rows = regressor.compact(moved[0], moved[1], moved[2])
        efforts.append(
            np.stack([values[own.columns] @ rows[own.rows] for own in regressor.joint_rows], axis=1)
        )
    return np.asarray((efforts[0] - efforts[1]) / (2.0 * step))
