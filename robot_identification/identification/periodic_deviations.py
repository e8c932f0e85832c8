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
from robot_identification.identification.base import BaseParameters
from robot_identification.identification.factor import JointFactor, stack
from robot_identification.identification.least_squares import Estimate
from robot_identification.identification.periodic_settings import rows_segment
from robot_identification.identification.stream import RowBlock, each_block
from robot_identification.robot.model import Array, read_only
from robot_identification.signals.period_average import AveragedPeriods
from robot_identification.signals.processing import Processing

# Steps of the numerical derivatives: inverse dynamics are quadratic in the velocities and linear in
# the accelerations, so that only the step of the positions has an error, of 1e-10 of the effort.
_STEPS = (1e-5, 1e-6, 1e-2)


class NoiseEffect(NamedTuple):
    """What the noise that differs between periods makes of an estimate.

    Attributes:
        std: (base,) standard deviations of the estimate.
        of_positions: (recordings, joints) standard deviation of the rows' residual that noise of
            the positions makes, in N m or N, before rows were scaled.
    """

    std: Array
    of_positions: Array


def noise_effect(
    base: BaseParameters,
    averages: Sequence[AveragedPeriods],
    processing: Processing,
    estimate: Estimate,
    factors: Sequence[JointFactor],
    scales: Array | None,
) -> NoiseEffect:
    """Return what noise makes of an estimate by least squares with weights.

    Args:
        base: the base parameters.
        averages: the recordings.
        processing: with which rows were made of them.
        estimate: values and weights.
        factors: one per joint, of the rows of all recordings, scaled.
        scales: (recordings, joints) by what the rows were scaled before; None: not at all.
    """
    if scales is None:
        scales = np.ones((len(averages), len(estimate.weights)))
    values = estimate.values
    root = stack(factors, base.rank, list(estimate.weights))[:-1, :-1]
    found = [
        _meat(base, average, processing, values, (own * estimate.weights) ** 2)
        for average, own in zip(averages, scales, strict=True)
    ]
    meat = np.sum([own for own, _ in found], axis=0)
    half = scipy.linalg.solve_triangular(root, np.eye(base.rank))
    bread = half @ half.T
    std = np.sqrt(np.einsum("ij,jk,ik->i", bread, meat, bread))
    return NoiseEffect(read_only(std), read_only([own for _, own in found]))


def _meat(
    base: BaseParameters,
    average: AveragedPeriods,
    processing: Processing,
    values: Array,
    squares: Array,
) -> tuple[Array, Array]:
    """Return (base, base) the covariance of the sum over t of V_t^T (e_t - J_t dq_t).

    With it come the (joints,) standard deviations of J_t dq_t.
    """
    joints, rank = len(base.robot.joints), base.rank
    segment = rows_segment(average, processing)
    decimator = processing.decimator(segment.period)
    # White noise keeps its density in decimation.
    effort = average.covariance / (average.periods * decimator.factor)
    result = np.zeros((rank, rank))
    spread = average.position_noise[:, None] * average.series.spread
    sensitivity = np.zeros((joints, rank, spread.shape[1]))
    moved, rows = np.zeros(joints), np.zeros(joints)
    regressor = Regressor(base.robot, base.base_columns, spare=1)

    def add(block: RowBlock) -> None:
        nonlocal result
        places = decimator.kept(segment.samples)[block.window.outputs]
        weighted = np.zeros((len(places), joints, rank))
        for k, own in enumerate(regressor.joint_rows):
            weighted[:, k, own.columns] = block.rows[own.rows].T
        weighted *= (block.kept.T * squares)[:, :, None]
        mixed = np.einsum("jk,tkp->tjp", effort, weighted)
        result = result + np.einsum("tjp,tjq->pq", mixed, weighted, optimize=True)
        motion = [
            signal[:, places]
            for signal in (segment.position, segment.velocity, segment.acceleration)
        ]
        bases = average.series.basis(segment.time[places] - average.segment.time[0])
        rows[:] += block.kept.sum(axis=1)
        for k in range(joints):
            slopes = [_slope(regressor, motion, order, k, values) for order in range(len(bases))]
            for j in range(joints):
                # How the effort of joint j at every instant depends on the series of joint k.
                change = sum(
                    (slope[:, j, None] * basis for slope, basis in zip(slopes, bases, strict=True)),
                    np.zeros_like(bases[0]),
                )
                sensitivity[k] += weighted[:, j].T @ change
                moved[j] += float((((change * spread[k]) ** 2).sum(axis=1) * block.kept[j]).sum())

    each_block(regressor, segment, processing, [add])
    for k in range(joints):
        half = sensitivity[k] * spread[k]
        result = result + half @ half.T
    return result, np.sqrt(moved / np.maximum(rows, 1.0))


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
