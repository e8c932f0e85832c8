"""From samples as they came to a recording on one clock, with a constant period.

Samples are put in the order of their stamps, duplicates go, gaps split the recording into
segments, and samples are moved to a constant period where their stamps jitter.  Samples whose
stamps are regular already pass unchanged, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.errors import RecordingError, SampleError, ShapeError
from robot_identification.robot.model import Array
from robot_identification.signals.recording import (
    RawSamples,
    Recording,
    RecordingStatistics,
    Segment,
)
from robot_identification.signals.resampling import to_constant_period

# Filters for samples that come more often are longer than any memory.
_SHORTEST_PERIOD_NS = 10_000
# A stamp may be off the grid of a constant period by this part of the period before samples are
# moved to the grid.  Stamps rounded to microseconds at 1 kHz stay below it.
JITTER_TOLERANCE = 0.01
# Runs of samples between gaps that are shorter cannot pass any of the filters with room to spare.
SHORTEST_RUN = 50
# Messages overtake each other by milliseconds; a clock that is set back goes further.
LARGEST_SETBACK_NS = 1_000_000_000

Stamps = npt.NDArray[np.int64]


def build_recording(
    raw: RawSamples,
    joint_names: Sequence[str],
    *,
    source: str = "",
    digest: str = "",
    positions_needed: bool = True,
) -> Recording:
    """Put samples on one clock.

    Args:
        raw: samples in order of arrival, positions and efforts on the joint side.
        joint_names: names of the joints, one per column.
        source: where the samples came from; error messages name it.
        digest: SHA-256 of the source.
        positions_needed: whether positions that are all NaN are refused.

    Returns:
        A recording of at least one segment.

    Raises:
        ShapeError: an array does not have a row per stamp and a column per joint.
        SampleError: a value is not finite.
        RecordingError: there are too few samples, no stamps, stamps less than 10 us apart, a clock
            that was set back, or gaps everywhere.
    """
    _check_shapes(raw, len(joint_names))
    _check_finite(raw, joint_names, positions_needed=positions_needed)
    where = source or "recording"
    if len(raw.stamps) < SHORTEST_RUN:
        raise RecordingError(
            f"{where}: {len(raw.stamps)} samples are too few; at least {SHORTEST_RUN} are needed"
        )
    order, out_of_order, duplicates = _in_order(raw.stamps, where)
    stamps = raw.stamps[order]
    clock = _Clock.of(stamps, where)
    if clock.period_ns < _SHORTEST_PERIOD_NS:
        raise RecordingError(
            f"{where}: its stamps lie {clock.period_ns:g} ns apart, and no robot sends states so "
            "often; look at the clock of the driver"
        )
    breaks = clock.breaks(stamps)
    lost = int(np.sum(clock.periods(stamps[breaks] - stamps[breaks - 1]) - 1))
    runs = [
        (int(first), int(last))
        for first, last in zip([0, *breaks], [*breaks, len(stamps)], strict=True)
        if last - first >= SHORTEST_RUN
    ]
    if not runs:
        raise RecordingError(
            f"{where}: {len(breaks)} gaps leave no unbroken run of {SHORTEST_RUN} samples; "
            "record with a reliable connection"
        )
    exact, jitter = clock.refined(stamps, runs)
    resampled = exact.deviation(stamps, runs) > JITTER_TOLERANCE
    segments = [
        _segment(raw, order[first:last], stamps[0], exact.period_ns if resampled else None)
        for first, last in runs
    ]
    statistics = RecordingStatistics(
        received=len(raw.stamps),
        duplicates=duplicates,
        out_of_order=out_of_order,
        lost=lost,
        gaps=len(breaks),
        discarded=len(stamps) - sum(last - first for first, last in runs),
        resampled=resampled,
        jitter=jitter,
    )
    return Recording(
        joint_names=tuple(joint_names),
        period=exact.period_ns / 1e9,
        segments=tuple(segments),
        start_stamp=int(stamps[0]),
        source=source,
        digest=digest,
        statistics=statistics,
    )


@dataclass(frozen=True)
class _Clock:
    """The nominal period of stamps, and how regular they are.

    Attributes:
        period_ns: nominal period in ns.
        spread: robust standard deviation of the steps between stamps, divided by the period.
    """

    period_ns: float
    spread: float = 0.0

    @classmethod
    def of(cls, stamps: Stamps, where: str) -> _Clock:
        """Return the clock behind strictly increasing stamps: the median is blind to gaps."""
        steps = np.diff(stamps)
        if len(steps) == 0:
            raise RecordingError(
                f"{where}: all samples carry the same stamp, {stamps[0]} ns; "
                "the driver must fill header.stamp"
            )
        period = float(np.median(steps))
        spread = 1.4826 * float(np.median(np.abs(steps - period))) / period
        return cls(period, spread)

    def periods(self, steps: Stamps) -> Stamps:
        """Return the number of periods in steps, at least 2: steps in which samples are lost."""
        return np.maximum(np.rint(steps / self.period_ns), 2).astype(np.int64)

    def breaks(self, stamps: Stamps) -> npt.NDArray[np.intp]:
        """Return the places of stamps that follow a gap.

        A step is a gap from 1.5 periods on; jitter moves this limit, up to 2.5 periods.
        """
        limit = min(1.5 + 3.0 * self.spread, 2.5) * self.period_ns
        return np.flatnonzero(np.diff(stamps) > limit) + 1

    def refined(self, stamps: Stamps, runs: Sequence[tuple[int, int]]) -> tuple[_Clock, float]:
        """Return the clock with the mean period inside runs, and the jitter of the steps."""
        steps = np.concatenate([np.diff(stamps[first:last]) for first, last in runs])
        mean = float(steps.sum()) / len(steps)
        nearest = round(mean)
        # Stamps are whole nanoseconds: a period that is one to their rounding is taken as one.
        period = float(nearest) if abs(mean - nearest) * len(steps) < 2.0 * len(runs) else mean
        return _Clock(period, self.spread), float(steps.std()) / mean

    def deviation(self, stamps: Stamps, runs: Sequence[tuple[int, int]]) -> float:
        """Return the largest deviation of stamps from a grid in each run, in periods."""
        largest = 0.0
        for first, last in runs:
            ideal = np.arange(last - first) * self.period_ns
            off = (stamps[first:last] - stamps[first]) - ideal
            largest = max(largest, float(np.abs(off - np.median(off)).max()))
        return largest / self.period_ns


def _in_order(stamps: Stamps, where: str) -> tuple[npt.NDArray[np.intp], int, int]:
    """Return the places of the samples in order of stamps, and how many were late or double."""
    newest = np.maximum.accumulate(stamps)
    setback = int((newest - stamps).max())
    if setback > LARGEST_SETBACK_NS:
        index = int(np.argmax(newest - stamps > LARGEST_SETBACK_NS))
        raise RecordingError(
            f"{where}: the clock was set back by {setback / 1e9:.3f} s before sample {index}; "
            "split the recording there"
        )
    order = np.argsort(stamps, kind="stable")
    is_first = np.ones(len(stamps), dtype=np.bool_)
    is_first[1:] = np.diff(stamps[order]) > 0
    kept = order[is_first]
    late = int(np.count_nonzero(stamps[kept] < newest[kept]))
    return kept, late, len(stamps) - len(kept)


def _segment(
    raw: RawSamples, places: npt.NDArray[np.intp], start: np.int64, period_ns: float | None
) -> Segment:
    time = (raw.stamps[places] - start) / 1e9
    signals = [
        None if values is None else values[places]
        for values in (raw.position, raw.velocity, raw.effort, raw.reference)
    ]
    if period_ns is not None:
        unknown = np.isnan(raw.position).all()
        time, signals = to_constant_period(
            time, [None, *signals[1:]] if unknown else signals, period_ns / 1e9
        )
        if unknown and signals[2] is not None:
            signals[0] = np.full(signals[2].shape, np.nan)
    position, velocity, effort, reference = signals
    if position is None or effort is None:
        raise RecordingError("positions and efforts are both needed")
    return Segment(time, position, velocity, effort, reference)


def _check_shapes(raw: RawSamples, joints: int) -> None:
    if raw.stamps.ndim != 1:
        raise ShapeError("stamps", raw.stamps.shape, "(samples,)")
    expected = (len(raw.stamps), joints)
    for name, values in _signals(raw):
        if values.shape != expected:
            raise ShapeError(name, values.shape, str(expected))


def _check_finite(raw: RawSamples, joint_names: Sequence[str], *, positions_needed: bool) -> None:
    for name, values in _signals(raw):
        if name == "position" and not positions_needed and np.isnan(values).all():
            continue
        if not np.isfinite(values).all():
            index, joint = np.argwhere(~np.isfinite(values))[0]
            raise SampleError(name, joint_names[joint], int(index), float(values[index, joint]))


def _signals(raw: RawSamples) -> list[tuple[str, Array]]:
    named = (
        ("position", raw.position),
        ("velocity", raw.velocity),
        ("effort", raw.effort),
        ("reference", raw.reference),
    )
    return [(name, values) for name, values in named if values is not None]
