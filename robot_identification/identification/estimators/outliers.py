"""Residuals of rows, kept to judge them: scales, limits, and which rows and samples stand out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification import entries as entry_of
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.rows.groups import Division
from robot_identification.identification.rows.whole import RowBlock
from robot_identification.robot.arrays import Array
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.complete import Processing

# Spikes: bound in standard deviations, and samples to either side that are looked at.
_SPIKE = 6.0
_SPIKE_REACH = (3, 50)
# A row that is so many standard deviations off is called an outlier.
OUTLYING = 4.0
# Largest outliers that are told, and the time in s that lies between them.
_TOLD = 3
_APART = 1.0
_NORMAL_MEDIAN = 0.6744897501960817
# Smallest scale, as a part of the root mean square of the efforts: exact data have no noise.
_SMALLEST = 1e-9
_SAMPLES = 4096


@dataclass(frozen=True)
class Outliers:
    """Rows of one joint in one bag whose influence was limited.

    Attributes:
        bag: name of the bag.
        joint: name of the joint.
        rows: number of rows.
        limited: rows whose residual was limited.
        outlying: rows more than four standard deviations off.
        spikes: samples that stood off their surroundings and were limited before decimation.
        scale: robust standard deviation of the residual, in N m or N.
        worst: time in s since the first stamp and residual in N m or N of the largest outliers, at
            least a second apart.
    """

    bag: str
    joint: str
    rows: int
    limited: int
    outlying: int
    spikes: int
    scale: float
    worst: tuple[tuple[float, float], ...]


class Limiter:
    """Limits the residuals of decimated rows, and keeps them.

    Args:
        base: base parameters.
        values: (parameters,) those that predict the efforts.
        limits: (bags, joints) largest residual that stays as it is.
        division: says which segment is of which bag and how many rows there are.
    """

    def __init__(
        self, base: BaseParameters, values: Array, limits: Array, division: Division
    ) -> None:
        self._joint_rows = Regressor(base.robot, base.base_columns, spare=1).joint_rows
        self._values, self._limits, self._division = values, limits, division
        self._residuals = [np.full((limits.shape[1], len(p)), np.nan) for p in division.places]

    def __call__(self, segment: int, block: RowBlock) -> None:
        """Replace the efforts of a block of rows by prediction and limited residual."""
        rows = block.rows
        limits = self._limits[self._division.bags[segment]]
        for k, joint in enumerate(self._joint_rows):
            predicted = self._values[joint.columns] @ rows[joint.rows]
            residual = rows[joint.rows.stop] - predicted
            rows[joint.rows.stop] = predicted + np.clip(residual, -limits[k], limits[k])
            self._residuals[segment][k, block.window.outputs] = np.where(
                block.kept[k], residual, np.nan
            )

    def of_bag(self, bag: int) -> Array:
        """Return (joints, rows) the residuals of a bag; NaN where a row does not count."""
        own = zip(self._residuals, self._division.bags, strict=True)
        return np.hstack([residuals for residuals, number in own if number == bag])

    def scales(self, smallest: Array, *, apart: bool) -> Array:
        """Return (bags, joints) robust standard deviations of the residuals.

        Args:
            smallest: (joints,) what they are at least.
            apart: whether every bag has its own.
        """
        bags = [self.of_bag(bag) for bag in range(len(self._limits))]
        if not apart:
            return np.tile(_scale(np.hstack(bags), smallest), (len(bags), 1))
        return np.array([_scale(residuals, smallest) for residuals in bags])

    def efficiency(self) -> Array:
        """Return (joints,) the share of the rows that were not limited; 1 where there is none."""
        inside, rows = np.zeros(self._limits.shape[1]), np.zeros(self._limits.shape[1])
        for bag, limits in enumerate(self._limits):
            residuals = np.abs(self.of_bag(bag))
            inside += np.count_nonzero(residuals <= limits[:, None], axis=1)
            rows += np.count_nonzero(np.isfinite(residuals), axis=1)
        return np.divide(inside, rows, out=np.ones_like(inside), where=rows > 0)


def _scale(residuals: Array, smallest: Array) -> Array:
    """Return (joints,) the medians of absolute residuals over that of a normal variable."""
    scales = smallest.copy()
    for k, own in enumerate(residuals):
        present = np.abs(own[np.isfinite(own)])
        if len(present):
            scales[k] = max(float(np.median(present)) / _NORMAL_MEDIAN, scales[k])
    return scales


def smallest_scales(segments: Sequence[FilteredSegment]) -> Array:
    """Return (joints,) what a standard deviation of the residual is at least."""
    squares = np.sum([(s.effort**2).sum(axis=1) for s in segments], axis=0)
    samples = sum(segment.samples for segment in segments)
    result: Array = np.maximum(_SMALLEST * np.sqrt(squares / samples), np.finfo(float).tiny)
    return result


def without_spikes(
    base: BaseParameters,
    values: Array,
    segments: Sequence[FilteredSegment],
    division: Division,
    processing: Processing,
) -> tuple[list[FilteredSegment], npt.NDArray[np.intp]]:
    """Limit how far samples at the full rate stand off their surroundings, before decimation.

    The residual of a sample may differ from the median of those within a decimation step to either
    side by six robust standard deviations of the residuals.  What lasts longer stays.

    Args:
        base: base parameters.
        values: (parameters,) those that predict the efforts.
        segments: of all bags.
        division: says which segment is of which bag.
        processing: says what a decimation step is.

    Returns:
        The segments with limited efforts, and (bags, joints) how many samples were limited.
    """
    regressor = Regressor(base.robot, base.base_columns)
    bags = max(division.bags) + 1
    counts = np.zeros((bags, len(base.robot.active_joints)), dtype=np.intp)
    cleaned = list(segments)
    for bag in range(bags):
        numbers = [i for i, own in enumerate(division.bags) if own == bag]
        residuals, apart = [], []
        for i in numbers:
            residual = segments[i].effort - _predicted(regressor, values, segments[i])
            factor = processing.decimator(segments[i].period).factor
            reach = int(np.clip(factor, *_SPIKE_REACH))
            around = scipy.ndimage.median_filter(residual, (1, 2 * reach + 1), mode="nearest")
            apart.append(residual - around)
            if (measured := segments[i].measured) is not None:
                apart[-1][:, ~measured] = 0.0  # no effort was there that could stand off
                residual = residual[:, measured]
            residuals.append(residual)
        smallest = smallest_scales([segments[i] for i in numbers])
        limits = _SPIKE * _scale(np.hstack(residuals), smallest)[:, None]
        for i, own in zip(numbers, apart, strict=True):
            excess = own - np.clip(own, -limits, limits)
            cleaned[i] = segments[i].with_effort(segments[i].effort - excess)
            counts[bag] += np.count_nonzero(excess, axis=1)
    return cleaned, counts


def _predicted(regressor: Regressor, values: Array, segment: FilteredSegment) -> Array:
    """Return (joints, samples) the predicted efforts."""
    result = np.empty(segment.effort.shape)
    for first in range(0, segment.samples, _SAMPLES):
        part = slice(first, first + _SAMPLES)
        q, qd, qdd = (
            np.array(signal[:, part])
            for signal in (segment.position, segment.velocity, segment.acceleration)
        )
        shares = None if segment.shares is None else segment.shares[:, part]
        temperature = None if segment.temperature is None else segment.temperature[:, part]
        rows = regressor.compact(q, qd, qdd, shares=shares, temperature=temperature)
        for k, joint in enumerate(regressor.joint_rows):
            result[k, part] = values[joint.columns] @ rows[joint.rows]
    return result


def tell_outliers(
    limiter: Limiter,
    scales: Array,
    spikes: npt.NDArray[np.intp],
    times: Sequence[Array],
    threshold: float,
    bags: Sequence[str],
    joints: Sequence[str],
) -> tuple[Outliers, ...]:
    """Return what was limited, bag by bag and joint by joint.

    Args:
        limiter: with the residuals.
        scales: (bags, joints) robust standard deviations.
        spikes: (bags, joints) from :func:`without_spikes`.
        times: (rows,) of each bag, in s since its first stamp.
        threshold: in standard deviations, from which residuals are limited.
        bags: their names.
        joints: their names.
    """
    told = []
    for b, bag in enumerate(bags):
        for j, (joint, residual) in enumerate(zip(joints, limiter.of_bag(b), strict=True)):
            size = np.nan_to_num(np.abs(residual)) / scales[b, j]
            told.append(
                Outliers(
                    bag=bag,
                    joint=joint,
                    rows=int(np.isfinite(residual).sum()),
                    limited=int(np.count_nonzero(size > threshold)),
                    outlying=int(np.count_nonzero(size > OUTLYING)),
                    spikes=int(spikes[b, j]),
                    scale=float(scales[b, j]),
                    worst=_worst(times[b], residual, size),
                )
            )
    return tuple(told)


def _worst(time: Array, residual: Array, size: Array) -> tuple[tuple[float, float], ...]:
    worst: list[tuple[float, float]] = []
    for place in np.argsort(-size, kind="stable"):
        if size[place] <= OUTLYING or len(worst) == _TOLD:
            break
        if all(abs(time[place] - other) >= _APART for other, _ in worst):
            worst.append((float(time[place]), float(residual[place])))
    return tuple(worst)


def outlier_entries(outliers: Outliers) -> dict[str, object]:
    """Return the plain data of what was limited."""
    return {**vars(outliers), "worst": [list(pair) for pair in outliers.worst]}


def outliers_of(entry: Mapping[str, Any]) -> Outliers:
    """Return what plain data describe.

    Raises:
        KeyError, TypeError, ValueError: they describe nothing of the kind.
    """
    worst = entry["worst"]
    if not isinstance(worst, list):
        raise TypeError(f"worst is {worst!r:.40}, not a list")
    pairs = [entry_of.finite(pair, "worst", 2).tolist() for pair in worst]
    return Outliers(
        bag=entry_of.text(entry, "bag"),
        joint=entry_of.text(entry, "joint"),
        rows=entry_of.count(entry, "rows"),
        limited=entry_of.count(entry, "limited"),
        outlying=entry_of.count(entry, "outlying"),
        spikes=entry_of.count(entry, "spikes"),
        scale=entry_of.number(entry, "scale"),
        worst=tuple((time, residual) for time, residual in pairs),
    )
