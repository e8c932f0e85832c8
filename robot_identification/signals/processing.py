"""Complete settings of the signal processing: every value, and the reason for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from robot_identification.errors import SettingError
from robot_identification.robot.processing import (
    Divisor,
    EndTreatment,
    PinnedSample,
    ThresholdScope,
)
from robot_identification.signals import filtering
from robot_identification.signals.decimation import Decimator

# End effects are cut where the response of a filter is still above this part of its peak.  Since
# signals are continued by reflection, what is left of an end effect there is far smaller.
END_LEVEL = 1e-2


@dataclass(frozen=True)
class Processing:
    """How recorded signals become rows of a least-squares system; nothing is left open.

    Attributes:
        cutoff_hz: cut-off of the zero-phase Butterworth filter of the positions, in Hz.
        filter_order: order of one pass of it.
        difference_order: order of accuracy of the central differences, even.
        rate_hz: rate of the decimated rows, in Hz; what a recording gets is its own rate divided
            by the integer nearest to the quotient.
        velocity_threshold: (joints,) speeds below which rows are left out; 0 leaves none out.
        velocity_threshold_window: part of a decimation step around the instant of a row in which
            the speed must stay above its threshold.
        velocity_threshold_scope: ``joint`` or ``sample``, see
            :class:`~robot_identification.robot.processing.ProcessingSettings`.
        drop_start: samples dropped at the start of every segment, after filtering.
        drop_end: samples dropped at the end of every segment.
        ends: ``cut`` or ``keep`` decimated rows that end effects reach.
        residual_divisor: divisor of the variance of the residual.
        decimation_pins: ``first`` or ``last`` sample, from which decimation counts.
        reasons: for every setting where its value came from: ``option``, ``robot file``, or
            ``derived: ...``.
    """

    cutoff_hz: float
    filter_order: int
    difference_order: int
    rate_hz: float
    velocity_threshold: tuple[float, ...]
    velocity_threshold_window: float
    velocity_threshold_scope: ThresholdScope
    drop_start: int
    drop_end: int
    ends: EndTreatment
    residual_divisor: Divisor
    decimation_pins: PinnedSample = "first"
    reasons: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reasons", MappingProxyType(dict(self.reasons)))
        for name in ("cutoff_hz", "rate_hz", "filter_order"):
            if not getattr(self, name) > 0:
                raise SettingError(name, getattr(self, name), "must be positive")
        if self.rate_hz < filtering.LOWEST_HZ:
            raise SettingError("rate_hz", self.rate_hz, f"below {filtering.LOWEST_HZ:g} Hz")
        filtering.difference_weights(self.difference_order)
        for name in ("drop_start", "drop_end"):
            if getattr(self, name) < 0:
                raise SettingError(name, getattr(self, name), "must not be negative")
        if not 0.0 <= self.velocity_threshold_window <= 10.0:
            raise SettingError(
                "velocity_threshold_window", self.velocity_threshold_window, "must lie in 0 to 10"
            )
        if not all(0.0 <= threshold < float("inf") for threshold in self.velocity_threshold):
            raise SettingError(
                "velocity_threshold", self.velocity_threshold, "must be finite and not negative"
            )

    def decimator(self, period: float) -> Decimator:
        """Return the decimation of a recording with a sampling period in s."""
        return _decimator(max(1, round(1.0 / (period * self.rate_hz))), self.decimation_pins)

    def cut_outputs(self, period: float) -> int:
        """Return how many decimated rows are cut at each end of a segment."""
        return self.decimator(period).end_outputs(END_LEVEL) if self.ends == "cut" else 0

    def shortest_segment(self, period: float) -> int:
        """Return the smallest number of samples of a segment that leaves a row."""
        decimator = self.decimator(period)
        rows = max(decimator.shortest, (2 * self.cut_outputs(period) + 1) * decimator.factor)
        padded = filtering.padding(self.filter_order) + 1
        differences = 2 * self.difference_order + 1
        return max(self.drop_start + self.drop_end + rows, padded, differences)

    def entries(self) -> dict[str, dict[str, object]]:
        """Return ``value`` and ``reason`` of every setting, as plain data for results."""
        return {
            name: {
                "value": list(value) if isinstance(value, tuple) else value,
                "reason": self.reasons.get(name, ""),
            }
            for name, value in vars(self).items()
            if name != "reasons"
        }


@lru_cache(maxsize=16)
def _decimator(factor: int, pinned: PinnedSample) -> Decimator:
    """Return the decimation by a factor, whose filter is designed once."""
    return Decimator(factor, pinned)
