"""From samples as they came to a recording on one clock, with a constant period.

Samples are put in the order of their stamps, duplicates go, gaps split the recording into
segments, and samples are moved to a constant period where their stamps jitter.  Samples whose
stamps are regular already pass unchanged, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.errors import MissingSignalError, RecordingError, SampleError, ShapeError
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.model import Array, RobotModel
from robot_identification.signals.clock import BEGINNING, Stamps, in_order, split
from robot_identification.signals.recording import (
    RawSamples,
    Recording,
    RecordingStatistics,
    Segment,
)

# Below this part of a period between two stamps, a cubic spline would turn noise into overshoot.
_CLOSEST_FOR_SPLINE = 0.3


def to_constant_period(
    time: Array, signals: Sequence[Array | None], period: float
) -> tuple[Array, list[Array | None]]:
    """Interpolate signals at a constant period.

    Args:
        time: (samples,) strictly increasing instants in s.
        signals: (samples, joints) signals; None stays None.
        period: sampling period in s.

    Returns:
        (new samples,) instants from the first one on, and the signals there.
    """
    count = int(np.floor((time[-1] - time[0]) / period * (1.0 + 1e-9))) + 1
    grid = np.minimum(time[0] + period * np.arange(count), time[-1])
    resampled: list[Array | None] = [
        None if values is None else interpolate(time / period, values, grid / period)
        for values in signals
    ]
    return grid, resampled


def interpolate(time: Array, values: Array, instants: Array) -> Array:
    """Return values at other instants.

    The interpolation is a cubic spline; where two stamps nearly coincide, it is a monotone cubic
    one, which cannot overshoot.

    Args:
        time: (samples,) strictly increasing instants, in sampling periods.
        values: (samples, signals).
        instants: (new samples,) likewise, inside those of the samples.
    """
    close = float(np.diff(time).min()) < _CLOSEST_FOR_SPLINE
    module = scipy.interpolate
    interpolation = module.PchipInterpolator if close else module.CubicSpline
    result: Array = interpolation(time, values, axis=0)(instants)
    return result


# Filters for samples that come more often are longer than any memory.
_SHORTEST_PERIOD_NS = 10_000
# Messages overtake each other by milliseconds; a clock that is set back goes further.
LARGEST_SETBACK_NS = 1_000_000_000


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
    if len(raw.stamps) < BEGINNING:
        raise RecordingError(
            f"{where}: {len(raw.stamps)} samples are too few; at least {BEGINNING} are needed"
        )
    _check_setback(raw.stamps, where)
    order = in_order(raw.stamps)
    stamps = raw.stamps[order.places]
    if len(stamps) == 1:
        raise RecordingError(
            f"{where}: all samples carry the same stamp, {stamps[0]} ns; "
            "the driver must fill header.stamp"
        )
    clock, gaps, runs = split(stamps)
    if clock.nominal_ns < _SHORTEST_PERIOD_NS:
        raise RecordingError(
            f"{where}: its stamps lie {clock.nominal_ns:g} ns apart, and no robot sends states so "
            "often; look at the clock of the driver"
        )
    if not runs:
        raise RecordingError(
            f"{where}: {len(gaps)} gaps leave no unbroken run of {BEGINNING} samples; "
            "record with a reliable connection"
        )
    segments = [
        _segment(
            raw, order.places[first:last], stamps[0], clock.period_ns if clock.resampled else None
        )
        for first, last in runs
    ]
    statistics = RecordingStatistics(
        received=len(raw.stamps),
        duplicates=order.duplicates,
        out_of_order=order.late,
        lost=clock.missing(np.diff(stamps)),
        gaps=len(gaps),
        discarded=len(stamps) - sum(last - first for first, last in runs),
        resampled=clock.resampled,
        jitter=clock.jitter,
    )
    return Recording(
        joint_names=tuple(joint_names),
        period=clock.period_ns / 1e9,
        segments=tuple(segments),
        start_stamp=int(stamps[0]),
        source=source,
        digest=digest,
        statistics=statistics,
    )


def _check_setback(stamps: Stamps, where: str) -> None:
    behind = np.maximum.accumulate(stamps) - stamps
    if behind.max() > LARGEST_SETBACK_NS:
        index = int(np.argmax(behind > LARGEST_SETBACK_NS))
        raise RecordingError(
            f"{where}: the clock was set back by {behind.max() / 1e9:.3f} s before sample {index}; "
            "split the recording there"
        )


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


def joint_side_recording(
    raw: RawSamples,
    robot: RobotModel,
    *,
    source: str = "",
    digest: str = "",
    positions_needed: bool = True,
) -> Recording:
    """Bring samples to the joint side, as the robot file declares them, and on one clock.

    Args:
        raw: samples as measured, in order of arrival.
        robot: says what positions and efforts mean.
        source: where the samples came from; error messages name it.
        digest: SHA-256 of the source.
        positions_needed: whether positions that are all NaN are refused.

    Raises:
        MissingSignalError: if there are no positions or no efforts.
        ShapeError: if an array does not have a column for every joint.
        SettingError: if nobody has said what effort means, or a drive gain is missing.
        SampleError: if a value is not finite.
        RecordingError: if the samples are too few or their stamps of no use.
    """
    joints = to_joint_side(robot, raw.position, raw.velocity, raw.effort)
    reference = to_joint_side(robot, raw.reference, None, None).position
    if joints.position is None or joints.effort is None:
        raise MissingSignalError("position or effort", source)
    samples = RawSamples(raw.stamps, joints.position, joints.velocity, joints.effort, reference)
    return build_recording(
        samples,
        robot.joint_names,
        source=source,
        digest=digest,
        positions_needed=positions_needed,
    )
