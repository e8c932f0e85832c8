"""Identification with the energy model: the work of the efforts between chained instants.

One row per interval, integral of tau^T qd = [h(b) - h(a)] X (Gautier and Khalil 1992, eq. 7), needs
no accelerations.  Friction and offsets add the integrals of their own power.  Noise of the efforts
is independent between intervals, with a variance that is the sum over the joints of theirs times
the integral of qd^2; rows are weighted accordingly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_identification.errors import RecordingError
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.energy_rows import EnergyRows, segment_rows
from robot_identification.identification.estimators.estimator import (
    Choice,
    Deviations,
    Estimator,
    Fit,
)
from robot_identification.identification.estimators.least_squares import Estimate
from robot_identification.identification.estimators.sequential import SequentialEstimator
from robot_identification.identification.rows.bands import BandStream
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.groups import Bands, GroupedRows, merged, without
from robot_identification.identification.rows.source import RowSource
from robot_identification.identification.rows.whole_rows import samples_behind
from robot_identification.identification.statistics.robust_std import robust_std
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.complete import Processing

_LONGEST = 0.5
_ROWS_PER_PARAMETER = 8
# Every group left out for cross-validation is another pass over the data.
_MOST_GROUPS = 20
_QUIET = 1e-6  # rows with less than this share of the largest integral of qd^2 say nothing


def solve(W: Array, Y: Array, names: Sequence[str], std: Array | float = 1.0) -> Estimate:
    """Return the least-squares estimate of Y = W X + noise, with its covariance.

    Args:
        W: (rows, parameters).
        Y: (rows,).
        names: names of the parameters.
        std: standard deviations of the noise, up to a common factor.

    Raises:
        NotExcitedError: the rows do not determine every parameter.
        ShapeError: the arrays do not fit.
        SampleError: a value is NaN or infinite.
    """
    estimator = SequentialEstimator(names)
    estimator.update(W, Y, std)
    return least_squares.ordinary([estimator.factor], names)


@by_value
@dataclass(frozen=True)
class EnergySolution:
    """Estimate from the energy model.

    Attributes:
        estimate: the estimate; its rows, one per interval, belong to no joint and are counted with
            the first.
        blocks: the rows of unbroken runs.
        quiet: sum of the integrals of qd^2 up to which rows say nothing and are left out.
        joint_std: (joints,) standard deviations of the efforts, by which rows were weighted.
        names: names of the parameters.
    """

    estimate: Estimate
    blocks: tuple[EnergyRows, ...]
    quiet: float
    joint_std: Array
    names: tuple[str, ...]


def solve_energy(
    base: BaseParameters,
    segments: Sequence[FilteredSegment],
    processing: Processing,
    factors: Sequence[JointFactor],
) -> EnergySolution:
    """Return the estimate of the energy model from filtered recordings.

    Values, standard deviations and condition numbers are those of the energy model; the errors
    and residuals per joint tell how well the values explain the efforts.  The intervals are such
    that there are eight per parameter, from one decimation step to 0.5 s.

    Args:
        base: base parameters of the robot.
        segments: filtered signals at the full rate.
        processing: the settings that they were made with.
        factors: one factor per joint of the inverse dynamic model, of the same data.

    Raises:
        RecordingError: the recordings are shorter than two intervals.
        NotExcitedError: the motion does not determine every parameter.
    """
    total = sum(segment.samples * segment.period for segment in segments)
    length = min(_LONGEST, total / (_ROWS_PER_PARAMETER * base.rank))
    blocks = [
        rows
        for segment in segments
        if (rows := segment_rows(base, segment, processing, length)) is not None
    ]
    if not blocks:
        raise RecordingError("every unbroken run is shorter than two intervals; record longer")
    W, Y = np.vstack([b.W for b in blocks]), np.concatenate([b.Y for b in blocks])
    squares = np.vstack([b.squares for b in blocks])
    quiet = _QUIET * squares.sum(axis=1).max(initial=0.0)
    moving = squares.sum(axis=1) > quiet
    W, Y, squares = W[moving], Y[moving], squares[moving]
    first = solve(W, Y, base.names, np.sqrt(squares.sum(axis=1)))
    joint_std = _residual_std(factors, first.values)
    estimate = solve(W, Y, base.names, _row_std(squares, joint_std))
    estimate = replace(
        estimate,
        weights=read_only(np.ones(len(factors))),
        residual_std=read_only(_residual_std(factors, estimate.values)),
        relative_error=least_squares.relative_error(factors, estimate.values),
        rows=(len(Y), *([0] * (len(factors) - 1))),
    )
    return EnergySolution(estimate, tuple(blocks), quiet, joint_std, base.names)


def _row_std(squares: Array, joint_std: Array) -> Array:
    """Return (intervals,) deviations of the work, for those of the efforts of the joints."""
    result: Array = np.sqrt(np.maximum(squares @ joint_std**2, 1e-300))
    return result


def _residual_std(factors: Sequence[JointFactor], values: Array) -> Array:
    """Return (joints,) root mean squares of the unexplained efforts, none of them zero."""
    found = np.array([f.residual_norm(values) / max(f.rows, 1) ** 0.5 for f in factors])
    floor = 1e-9 * max(float(found.max(initial=0.0)), 1e-9)
    result: Array = np.maximum(found, floor)
    return result


@dataclass(frozen=True)
class Energy(Estimator):
    """The energy model: rows of its own, made of the filtered samples."""

    needs_samples: bool = True
    own_regressor: bool = True
    needed_bands: Bands = "none"  # its deviations are those of its own rows

    def fit(
        self,
        choice: Choice,  # noqa: ARG002 (it has no choice)
        source: RowSource,
        measured: GroupedRows,
    ) -> Fit:
        """Estimate the base parameters from the work of the efforts."""
        data = samples_behind(source, self.name)

        def values(group: int) -> Array:
            few = without(data.segments, data.division, group, data.processing)
            left = [own for number, own in enumerate(measured.factors) if number != group]
            return solve_energy(data.base, few, data.processing, merged(left)).estimate.values

        factors = measured.merged()
        solved = solve_energy(data.base, data.segments, data.processing, factors)
        estimate = replace(solved.estimate, std_robust=self.deviations(solved, measured).coloured)
        few_groups = len(measured.factors) <= _MOST_GROUPS
        return Fit(estimate, factors, measured.factors, values if few_groups else None)

    def deviations(
        self,
        solved: EnergySolution,
        rows: GroupedRows,  # noqa: ARG002 (it has rows of its own)
    ) -> Deviations:
        """Return standard deviations, also such as hold where neighbouring intervals correlate.

        Coloured noise of the efforts outlasts an interval; that of the positions enters two
        neighbouring intervals with opposite signs.
        """
        bands = BandStream([np.arange(len(solved.names))])
        estimator = SequentialEstimator(solved.names)
        for block in solved.blocks:
            moving = block.squares.sum(axis=1) > solved.quiet
            std = _row_std(block.squares, solved.joint_std)
            bands.add(np.column_stack([block.W, block.Y]).T / std, moving[None])
            estimator.update(block.W[moving], block.Y[moving], std[moving])
        estimate = solved.estimate
        return Deviations(
            estimate.std,
            robust_std(bands.grams(), [estimator.factor], estimate.values, np.ones(1)),
        )


ENERGY = Energy(
    name="energy",
    title="the energy model",
    help="work of the efforts over intervals, without accelerations",
)
