"""How recorded signals are processed before estimation: the settings, each of them optional."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

EndTreatment = Literal["cut", "keep"]
Divisor = Literal["rows-parameters", "rows-1"]
ThresholdScope = Literal["joint", "sample"]


@dataclass(frozen=True)
class ProcessingSettings:
    """Settings of the way from recorded signals to a least-squares system.

    None means "not said here": a robot file may recommend some, a caller may override some, and
    what both leave open is derived from the data (:mod:`robot_identification.signals.settings`).

    Attributes:
        cutoff_hz: cut-off of the zero-phase Butterworth filter of the positions, in Hz.
        filter_order: order of that filter (one pass; it runs forward and backward).
        difference_order: order of accuracy of the central differences that give velocity and
            acceleration, an even number; 2 is the plain difference of the two neighbours.
        rate_hz: sampling rate after the parallel decimation of torque and regressor, in Hz.
        velocity_threshold: speed per joint below which a row is dropped because the sign of
            friction is not reliable, in rad/s or m/s; an empty tuple switches it off; a single
            value holds for all joints.
        velocity_threshold_window: part of a decimation step before and behind the instant of a
            row in which the speed must stay above its threshold; 0 looks at that instant only.
        velocity_threshold_scope: ``joint`` drops the rows of the slow joint alone, ``sample`` the
            rows of every joint at an instant at which any joint is slow.
        drop_start: samples dropped at the start of every segment before decimation.
        drop_end: samples dropped at the end of every segment before decimation.
        ends: ``cut`` removes the decimated rows that the filters' end effects reach, ``keep``
            leaves them in.
        residual_divisor: what the sum of squared residuals is divided by to give their variance:
            ``rows-parameters`` (unbiased, Gautier et al. 2013, eq. 18) or ``rows-1`` (the
            standard deviation of the residual, as some published results use it).
    """

    cutoff_hz: float | None = None
    filter_order: int | None = None
    difference_order: int | None = None
    rate_hz: float | None = None
    velocity_threshold: tuple[float, ...] | None = None
    velocity_threshold_window: float | None = None
    velocity_threshold_scope: ThresholdScope | None = None
    drop_start: int | None = None
    drop_end: int | None = None
    ends: EndTreatment | None = None
    residual_divisor: Divisor | None = None

    def overridden_by(self, other: ProcessingSettings) -> ProcessingSettings:
        """Return these settings with every value that ``other`` states put in their place."""
        stated = {
            field.name: getattr(other, field.name)
            for field in fields(other)
            if getattr(other, field.name) is not None
        }
        return replace(self, **stated)
