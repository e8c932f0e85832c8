"""Least squares of the rows of all joints at once: ordinary, weighted, with limited outliers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.essential import (
    Elimination,
    EliminationRule,
    eliminate,
)
from robot_identification.identification.estimators.estimator import (
    Choice,
    Deviations,
    Estimator,
    Fit,
)
from robot_identification.identification.estimators.huber import (
    METHOD,
    HuberSettings,
    Robustness,
    identify_limited,
)
from robot_identification.identification.estimators.several_bags import (
    Problem,
    Stacked,
    coloured_std,
    judged,
    solve_stacked,
    white_std,
)
from robot_identification.identification.rows.factor import JointFactor, restrict
from robot_identification.identification.rows.groups import Bands, GroupedRows, merged
from robot_identification.identification.rows.source import RowSource
from robot_identification.identification.rows.whole_rows import samples_behind
from robot_identification.identification.statistics.cross_validation import others
from robot_identification.identification.statistics.joint_noise import weight_warnings
from robot_identification.robot.arrays import Array, read_only


@dataclass(frozen=True)
class LeastSquares(Estimator):
    """Ordinary or weighted least squares; see :mod:`.estimators.several_bags`."""

    stacked: bool = True

    def problem(self, choice: Choice, source: RowSource) -> Problem:
        """Return what is to be solved, apart from the rows."""
        return Problem(
            self.weights_joints, source.names, source.divisor, choice.weighting, source.noise
        )

    def bands(self, choice: Choice, source: RowSource) -> Bands:
        """Return the bands of all rows together, or of every group where these are weighted."""
        return self.problem(choice, source).bands

    def fit(self, choice: Choice, source: RowSource, measured: GroupedRows) -> Fit:
        """Estimate the base parameters, or the essential ones."""
        problem = self.problem(choice, source)
        return self._outcome(choice, problem, solve_stacked(problem, measured), measured, measured)

    def deviations(
        self, solved: Stacked, rows: GroupedRows, kept: npt.NDArray[np.intp] | None = None
    ) -> Deviations:
        """Return the standard deviations of an estimate.

        Args:
            solved: the estimate.
            rows: those that it was made from.
            kept: places of the parameters that it is about; by default all.
        """
        return Deviations(
            white_std(solved), coloured_std(rows, solved, kept) if rows.bands else None
        )

    def _outcome(
        self,
        choice: Choice,
        problem: Problem,
        solved: Stacked,
        rows: GroupedRows,
        measured: GroupedRows,
        robustness: Robustness | None = None,
    ) -> Fit:
        """Return an estimate as a fit, of the essential parameters where these are asked for.

        Args:
            choice: what is asked for.
            problem: what was solved.
            solved: the estimate of all base parameters.
            rows: the rows that it was made from.
            measured: the rows with the efforts as measured.
            robustness: what limiting outliers did; None where that was not asked for.
        """
        deviations, together = self.deviations(solved, rows), measured.merged()
        altered = robustness is not None or solved.scales is not None
        estimate = replace(
            judged(solved.estimate, together),
            std=deviations.white,
            std_robust=deviations.coloured,
        )
        elimination = None
        if choice.essential is not None:
            elimination = self._essential(choice.essential, problem, solved, rows, deviations)
            if altered:
                few = judged(elimination.estimate, together)
                elimination = replace(elimination, estimate=few)
            estimate = elimination.estimate
        return Fit(
            estimate=estimate,
            factors=solved.factors,
            measured=measured.factors,
            fit_without=_fit_without(problem, rows, solved, elimination),
            elimination=elimination,
            robustness=robustness,
            levels=solved.levels if problem.weighting.bag_noise else None,
            scales=solved.scales,
            measured_factors=together if altered else None,
            warnings=weight_warnings(solved.factors) if self.weights_joints else (),
        )

    def _essential(
        self,
        rule: EliminationRule,
        problem: Problem,
        solved: Stacked,
        rows: GroupedRows,
        deviations: Deviations,
    ) -> Elimination:
        """Return the essential parameters; those removed keep the robust deviation of the full set.

        Args:
            rule: when to stop removing parameters.
            problem: what was solved.
            solved: the estimate of all base parameters.
            rows: the rows that it was made from.
            deviations: of all base parameters.
        """
        elimination = eliminate(
            solved.factors,
            problem.names,
            solved.estimate.weights,
            rule,
            divisor=problem.divisor,
        )
        kept, estimate = np.flatnonzero(elimination.kept), elimination.estimate
        of_kept = self.deviations(solved.restricted(estimate, kept), rows, kept)
        coloured = None
        if deviations.coloured is not None and of_kept.coloured is not None:
            coloured = _with_kept(deviations.coloured, kept, of_kept.coloured)
        std = _with_kept(estimate.std, kept, of_kept.white)
        return replace(elimination, estimate=replace(estimate, std=std, std_robust=coloured))


@dataclass(frozen=True)
class Huber(LeastSquares):
    """Least squares with limited outliers; see :mod:`.estimators.huber`.

    Attributes:
        settings: where residuals are limited.
    """

    settings: HuberSettings = field(default_factory=HuberSettings)
    needs_samples: bool = True

    @classmethod
    def of(cls, inner: LeastSquares, settings: HuberSettings) -> Huber:
        """Return an estimator with limited outliers.

        Args:
            inner: what it does with the limited efforts.
            settings: where residuals are limited.
        """
        return cls(
            name=inner.name,
            title=f"{inner.title}, outliers limited ({METHOD})",
            help=inner.help,
            weights_joints=inner.weights_joints,
            settings=settings,
        )

    def fit(self, choice: Choice, source: RowSource, measured: GroupedRows) -> Fit:
        """Estimate the base parameters, or the essential ones, in passes over the samples."""
        problem = self.problem(choice, source)
        whole = samples_behind(source, METHOD)
        found, rows, robustness = identify_limited(problem, whole, measured, self.settings)
        return self._outcome(choice, problem, found, rows, measured, robustness)


OLS = LeastSquares(
    name="ols",
    title="ordinary least squares",
    help="least squares with all rows alike",
)
WLS = LeastSquares(
    name="wls",
    title="weighted least squares",
    help="least squares weighted by the noise of every joint",
    weights_joints=True,
)


def _with_kept(every: Array, kept: npt.NDArray[np.intp], values: Array) -> Array:
    """Return an array with other values at the places that are kept."""
    result = np.array(every)
    result[kept] = values
    return read_only(result)


def _fit_without(
    problem: Problem, rows: GroupedRows, found: Stacked, elimination: Elimination | None
) -> Callable[[int], Array]:
    """Return how to estimate without a group; limits, weights of bags and essentials stay."""
    groups: Sequence[Sequence[JointFactor]] = rows.factors
    if found.scales is not None:
        groups = [
            merged([own], scale[None]) for own, scale in zip(groups, found.scales, strict=True)
        ]
    left = others(groups)

    def values(group: int) -> Array:
        if elimination is None:
            return problem.solve(left[group]).values
        kept = np.flatnonzero(elimination.kept)
        result = np.zeros(len(problem.names))
        result[kept] = least_squares.with_weights(
            [restrict(factor, kept) for factor in left[group]],
            [problem.names[i] for i in kept],
            found.estimate.weights,
        ).values
        return result

    return values
