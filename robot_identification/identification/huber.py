"""Least squares that outliers cannot pull: Huber's estimate by limited residuals.

The estimate minimises the sum of rho(r / s) with rho quadratic up to k and linear beyond (Huber
1981, section 7.3).  It is found by least squares on pseudo-efforts, the prediction plus the limited
residual (Huber 1981, section 7.8),

    Y* = W chi + limit(Y - W chi, +- k s_j),

again and again until chi stays: the rows W never change, and at the end the factors [W Y*] are
ordinary ones, which merge, calibrate and report like any others.  s_j is the median of the absolute
residuals of joint j over 0.6745, which outliers hardly move.

A single bad sample would be smeared over many rows by decimation.  Efforts are therefore limited at
the full rate first, to a wider bound, and their rows after decimation once more.

Every pass goes over the samples again; of the rows only their residuals are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.identification.base import BaseParameters
from robot_identification.identification.outliers import (
    Limiter,
    Outliers,
    outlier_entries,
    smallest_scales,
    tell_outliers,
    without_spikes,
)
from robot_identification.identification.row_groups import Division, GroupedRows, fold_groups
from robot_identification.identification.stacked import Problem, Stacked, solve_stacked
from robot_identification.robot.model import Array, read_only
from robot_identification.signals.processing import Processing
from robot_identification.signals.samples import FilteredSegment

THRESHOLD = 1.345
# Bound of samples before decimation, in standard deviations of their residual.
_SPIKE = 4.0
_MOST = 60
# Largest change at the end: of a value, in standard deviations and as a part of itself (exact data
# have none), and of a limit, as a part of itself.
_STILL = 1e-3
_STILL_PART = 1e-9
_STILL_LIMIT = 1e-3
_LEAST_EFFICIENCY = 0.05
_MANY = 0.01


@dataclass(frozen=True)
class HuberSettings:
    """How outliers are limited.

    Attributes:
        threshold: k, residual in standard deviations beyond which a row pulls no harder; 1.345
            keeps 95 % of the efficiency where the noise is normal.

    Raises:
        SettingError: the threshold is not positive.
    """

    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold < float("inf"):
            raise SettingError("threshold of huber", self.threshold, "must be positive and finite")


@dataclass(frozen=True)
class Robustness:
    """What limiting outliers did.

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


@dataclass(frozen=True)
class Data:
    """What every pass goes over.

    Attributes:
        base: base parameters.
        segments: of all bags, in their order.
        division: groups of their rows.
        bags: names of the bags.
        processing: settings of the signal processing.
    """

    base: BaseParameters
    segments: Sequence[FilteredSegment]
    division: Division
    bags: tuple[str, ...]
    processing: Processing

    def times(self) -> list[Array]:
        """Return for each bag the (rows,) times in s since its first stamp."""
        times: list[list[Array]] = [[] for _ in self.bags]
        for segment, bag in zip(self.segments, self.division.bags, strict=True):
            kept = self.processing.decimator(segment.period).kept(segment.samples)
            times[bag].append(segment.time[kept])
        return [np.concatenate(own) for own in times]


def identify_limited(
    problem: Problem,
    data: Data,
    measured: GroupedRows,
    settings: HuberSettings,
    *,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Stacked, GroupedRows, Robustness]:
    """Return Huber's estimate, the rows with limited efforts, and what was limited.

    Args:
        problem: method and weights.
        data: what to go over.
        measured: the rows with the efforts as measured.
        settings: where residuals are limited.
        progress: told the fraction of a pass that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        NotExcitedError: the data do not determine every parameter.
        CancelledError: if ``cancelled`` says so.
    """
    threshold, division = settings.threshold, data.division
    smallest = smallest_scales(data.segments)
    found = solve_stacked(problem, measured)
    scales = np.tile(np.maximum(found.estimate.residual_std, smallest), (len(data.bags), 1))
    passes, still, steady = 0, np.array(False), np.array(False)
    while passes < _MOST and not (still.all() and steady.all()):
        passes += 1
        before, values, limits = found.estimate, found.estimate.values, threshold * scales
        cleaned, spikes = without_spikes(
            data.base, values, data.segments, division, data.processing, _SPIKE
        )
        limiter = Limiter(data.base, values, limits, division)
        rows = fold_groups(
            data.base,
            cleaned,
            division,
            data.processing,
            change=limiter,
            bands=problem.bands,
            progress=progress,
            cancelled=cancelled,
        )
        scales = limiter.scales(smallest, apart=problem.weighting.bag_noise)
        efficiency = np.maximum(limiter.efficiency(), _LEAST_EFFICIENCY)
        found = solve_stacked(problem, rows, measured=measured, efficiency=efficiency)
        change = np.abs(found.estimate.values - before.values)
        still = change <= _STILL * found.estimate.std + _STILL_PART * np.abs(values)
        steady = np.abs(threshold * scales / limits - 1.0) < _STILL_LIMIT
    report = Robustness(
        threshold=threshold,
        iterations=passes,
        converged=bool(still.all() and steady.all()),
        efficiency=read_only(efficiency),
        outliers=tell_outliers(
            limiter,
            scales,
            spikes,
            data.times(),
            threshold,
            data.bags,
            data.base.robot.joint_names,
        ),
    )
    return found, rows, report


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
        "method": "huber",
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
    return Robustness(
        threshold=float(entries["threshold"]),
        iterations=int(entries["iterations"]),
        converged=bool(entries["converged"]),
        efficiency=read_only(np.array(entries["efficiency"], dtype=np.float64)),
        outliers=tuple(
            Outliers(**{**entry, "worst": tuple((float(t), float(r)) for t, r in entry["worst"])})
            for entry in entries["outliers"]
        ),
    )
