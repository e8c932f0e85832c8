"""Ordinary and weighted least squares of several bags: from grouped rows to an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.identification import least_squares
from robot_identification.identification.bands import summed
from robot_identification.identification.essential import (
    Elimination,
    EliminationRule,
    eliminate,
)
from robot_identification.identification.factor import JointFactor, restrict, stack
from robot_identification.identification.least_squares import Estimate
from robot_identification.identification.robust import robust_std
from robot_identification.identification.row_groups import Bands, GroupedRows, merged
from robot_identification.identification.weighting import Weighting, noise_levels
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array, read_only
from robot_identification.robot.processing import Divisor

# No bag is taken for quieter than this part of all together.
_QUIETEST = 1e-6


@by_value
@dataclass(frozen=True)
class Problem:
    """What is to be solved, apart from the rows.

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
        """What bands the rows need."""
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
        estimate: with both standard deviations; errors and residuals are those of the efforts as
            measured and unweighted.
        factors: one factor per joint, bags weighted.
        levels: (groups, joints) noise of bag and joint, over that of the joint; None where bags
            are not weighted.
        scales: (groups, joints) factors on the rows; None likewise.
    """

    estimate: Estimate
    factors: tuple[JointFactor, ...]
    levels: Array | None = None
    scales: Array | None = None


def solve_stacked(
    problem: Problem,
    rows: GroupedRows,
    *,
    measured: GroupedRows | None = None,
    efficiency: Array | None = None,
) -> Stacked:
    """Return the estimate from grouped rows, with its statistics.

    Args:
        problem: what is to be solved.
        rows: with bands per group where bags are weighted; without any there are no robust
            deviations.
        measured: the same rows with the efforts as measured, where those of ``rows`` are limited.
        efficiency: (joints,) see :func:`~.robust.robust_std`.

    Raises:
        NotExcitedError: the data do not determine every parameter.
    """
    levels = problem.levels(rows.factors)
    scales = problem.scales(levels)
    factors = merged(rows.factors, scales)
    estimate = problem.solve(factors)
    std = estimate.std
    if efficiency is not None:
        std = _limited_std(factors, estimate, efficiency)
    estimate = _judged(replace(estimate, std=std), (measured or rows).merged())
    found = Stacked(estimate, factors, levels, scales)
    if not rows.bands:
        return found
    robust = coloured_std(rows, found, efficiency)
    return replace(found, estimate=replace(estimate, std_robust=robust))


def _judged(estimate: Estimate, measured: Sequence[JointFactor]) -> Estimate:
    """Return an estimate with errors and residuals of the efforts as measured."""
    freedoms = np.array([max(f.rows - f.own_fit[1], 1) for f in measured])
    residuals = np.array([f.residual_norm(estimate.values) for f in measured])
    return replace(
        estimate,
        residual_std=read_only(residuals / np.sqrt(freedoms)),
        relative_error=least_squares.relative_error(measured, estimate.values),
    )


def essential_only(
    names: Sequence[str],
    rows: GroupedRows,
    found: Stacked,
    rule: EliminationRule,
    divisor: Divisor,
    *,
    measured: GroupedRows | None = None,
    efficiency: Array | None = None,
) -> Elimination:
    """Return the essential parameters; those removed keep the robust deviation of the full set.

    Args:
        names: names of the base parameters.
        rows: what the estimate was made from.
        found: the estimate of all base parameters.
        rule: when to stop removing parameters.
        divisor: of the variance of the residual.
        measured: the same rows with the efforts as measured, where those of ``rows`` are limited.
        efficiency: (joints,) see :func:`~.robust.robust_std`.
    """
    elimination = eliminate(found.factors, names, found.estimate.weights, rule, divisor=divisor)
    kept = np.flatnonzero(elimination.kept)
    reduced = [restrict(factor, kept) for factor in found.factors]
    whole = elimination.estimate
    few = replace(whole, values=whole.values[kept], std=whole.std[kept])
    std = np.array(whole.std)
    if efficiency is not None:
        std[kept] = _limited_std(reduced, few, efficiency)
    estimate = replace(whole, std=read_only(std))
    if found.estimate.std_robust is not None:
        robust = np.array(found.estimate.std_robust)
        part = Stacked(few, tuple(reduced), found.levels, found.scales)
        robust[kept] = coloured_std(rows, part, efficiency, kept)
        estimate = replace(estimate, std_robust=read_only(robust))
    if measured is not None or found.scales is not None:
        estimate = _judged(estimate, (measured or rows).merged())
    return replace(elimination, estimate=estimate)


def coloured_std(
    rows: GroupedRows,
    found: Stacked,
    efficiency: Array | None = None,
    columns: npt.NDArray[np.intp] | None = None,
) -> Array:
    """Return the standard deviations for residuals of any colour; see :mod:`.robust`.

    Args:
        rows: with bands per group where bags are weighted.
        found: values, weights and factors.
        efficiency: (joints,) see :func:`~.robust.robust_std`.
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
        efficiency=efficiency,
    )


def _limited_std(factors: Sequence[JointFactor], estimate: Estimate, efficiency: Array) -> Array:
    """Return the standard deviations for white noise where outliers are limited.

    The covariance is s^2 B A B with A = W^T W, B^-1 = W^T diag(efficiency) W and s^2 the variance
    of the limited residuals (Huber 1981, section 7.6).
    """
    parameters = len(estimate.values)
    root = stack(factors, parameters, list(estimate.weights))[:-1, :-1]
    inverse = scipy.linalg.solve_triangular(root, np.eye(parameters))
    deviation = estimate.std[0] / np.linalg.norm(inverse[0])
    reduced = stack(factors, parameters, list(estimate.weights * np.sqrt(efficiency)))[:-1, :-1]
    left = scipy.linalg.solve_triangular(reduced, np.eye(parameters))
    bread = left @ left.T
    return read_only(deviation * np.linalg.norm(bread @ root.T, axis=1))
