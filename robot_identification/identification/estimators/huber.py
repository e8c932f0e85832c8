"""Huber's estimate: least squares with limited residuals, which outliers cannot pull.

The estimate minimises the sum of rho(r / s) with rho quadratic up to k and linear beyond (Huber
1981, section 7.3).  It is found by least squares on pseudo-efforts, the prediction plus the limited
residual (Huber 1981, section 7.8),

    Y* = W chi + limit(Y - W chi, +- k s_j),

again and again until chi stays: the rows W never change, and at the end the factors [W Y*] are
ordinary ones, which merge, calibrate and report like any others.  s_j is the median of the absolute
residuals of joint j over 0.6745, which outliers hardly move.

Decimation would smear a single bad sample over many rows.  Spikes, samples far off the median of
the residuals around them, are therefore taken out at the full rate first; what lasts longer than a
decimation step, as a collision does, is left to the rows.

Every pass goes over the samples again; of the rows only their residuals are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_identification.identification import entries as entry_of
from robot_identification.identification.estimators.outliers import (
    Limiter,
    Outliers,
    outlier_entries,
    outliers_of,
    smallest_scales,
    tell_outliers,
    without_spikes,
)
from robot_identification.identification.estimators.several_bags import (
    Problem,
    Stacked,
    solve_stacked,
)
from robot_identification.identification.rows.groups import Bands, GroupedRows
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.settings import Settings, setting

_MOST = 60
# Largest change at the end: of a value, in standard deviations or as a part of itself (exact data
# have none), and of a scale, as a part of itself.
_STILL = 1e-2
_STILL_PART = 1e-9
_STILL_SCALE = 1e-3
# The step of a pass falls short by about the share of rows that are limited (Huber 1981, 7.8).
_LARGEST_RELAXATION = 1.7
_LEAST_EFFICIENCY = 0.05
_MANY = 0.01
METHOD = "huber"


@dataclass(frozen=True)
class HuberSettings(Settings):
    """Settings of the limitation of outliers."""

    # Keeps 95 % of the efficiency where the noise is normal (Huber 1981).
    threshold: float = setting(
        "residual, in robust standard deviations, beyond which a row pulls no harder",
        1.345,
        above=0.0,
        option="--robust-threshold",
        metavar="K",
    )


@by_value
@dataclass(frozen=True)
class Robustness:
    """Effect of the limitation of outliers.

    Attributes:
        threshold: k.
        iterations: passes over the data.
        converged: whether the estimate stayed in the end.
        efficiency: (joints,) share of the rows within k standard deviations.
        outliers: per bag and joint.
    """

    threshold: float
    iterations: int
    converged: bool
    efficiency: Array
    outliers: tuple[Outliers, ...]


def identify_limited(
    problem: Problem,
    data: WholeRows,
    measured: GroupedRows,
    settings: HuberSettings,
) -> tuple[Stacked, GroupedRows, Robustness]:
    """Return Huber's estimate, the rows with limited efforts, and what was limited.

    Args:
        problem: method and weights.
        data: what to go over.
        measured: the rows with the efforts as measured.
        settings: where residuals are limited.

    Raises:
        NotExcitedError: the data do not determine every parameter.
        CancelledError: the caller wants to stop.
    """
    threshold, joints = settings.threshold, data.base.robot.active_names
    smallest = smallest_scales(data.segments)
    estimate = problem.estimate(measured.factors)
    scales = np.tile(np.maximum(estimate.residual_std, smallest), (len(data.bags), 1))
    cleaned, spikes = without_spikes(
        data.base, estimate.values, data.segments, data.division, data.processing
    )
    without = replace(data, segments=cleaned)

    def limited(values: Array, bands: Bands) -> tuple[GroupedRows, Limiter]:
        limiter = Limiter(data.base, values, threshold * scales, data.division)
        return without.rows(bands, limiter), limiter

    passes, settled, values = 0, False, estimate.values
    while passes < _MOST and not settled:
        passes += 1
        rows, limiter = limited(values, "none")
        found = problem.estimate(rows.factors)
        before, scales = scales, limiter.scales(smallest, apart=problem.weighting.bag_noise)
        relaxation = min(1.0 / limiter.efficiency().mean(), _LARGEST_RELAXATION)
        step = relaxation * (found.values - values)
        values = values + step
        still = np.abs(step) <= _STILL * found.std + _STILL_PART * np.abs(values)
        settled = bool(still.all() and (np.abs(scales / before - 1.0) < _STILL_SCALE).all())
    rows, limiter = limited(values, problem.bands)
    efficiency = np.maximum(limiter.efficiency(), _LEAST_EFFICIENCY)
    report = Robustness(
        threshold=threshold,
        iterations=passes,
        converged=settled,
        efficiency=read_only(efficiency),
        outliers=tell_outliers(limiter, scales, spikes, data.times(), threshold, data.bags, joints),
    )
    return solve_stacked(problem, rows, efficiency), rows, report


def robustness_warnings(found: Robustness) -> tuple[str, ...]:
    """Return what a user should know about outliers."""
    lines = []
    if not found.converged:
        lines.append(
            f"the estimate with limited outliers still moved after {found.iterations} passes; "
            "the motion may hardly determine some parameters"
        )
    many = [o for o in found.outliers if o.outlying > _MANY * o.rows]
    if many:
        worst = max(many, key=lambda outliers: outliers.outlying / outliers.rows)
        where = ", ".join(f"{time:.1f} s" for time, _ in worst.worst)
        lines.append(
            f"outliers: more than {_MANY:.0%} of the rows of {len(many)} of "
            f"{len(found.outliers)} joints and bags; most of {worst.joint} in {worst.bag}: "
            f"{worst.outlying} of {worst.rows}, the largest at {where}"
        )
    return tuple(lines)


def robustness_entries(found: Robustness) -> dict[str, Any]:
    """Return the plain data of what limiting outliers did."""
    return {
        "method": METHOD,
        "threshold": found.threshold,
        "iterations": found.iterations,
        "converged": found.converged,
        "efficiency": found.efficiency.tolist(),
        "outliers": [outlier_entries(entry) for entry in found.outliers],
    }


def robustness_of(entries: Mapping[str, Any]) -> Robustness:
    """Return what plain data describe.

    Raises:
        KeyError, TypeError, ValueError: they describe nothing of the kind.
    """
    if entries["method"] != METHOD:
        raise ValueError(f"outliers were limited by {entries['method']!r:.40}, not {METHOD}")
    return Robustness(
        threshold=entry_of.number(entries, "threshold"),
        iterations=entry_of.count(entries, "iterations"),
        converged=entry_of.flag(entries, "converged"),
        efficiency=read_only(entry_of.finite(entries["efficiency"], "efficiency")),
        outliers=tuple(outliers_of(entry) for entry in entry_of.mappings(entries, "outliers")),
    )
