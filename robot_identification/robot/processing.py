"""Signal processing that a robot file recommends, each setting optional."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from robot_identification.settings import Settings, setting

EndTreatment = Literal["cut", "keep"]
Divisor = Literal["rows-parameters", "rows-1"]
ThresholdScope = Literal["joint", "sample"]
PinnedSample = Literal["first", "last"]
VelocitySource = Literal["derived", "measured"]

LOWEST_HZ = 1e-3
"""Lowest cut-off and rate: below, filters are longer than any recording, and than any memory."""
END_LEVEL = 1e-2
"""End effects are cut where the response of a filter is still above this part of its peak.

Since signals are continued by reflection, what is left of an end effect there is far smaller.
"""


@dataclass(frozen=True)
class ProcessingSettings(Settings):
    """Settings of the way from recorded signals to a least-squares system.

    None means "not said here": a robot file may recommend some, a caller may override some, and
    what both leave open is as usual, or derived from the data
    (:mod:`robot_identification.signals.processing.settings`).
    """

    cutoff_hz: float | None = setting(
        "cut-off of the zero-phase filter of the positions",
        unit="Hz",
        above=0.0,
        option="--cutoff",
        metavar="HZ",
    )
    filter_order: int | None = setting(
        "order of that Butterworth filter in one pass; it runs forward and backward",
        minimum=1,
        maximum=20,
        metavar="N",
        usual=4,
    )
    # The error of plain differences, (2 pi f T)^2 / 6 of a velocity, is larger than the standard
    # deviations of well excited parameters at a few hundred hertz; with order 8 it disappears.
    difference_order: int | None = setting(
        "order of accuracy of the central differences; 2: those of the two neighbours",
        minimum=2,
        maximum=20,
        multiple=2,
        metavar="N",
        usual=8,
    )
    # Good encoders tell velocities better than drives that derive them on board, with a delay that
    # nobody states; tachometers beside coarse encoders are the exception
    # (docs/choosing_filters.md).
    velocities: VelocitySource | None = setting(
        "velocities of the rows: derived from the positions, or those that were measured",
        usual="derived",
        reason="most drivers derive theirs from the same positions, with a delay",
    )
    rate_hz: float | None = setting(
        "sampling rate after the parallel decimation of efforts and regressor",
        unit="Hz",
        minimum=LOWEST_HZ,
        option="--rate",
        metavar="HZ",
    )
    decimation_pins: PinnedSample | None = setting(
        "sample of a segment that decimation keeps in any case and counts from; MATLAB: last",
        usual="first",
        reason="a stream, whose end is not known, counts so too",
        in_requests=False,
    )
    velocity_threshold: tuple[float, ...] | None = setting(
        "speed below which a row is dropped because the sign of friction is not reliable",
        unit="rad/s or m/s",
        minimum=0.0,
        off="off",
        metavar="off|V[,V...]",
    )
    # A row mixes what its decimation filter reaches.  Beyond 1.5 to 1.8 steps the side lobes cancel
    # in what rows at all distances from a reversal take of it; with 1 step, or 2.3, a joint that
    # sticks there shifts friction by several standard deviations (docs/identification.md).
    velocity_threshold_window: float | None = setting(
        "decimation steps before and behind a row in which the speed must stay above its "
        "threshold; 0: at its instant only",
        minimum=0.0,
        maximum=10.0,
        metavar="STEPS",
        usual=1.5,
        reason="beyond, the side lobes of the decimation filter cancel",
    )
    velocity_threshold_scope: ThresholdScope | None = setting(
        "joint: the rows of the slow joint are dropped; sample: every joint's rows of that instant",
        usual="joint",
        reason="friction acts on the row of its own joint",
    )
    drop_start: int | None = setting(
        "samples dropped at the start of every segment before decimation", minimum=0, metavar="N"
    )
    drop_end: int | None = setting(
        "samples dropped at the end of every segment before decimation", minimum=0, metavar="N"
    )
    ends: EndTreatment | None = setting(
        "decimated rows that end effects of the filters reach: cut removes, keep leaves them",
        usual="cut",
        reason=f"end effects of decimation, down to {END_LEVEL:g} of its peak",
    )
    # Rows - parameters is unbiased; some published results have the other one.
    residual_divisor: Divisor | None = setting(
        "what the sum of squared residuals is divided by for their variance",
        usual="rows-parameters",
        reason="unbiased (Gautier et al. 2013, eq. 18)",
    )

    def overridden_by(self, other: ProcessingSettings) -> ProcessingSettings:
        """Return these settings with every value that ``other`` states put in their place."""
        stated = {name: value for name, value in vars(other).items() if value is not None}
        return replace(self, **stated)
