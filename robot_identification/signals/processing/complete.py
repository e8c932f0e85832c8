"""Complete settings of the signal processing: every value, and the reason for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from robot_identification.robot.processing import (
    END_LEVEL,
    Divisor,
    EndTreatment,
    PinnedSample,
    ProcessingSettings,
    ThresholdScope,
    VelocitySource,
)
from robot_identification.signals.filters import filtering
from robot_identification.signals.filters.decimation import Decimator


@dataclass(frozen=True)
class Processing:
    """Settings from recorded signals to rows of a least-squares system; nothing is left open.

    The settings are those of :class:`~robot_identification.robot.processing.ProcessingSettings`,
    with a threshold for every joint; 0 leaves no row out.  What a recording gets as rate is its
    own rate divided by the integer nearest to the quotient.

    Attributes:
        reasons: for every setting where its value came from: ``option``, ``robot file``, or
            ``derived: ...``.
        warnings: what is doubtful about them, one line each.
        row_noise: (joints,) noise of the acceleration in the rows, as a part of the motion's; empty
            where it is not known.
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
    velocities: VelocitySource = "derived"
    reasons: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    row_noise: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "reasons", MappingProxyType(dict(self.reasons)))
        for name, setting in ProcessingSettings.table().items():
            setting.check(getattr(self, name))

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
            if name not in ("reasons", "warnings", "row_noise")
        }


@lru_cache(maxsize=16)
def _decimator(factor: int, pinned: PinnedSample) -> Decimator:
    """Return the decimation by a factor, whose filter is designed once."""
    return Decimator(factor, pinned)
