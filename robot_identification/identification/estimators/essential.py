"""Essential parameters: elimination of base parameters by relative standard deviation.

The parameter of the largest relative standard deviation is removed and the others are estimated
again, until those that are left are known about equally well (Pham and Gautier 1991, as used in
Gautier and Venture 2013, section III) or until the error would grow beyond what noise explains.
Nothing but the triangular factors is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy
import scipy.linalg

from robot_identification.errors import SettingError
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.least_squares import Estimate
from robot_identification.identification.rows.factor import JointFactor, restrict, stack
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.processing import Divisor
from robot_identification.settings import Settings, setting

# The ratio is 10 to 30 in the literature.
_USUAL = {"ratio": 30.0, "f-test": 0.05}


@dataclass(frozen=True)
class EliminationRule(Settings):
    """Rule for ending the removal of parameters; see :func:`eliminate`."""

    rule: Literal["ratio", "f-test"] = setting(
        "ratio: stop when the largest relative standard deviation is at most so many times the "
        "smallest; f-test: stop before the squared residual grows by more than noise explains",
        "ratio",
        option="--essential-rule",
    )
    threshold: float | None = setting(
        f"that ratio, by default {_USUAL['ratio']:g}, or level of significance, by default "
        f"{_USUAL['f-test']:g}",
        above=0.0,
        option="--essential-threshold",
        metavar="X",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rule == "ratio" and self.limit < 1.0:
            raise SettingError("threshold", self.limit, "a ratio of deviations is at least 1")
        if self.rule == "f-test" and self.limit >= 1.0:
            problem = "a level of significance lies between 0 and 1"
            raise SettingError("threshold", self.limit, problem)

    @property
    def limit(self) -> float:
        """The threshold, that of the rule where none is given."""
        return _USUAL[self.rule] if self.threshold is None else self.threshold


@dataclass(frozen=True)
class Removal:
    """One step of the elimination.

    Attributes:
        name: the base parameter that was removed.
        std: its standard deviation just before, in its unit.
        relative_std_percent: that in percent of its value.
        ratio: largest over smallest relative standard deviation just before.
        error_growth: what all removals so far add to the norm of the weighted residual, as a
            fraction of that of all base parameters.
    """

    name: str
    std: float
    relative_std_percent: float
    ratio: float
    error_growth: float


@by_value
@dataclass(frozen=True)
class Elimination:
    """The essential parameters of an identification.

    Attributes:
        rule: ``ratio`` or ``f-test``.
        threshold: the ratio, or the significance level, at which the elimination stopped.
        kept: (base,) whether a base parameter is essential.
        removals: what was removed, in this order.
        estimate: least-squares estimate of all base parameters: those removed are zero, with the
            standard deviation that they had when they were removed.
    """

    rule: str
    threshold: float
    kept: npt.NDArray[np.bool_]
    removals: tuple[Removal, ...]
    estimate: Estimate

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", read_only(self.kept, np.bool_))


def eliminate(
    factors: Sequence[JointFactor],
    names: Sequence[str],
    weights: Array,
    rule: EliminationRule | None = None,
    *,
    divisor: Divisor = "rows-parameters",
) -> Elimination:
    """Find the essential parameters (Gautier and Venture 2013, section III).

    Args:
        factors: one factor per joint, of the rows of all base parameters.
        names: names of the base parameters.
        weights: (joints,) factor on the rows of each joint, as for the full estimate.
        rule: when to stop; by default by the ratio of standard deviations.
        divisor: what the squared weighted residual is divided by to give its variance.

    Raises:
        NotExcitedError: the data do not determine every base parameter.
    """
    chosen = rule or EliminationRule()
    least_squares.with_weights(factors, names, weights, divisor)  # refuses what is not determined
    kept, removals = _removed(factors, names, weights, chosen)
    return Elimination(
        rule=chosen.rule,
        threshold=chosen.limit,
        kept=np.isin(np.arange(len(names)), kept),
        removals=tuple(removals),
        estimate=_reduced(factors, names, weights, kept, removals, divisor),
    )


def estimate_of(
    factors: Sequence[JointFactor],
    names: Sequence[str],
    weights: Array,
    elimination: Elimination,
    kept: npt.NDArray[np.bool_],
) -> Estimate:
    """Return the estimate of other parameters than the essential ones alone.

    Args:
        factors: as for :func:`eliminate`.
        names: names of the base parameters.
        weights: (joints,) factor on the rows of each joint.
        elimination: says with which deviations the others were removed.
        kept: (base,) which base parameters are estimated; the others are zero.

    Raises:
        NotExcitedError: the data do not determine them.
    """
    places = np.flatnonzero(kept).tolist()
    return _reduced(factors, names, weights, places, elimination.removals, "rows-parameters")


def _reduced(
    factors: Sequence[JointFactor],
    names: Sequence[str],
    weights: Array,
    kept: Sequence[int],
    removals: Sequence[Removal],
    divisor: Divisor,
) -> Estimate:
    """Return the estimate of the parameters that stay, as one of all base parameters."""
    reduced = [restrict(factor, list(kept)) for factor in factors]
    few = least_squares.with_weights(reduced, [names[i] for i in kept], weights, divisor)
    return _expanded(few, kept, removals, names, factors)


def _removed(
    factors: Sequence[JointFactor],
    names: Sequence[str],
    weights: Array,
    rule: EliminationRule,
) -> tuple[list[int], list[Removal]]:
    """Return the places of the parameters that stay, and the steps that removed the others."""
    triangle = stack(factors, len(names), list(weights))
    rows = sum(factor.rows for factor in factors)
    full = triangle[-1, -1] ** 2
    kept = list(range(len(names)))
    removals: list[Removal] = []
    while len(kept) > 1:
        reduced = scipy.linalg.qr(triangle[:, [*kept, -1]], mode="r")[0][: len(kept) + 1]
        r, z, rest = reduced[:-1, :-1], reduced[:-1, -1], reduced[-1, -1] ** 2
        values = scipy.linalg.solve_triangular(r, z)
        inverse = scipy.linalg.solve_triangular(r, np.eye(len(kept)))
        std = np.sqrt(rest / max(rows - len(kept), 1)) * np.linalg.norm(inverse, axis=1)
        relative = std / np.maximum(np.abs(values), np.finfo(float).tiny)
        worst = int(np.argmax(relative))
        smallest = max(float(relative.min()), np.finfo(float).tiny)
        ratio = float(relative[worst]) / smallest
        # what its removal adds to the squared residual
        after = rest + (values[worst] / np.linalg.norm(inverse[worst])) ** 2
        if rule.rule == "ratio" and ratio <= rule.limit:
            break
        freedom = rows - len(names)
        if rule.rule == "f-test" and _grows(after, full, len(removals) + 1, freedom, rule.limit):
            break
        growth = float(np.sqrt(after / full)) - 1.0 if full > 0.0 else 0.0
        removals.append(
            Removal(
                name=names[kept.pop(worst)],
                std=float(std[worst]),
                relative_std_percent=100.0 * float(relative[worst]),
                ratio=ratio,
                error_growth=growth,
            )
        )
    return kept, removals


def _grows(after: float, full: float, removed: int, freedom: int, level: float) -> bool:
    """Tell by an F test whether removals raise the squared residual beyond what noise explains."""
    variance = full / max(freedom, 1)
    if variance <= 0.0:
        return after > 0.0
    statistic = (after - full) / removed / variance
    return bool(statistic > scipy.stats.f.isf(level, removed, max(freedom, 1)))


def _expanded(
    few: Estimate,
    kept: Sequence[int],
    removals: Sequence[Removal],
    names: Sequence[str],
    factors: Sequence[JointFactor],
) -> Estimate:
    """Return the estimate of the essential parameters as one of all base parameters."""
    values, std = np.zeros(len(names)), np.zeros(len(names))
    for removal in removals:
        std[list(names).index(removal.name)] = removal.std
    values[kept], std[kept] = few.values, few.std
    return Estimate(
        values=read_only(values),
        std=read_only(std),
        weights=few.weights,
        residual_std=few.residual_std,
        condition_number=few.condition_number,
        scaled_condition_number=few.scaled_condition_number,
        singular_values=few.singular_values,
        relative_error=least_squares.relative_error(factors, values),
        rows=few.rows,
    )


def elimination_entries(elimination: Elimination) -> dict[str, object]:
    """Return the plain data of an elimination: rule, threshold and what was removed."""
    return {
        "rule": elimination.rule,
        "threshold": elimination.threshold,
        "removed": [
            {
                "name": removal.name,
                "std": removal.std,
                "relative_std_percent": removal.relative_std_percent,
                "ratio": removal.ratio,
                "error_growth": removal.error_growth,
            }
            for removal in elimination.removals
        ],
    }
