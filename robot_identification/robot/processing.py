"""How recorded signals are processed before estimation: the settings, each of them optional."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from robot_identification.errors import SettingError

EndTreatment = Literal["cut", "keep"]
Divisor = Literal["rows-parameters", "rows-1"]
ThresholdScope = Literal["joint", "sample"]
PinnedSample = Literal["first", "last"]


_WHOLE = ("filter_order", "difference_order", "drop_start", "drop_end")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "decimation_pins": get_args(PinnedSample),
    "velocity_threshold_scope": get_args(ThresholdScope),
    "ends": get_args(EndTreatment),
    "residual_divisor": get_args(Divisor),
}


def _checked(name: str, value: object) -> object:
    """Return the value of a setting, which must be of its kind."""
    if name in _CHOICES:
        if value in _CHOICES[name]:
            return value
        raise SettingError(name, value, f"choose one of {', '.join(_CHOICES[name])}")
    if name in _WHOLE:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise SettingError(name, value, "must be a whole number")
    numbers = value if name == "velocity_threshold" else [value]
    if not isinstance(numbers, list | tuple) or not all(
        isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one)
        for one in numbers
    ):
        raise SettingError(name, value, "must be a finite number, or a list of them")
    return tuple(numbers) if name == "velocity_threshold" else value


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
        decimation_pins: the sample of a segment that decimation keeps in any case and counts the
            others from: ``first``, or ``last`` as MATLAB does.  A stream, whose end nobody knows,
            counts from the first.
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
    decimation_pins: PinnedSample | None = None
    velocity_threshold: tuple[float, ...] | None = None
    velocity_threshold_window: float | None = None
    velocity_threshold_scope: ThresholdScope | None = None
    drop_start: int | None = None
    drop_end: int | None = None
    ends: EndTreatment | None = None
    residual_divisor: Divisor | None = None

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> ProcessingSettings:
        """Return the settings that plain data state; what they do not name is open.

        Args:
            stated: name -> value; other names are passed over.

        Raises:
            SettingError: a value is of the wrong kind.
        """
        names = [field.name for field in fields(cls) if stated.get(field.name) is not None]
        values: dict[str, Any] = {name: _checked(name, stated[name]) for name in names}
        return cls(**values)

    def stated(self) -> dict[str, Any]:
        """Return what is not open as plain data."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
            if value is not None
        }

    def overridden_by(self, other: ProcessingSettings) -> ProcessingSettings:
        """Return these settings with every value that ``other`` states put in their place."""
        stated = {name: value for name, value in vars(other).items() if value is not None}
        return replace(self, **stated)
