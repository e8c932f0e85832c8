"""The motion and efforts behind a fit, thinned until any change can be tried on them quickly.

The rows are about those of the identification: positions come from the same filter, and rows at
low speed are left out.  There the regressor passes the filter of the decimation, as the efforts do;
here the motion does, so that another motion or robot costs one evaluation at few instants.  In
between, the noise of accelerations would pull inertia towards zero, and what is left unexplained
then looks like a shift in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.model import RobotModel
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.filters import filtering
from robot_identification.signals.filters.decimation import PADDING, Decimator
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.rows import kept_rows

MOST_ROWS = 1200
"""Instants that are kept, spread over all: some hundred rows for each parameter of six axes."""

MOST_SAMPLES = 120_000
"""Samples that are filtered for them, in parts spread over the recordings."""

_PARTS = 12
_REVERSAL_WINDOW = 2.0
"""Decimated rows around a reversal that are left out, as the sign of the speed is not filtered."""

_SIZES = (0.002, 0.004, 0.007, 0.01, 0.014, 0.02, 0.028, 0.04, 0.06, 0.09, 0.13)
SHIFTS = tuple(s * d for d in _SIZES for s in (-1.0, 1.0))
"""Trial delays of the efforts in s: from a sample of a fast clock to an eighth of a second."""


@by_value
@dataclass(frozen=True)
class Motion:
    """What was measured, at few instants.

    Attributes:
        robot: the robot.
        position: (joints, instants) in rad or m.
        velocity: (joints, instants).
        acceleration: (joints, instants).
        effort: (joints, instants) in N m or N; all four without what the decimation takes away.
        shifted: (shifts, joints, instants) the efforts that came later by each of ``SHIFTS``, to
            whole samples.
        kept: (joints, instants) which rows take part.
        part: (instants,) number of the part of time, 0 or 1, that an instant belongs to.
        temperature: (joints, instants) in degrees Celsius; NaN for joints without.
        time: (instants,) seconds since the first stamp of the recording.
    """

    robot: RobotModel
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array
    shifted: Array
    kept: npt.NDArray[np.bool_]
    part: npt.NDArray[np.intp]
    temperature: Array
    time: Array

    @property
    def instants(self) -> int:
        """Number of instants."""
        return int(self.position.shape[1])

    def every(self, step: int) -> Motion:
        """Return the same at one in so many instants."""
        signals: dict[str, Any] = {
            name: np.ascontiguousarray(getattr(self, name)[..., ::step])
            for name in ("position", "velocity", "acceleration", "effort", "temperature")
        }
        shifted, kept = self.shifted[..., ::step], self.kept[:, ::step]
        return replace(
            self, **signals, shifted=shifted, kept=kept, part=self.part[::step],
            time=self.time[::step],
        )  # fmt: skip

    def with_signals(self, **signals: Array) -> Motion:
        """Return the same with other signals."""
        changes: dict[str, Any] = dict(signals)
        return replace(self, **changes)


def thinned(
    robot: RobotModel, segments: Sequence[FilteredSegment], processing: Processing
) -> Motion | None:
    """Return few instants of filtered segments, None where they are too short to tell anything.

    Args:
        robot: the robot.
        segments: from the recordings of a fit.
        processing: its settings.
    """
    window = max(processing.velocity_threshold_window, _REVERSAL_WINDOW)
    wide = replace(processing, velocity_threshold_window=window)
    pieces = [_piece(robot, part, wide) for part in parts_of(segments, processing)]
    columns = [piece for piece in pieces if piece is not None]
    if not columns:
        return None
    joined = [np.concatenate(signals, axis=-1) for signals in zip(*columns, strict=True)]
    count = joined[0].shape[-1]
    step = max(1, -(-count // MOST_ROWS))
    position, velocity, acceleration, effort, shifted, kept, temperature, time = (
        np.ascontiguousarray(signal[..., ::step]) for signal in joined
    )
    left = position.shape[-1]
    return Motion(
        robot, position, velocity, acceleration, effort, shifted, kept.astype(np.bool_),
        (np.arange(left) >= left // 2).astype(np.intp), temperature, time,
    )  # fmt: skip


def parts_of(segments: Sequence[FilteredSegment], processing: Processing) -> list[FilteredSegment]:
    """Return parts of segments, spread over them all, with no more samples than allowed."""
    total = sum(segment.samples for segment in segments)
    if total <= MOST_SAMPLES:
        return list(segments)
    share = MOST_SAMPLES / total
    parts: list[FilteredSegment] = []
    for segment in segments:
        needed = processing.shortest_segment(segment.period)
        count = max(1, round(_PARTS * segment.samples / total))
        size = min(max(int(share * segment.samples / count), needed), segment.samples)
        begins = np.linspace(0, segment.samples - size, count).astype(int)
        parts.extend(segment.part(slice(begin, begin + size)) for begin in begins)
    return parts


def _piece(
    robot: RobotModel, segment: FilteredSegment, processing: Processing
) -> tuple[npt.NDArray[Any], ...] | None:
    decimator = processing.decimator(segment.period)
    if segment.samples < max(decimator.shortest, PADDING + 2):
        return None
    position, velocity, acceleration, efforts = (
        _decimated(decimator, signal)
        for signal in (segment.position, segment.velocity, segment.acceleration, segment.effort)
    )
    places = decimator.kept(segment.samples)
    kept = kept_rows(robot, segment, processing)
    reach = max(abs(shift) for shift in SHIFTS) / segment.period
    inside = (places >= reach + 1) & (places + reach + 1 <= segment.samples - 1)
    places, kept = places[inside], kept[:, inside]
    if not len(places):
        return None
    # Whole samples: interpolation would smooth the noise, and so explain some of it.
    shifted = np.array([efforts[:, places + round(shift / segment.period)] for shift in SHIFTS])
    return (
        position[:, places],
        velocity[:, places],
        acceleration[:, places],
        efforts[:, places],
        shifted,
        kept,
        np.full(kept.shape, np.nan)
        if segment.temperature is None
        else segment.temperature[:, places],
        segment.time[places],
    )


def _decimated(decimator: Decimator, signal: Array) -> Array:
    """Return a signal without what the decimation takes away."""
    if decimator.factor == 1:
        return np.asarray(signal)
    return filtering.zero_phase(decimator.sections, PADDING, signal) / decimator.gain
