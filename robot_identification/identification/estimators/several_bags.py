"""Ordinary and weighted least squares of several bags: from grouped rows to an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.least_squares import Estimate
from robot_identification.identification.estimators.weighting import Weighting, noise_levels
from robot_identification.identification.rows.bands import summed
from robot_identification.identification.rows.factor import JointFactor, restrict, stack
from robot_identification.identification.rows.groups import Bands, GroupedRows, merged
from robot_identification.identification.statistics.robust_std import robust_std
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.processing import Divisor

# No bag is taken for quieter than this part of all together.
_QUIETEST = 1e-6


@by_value
@dataclass(frozen=True)
class Problem:
    """Least-squares problem, apart from its rows.

    Attributes:
        weighted: whether the rows of every joint are weighted by their noise.
        names: names of the base parameters.
        divisor: of the variance of the residual.
        weighting: of the bags; uniform where groups are not bags.
        noise: (bags, joints) standard deviations of the rows, by which they are weighted,
            where that is known beforehand; None: they follow from the residuals.
    """

    weighted: bool
    names: tuple[str, ...]
    divisor: Divisor
    weighting: Weighting
    noise: Array | None = None

    @property
    def bands(self) -> Bands:
        """Bands that the rows need."""
        return "together" if self.weighting.is_uniform and not self._levels_known else "apart"

    @property
    def _levels_known(self) -> bool:
        """Whether bags differ in a noise that is known beforehand."""
        return self.weighted and self.noise is not None and len(self.noise) > 1

    @cached_property
    def _joint_noise(self) -> Array | None:
        """(joints,) noise of the rows of all bags, where it is known beforehand."""
        if not self.weighted or self.noise is None:
            return None
        noise = np.sqrt(np.mean(self.noise**2, axis=0))
        # Rows without any noise, as simulated ones may be, are all alike.
        return read_only(np.where(noise > 0.0, noise, 1.0) if noise.any() else np.ones_like(noise))

    def scales(self, levels: Array | None) -> Array | None:
        """Return (groups, joints) factors on the rows for noise levels; None without these."""
        if levels is None:
            return None
        by_noise = self.weighting.bag_noise or self._levels_known
        return replace(self.weighting, bag_noise=by_noise).scales(levels)

    def levels(self, groups: Sequence[Sequence[JointFactor]]) -> Array | None:
        """Return (groups, joints) noise levels; None where every bag counts the same."""
        if self._levels_known and self.noise is not None and self._joint_noise is not None:
            return read_only(np.maximum(self.noise / self._joint_noise, _QUIETEST))
        if self.weighting.is_uniform:
            return None
        return noise_levels(groups, self.names, self.weighting, self.divisor)

    def solve(self, factors: Sequence[JointFactor]) -> Estimate:
        """Return the estimate from one factor per joint.

        Raises:
            NotExcitedError: the data do not determine every parameter.
        """
        if self._joint_noise is not None:
            return least_squares.with_weights(
                factors, self.names, 1.0 / self._joint_noise, self.divisor
            )
        solve = least_squares.weighted if self.weighted else least_squares.ordinary
        return solve(factors, self.names, self.divisor)

    def estimate(self, groups: Sequence[Sequence[JointFactor]]) -> Estimate:
        """Return the estimate from the factors of every group, without robust deviations.

        Raises:
            NotExcitedError: the data do not determine every parameter.
        """
        return self.solve(merged(groups, self.scales(self.levels(groups))))


@by_value
@dataclass(frozen=True)
class Stacked:
    """An estimate and what it was made from.

    Attributes:
        estimate: as solved; errors and residuals are those of the rows as they were weighted.
        factors: one factor per joint, bags weighted.
        levels: (groups, joints) noise of bag and joint, over that of the joint; None where bags
            are not weighted.
        scales: (groups, joints) factors on the rows; None likewise.
        efficiency: (joints,) share of a row's residual that still moves the estimate, where
            outliers are limited; None elsewhere.
    """

    estimate: Estimate
    factors: tuple[JointFactor, ...]
    levels: Array | None = None
    scales: Array | None = None
    efficiency: Array | None = None

    def restricted(self, estimate: Estimate, kept: npt.NDArray[np.intp]) -> Stacked:
        """Return the same with few of the parameters.

        Args:
            estimate: of all parameters, zero for those that are gone.
            kept: (parameters,) places of those that stay.
        """
        few = replace(estimate, values=estimate.values[kept], std=estimate.std[kept])
        factors = tuple(restrict(factor, kept) for factor in self.factors)
        return replace(self, estimate=few, factors=factors)


def solve_stacked(problem: Problem, rows: GroupedRows, efficiency: Array | None = None) -> Stacked:
    """Return the estimate from grouped rows.

    Args:
        problem: what is to be solved.
        rows: the rows.
        efficiency: (joints,) where the efforts of the rows are limited; see :class:`Stacked`.

    Raises:
        NotExcitedError: the data do not determine every parameter.
    """
    levels = problem.levels(rows.factors)
    scales = problem.scales(levels)
    factors = merged(rows.factors, scales)
    return Stacked(problem.solve(factors), factors, levels, scales, efficiency)


def judged(estimate: Estimate, measured: Sequence[JointFactor]) -> Estimate:
    """Return an estimate with errors and residuals of the efforts as measured, unweighted."""
    freedoms = np.array([max(f.rows - f.own_fit[1], 1) for f in measured])
    residuals = np.array([f.residual_norm(estimate.values) for f in measured])
    return replace(
        estimate,
        residual_std=read_only(residuals / np.sqrt(freedoms)),
        relative_error=least_squares.relative_error(measured, estimate.values),
    )


def coloured_std(
    rows: GroupedRows, found: Stacked, columns: npt.NDArray[np.intp] | None = None
) -> Array:
    """Return the standard deviations for residuals of any colour; see :mod:`.robust_std`.

    Args:
        rows: with bands per group where bags are weighted.
        found: values, weights and factors.
        columns: places of the parameters that ``found`` is about; by default all.
    """
    bands = rows.bands if columns is None else [b.restricted(columns) for b in rows.bands]
    estimate, levels, scales = found.estimate, found.levels, found.scales
    fitted = meat = None
    if levels is None or scales is None:
        own = summed(bands)
    else:
        own = summed(bands, 1.0 / levels)
        fitted, meat = summed(bands, scales), summed(bands, scales**2 * levels)
    return robust_std(
        own,
        found.factors,
        estimate.values,
        estimate.weights,
        fitted=fitted,
        meat=meat,
        efficiency=found.efficiency,
    )


def white_std(found: Stacked) -> Array:
    """Return the standard deviations for white residuals.

    Where outliers are limited, the covariance is s^2 B A B with A = W^T W,
    B^-1 = W^T diag(efficiency) W and s^2 the variance of the limited residuals (Huber 1981,
    section 7.6).
    """
    estimate, factors = found.estimate, found.factors
    if found.efficiency is None:
        return estimate.std
    parameters = len(estimate.values)
    root = stack(factors, parameters, list(estimate.weights))[:-1, :-1]
    inverse = scipy.linalg.solve_triangular(root, np.eye(parameters))
    deviation = estimate.std[0] / np.linalg.norm(inverse[0])
    reduced = stack(factors, parameters, list(estimate.weights * np.sqrt(found.efficiency)))[
        :-1, :-1
    ]
    left = scipy.linalg.solve_triangular(reduced, np.eye(parameters))
    bread = left @ left.T
    return read_only(deviation * np.linalg.norm(bread @ root.T, axis=1))
