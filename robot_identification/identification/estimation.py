"""The methods that start from rows: each gives an estimate, and one without any group of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.identification import least_squares
from robot_identification.identification.cross_validation import others
from robot_identification.identification.energy import identify_energy
from robot_identification.identification.essential import Elimination, EliminationRule
from robot_identification.identification.factor import JointFactor, restrict
from robot_identification.identification.huber import (
    Data,
    HuberSettings,
    Robustness,
    identify_limited,
)
from robot_identification.identification.joint_noise import refuse_silent_joints
from robot_identification.identification.least_squares import Estimate
from robot_identification.identification.one_joint.base_estimate import identify_one_joint
from robot_identification.identification.row_groups import (
    GroupedRows,
    fold_groups,
    merged,
    without,
)
from robot_identification.identification.stacked import (
    Problem,
    Stacked,
    essential_only,
    solve_stacked,
)
from robot_identification.identification.weighting import Weighting
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array

METHODS = ("ols", "wls", "energy", "one-joint")
STACKED = ("ols", "wls")
# The energy model has no factors: every group left out is another pass over the data.
_MOST_ENERGY_GROUPS = 20

Progress = Callable[[float], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class Choice:
    """How to estimate.

    Attributes:
        method: one of :data:`METHODS`.
        essential: how to find the essential parameters; None: all are kept.
        weighting: of the bags.
        robust: how outliers are limited; None: not at all.

    Raises:
        SettingError: the method does not exist, or cannot do what is asked for.
    """

    method: str
    essential: EliminationRule | None = None
    weighting: Weighting = field(default_factory=Weighting)
    robust: HuberSettings | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SettingError("method", self.method, f"choose one of {', '.join(METHODS)}")
        if self.method not in STACKED:
            for name, asked in (
                ("essential", self.essential is not None),
                ("bag weights", bool(self.weighting.bag_weights)),
                ("robust", self.robust is not None),
            ):
                if asked:
                    raise SettingError(name, self.method, "works with the methods ols and wls")
        if self.weighting.bag_noise and self.method != "wls":
            raise SettingError("bag_noise", self.method, "works with the method wls")


@by_value
@dataclass(frozen=True)
class Outcome:
    """What a method gave.

    Attributes:
        estimate: of all base parameters, or of the essential ones.
        factors: one factor per joint, bags weighted and outliers limited where asked for.
        measured: the factors of every group, with the efforts as measured.
        fit_without: given the number of a group, the values without it; None where that would be
            too expensive.
        elimination: the essential parameters, where asked for.
        robustness: what limiting outliers did, where asked for.
        levels: (bags, joints) noise over that of the joint, where bags were weighted by it.
        scales: (bags, joints) factors on the rows; None where there are none.
    """

    estimate: Estimate
    factors: tuple[JointFactor, ...]
    measured: tuple[tuple[JointFactor, ...], ...]
    fit_without: Callable[[int], Array] | None
    elimination: Elimination | None = None
    robustness: Robustness | None = None
    levels: Array | None = None
    scales: Array | None = None


def estimate_from(
    choice: Choice, data: Data, progress: Progress, cancelled: Cancelled | None = None
) -> Outcome:
    """Return what a method makes of filtered recordings.

    Args:
        choice: how to estimate; its weights are one per bag, or none.
        data: what from.
        progress: told the fraction of a pass over the data that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        NotExcitedError: the motion does not determine every base parameter.
        RecordingError: the recordings are of no use; NoEffortError where nobody measured efforts.
        SettingError: a setting is not possible.
        CancelledError: if ``cancelled`` says so.
    """
    if len(data.bags) == 1:
        choice = replace(choice, weighting=Weighting())
    divisor = data.processing.residual_divisor
    problem = Problem(choice.method, data.base.names, divisor, choice.weighting, data.noise)
    rows = fold_groups(
        data.base,
        data.segments,
        data.division,
        data.processing,
        bands="none" if choice.method == "energy" else problem.bands,
        progress=progress,
        cancelled=cancelled,
    )
    bags = rows.factors if data.division.scheme == "bags" else [rows.merged()]
    refuse_silent_joints(bags, data.bags)
    if choice.method == "energy":
        return _by_energy(data, rows)
    if choice.method == "one-joint":
        return _one_joint(data, rows)
    return _stacked(choice, problem, data, rows, progress, cancelled)


def _by_energy(data: Data, rows: GroupedRows) -> Outcome:
    def values(group: int) -> Array:
        few = without(data.segments, data.division, group, data.processing)
        left = [own for number, own in enumerate(rows.factors) if number != group]
        return identify_energy(data.base, few, data.processing, merged(left)).values

    factors = rows.merged()
    estimate = identify_energy(data.base, data.segments, data.processing, factors)
    few_groups = len(rows.factors) <= _MOST_ENERGY_GROUPS
    return Outcome(estimate, factors, rows.factors, values if few_groups else None)


def _one_joint(data: Data, rows: GroupedRows) -> Outcome:
    divisor = data.processing.residual_divisor
    factors, left = rows.merged(), others(rows.factors)
    return Outcome(
        identify_one_joint(data.base, factors, divisor, rows.bands[0]),
        factors,
        rows.factors,
        lambda group: identify_one_joint(data.base, left[group], divisor).values,
    )


def _stacked(
    choice: Choice,
    problem: Problem,
    data: Data,
    measured: GroupedRows,
    progress: Progress,
    cancelled: Cancelled | None,
) -> Outcome:
    if choice.robust is None:
        return estimate_rows(choice, problem, measured)
    found, rows, robustness = identify_limited(
        problem, data, measured, choice.robust, progress=progress, cancelled=cancelled
    )
    return _with_essentials(choice, problem, measured, found, rows, robustness)


def estimate_rows(choice: Choice, problem: Problem, rows: GroupedRows) -> Outcome:
    """Return what ordinary or weighted least squares makes of rows that are folded already.

    Args:
        choice: how to estimate, by ``ols`` or ``wls``, without limits for outliers.
        problem: what is to be solved.
        rows: the rows, with the bands that the problem needs.

    Raises:
        NotExcitedError: the motion does not determine every base parameter.
        SettingError: a setting is not possible.
    """
    return _with_essentials(choice, problem, rows, solve_stacked(problem, rows), rows, None)


def _with_essentials(
    choice: Choice,
    problem: Problem,
    measured: GroupedRows,
    found: Stacked,
    rows: GroupedRows,
    robustness: Robustness | None,
) -> Outcome:
    """Return an estimate as the outcome, of the essential parameters where these are asked for.

    Args:
        choice: how to estimate.
        problem: what was solved.
        measured: the rows with the efforts as measured.
        found: the estimate of all base parameters.
        rows: the rows that it was made from.
        robustness: what limiting outliers did; None where that was not asked for.
    """
    estimate, elimination = found.estimate, None
    if choice.essential is not None:
        elimination = essential_only(
            problem.names,
            rows,
            found,
            choice.essential,
            problem.divisor,
            measured=None if robustness is None else measured,
            efficiency=None if robustness is None else robustness.efficiency,
        )
        estimate = elimination.estimate
    return Outcome(
        estimate=estimate,
        factors=found.factors,
        measured=measured.factors,
        fit_without=_fit_without(problem, rows, found, elimination),
        elimination=elimination,
        robustness=robustness,
        levels=found.levels if problem.weighting.bag_noise else None,
        scales=found.scales,
    )


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
