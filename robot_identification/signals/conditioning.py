"""From samples as they came to a recording on one clock, with a constant period.

Samples are put in the order of their stamps, duplicates go, short gaps are bridged, long ones split
the recording into segments, and samples are moved to a constant period where their stamps jitter.
Samples whose stamps are regular already pass unchanged, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robot_identification.errors import MissingSignalError, RecordingError, ShapeError
from robot_identification.robot.arrays import Array, check_finite
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.model import RobotModel
from robot_identification.signals.clock.gaps import Split, is_pause, split, standing
from robot_identification.signals.clock.resampling import (
    LONGEST_PLAIN,
    bridged,
    in_gaps,
    measured_at,
    present,
    straight,
    to_constant_period,
)
from robot_identification.signals.clock.setback import SetbackSearch
from robot_identification.signals.clock.stamps import BEGINNING, Clock, Order, Stamps, in_order
from robot_identification.signals.positions.strays import sound_samples
from robot_identification.signals.positions.turns import continuous_samples
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording, RecordingStatistics, Segment
from robot_identification.signals.spectrum import motion_spectrum

# Filters for samples that come more often are longer than any memory.
_SHORTEST_PERIOD_NS = 10_000
# Runs that are longer tell the band of their motion.
_STRETCH_NS = 1_000_000_000


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
    where, received = source or "recording", len(raw.stamps)
    if len(raw.stamps) < BEGINNING:
        raise RecordingError(
            f"{where}: {len(raw.stamps)} samples are too few; at least {BEGINNING} are needed"
        )
    setbacks = SetbackSearch(where)
    setbacks.push(raw.stamps)
    setbacks.end()
    order = in_order(raw.stamps)
    raw, told = continuous_samples(raw.at(order.places), joint_names, where)
    raw, strays = sound_samples(raw)
    stamps = raw.stamps
    found = _split(stamps, where)
    if len(found.gaps):
        found = _bridging(raw, joint_names, found)
    clock, gaps, runs = found
    if not runs:
        raise RecordingError(f"{where}: {_why_torn(received, order.duplicates, len(gaps))}")
    splits, pause = _interruptions(raw, clock)
    tears = np.concatenate([[False], splits & ~pause, [False]])
    segments = tuple(
        replace(
            _segment(raw.at(slice(first, last)), stamps[0], clock),
            torn=(bool(tears[first]), bool(tears[last])),
        )
        for first, last in runs
    )
    return Recording(
        joint_names=tuple(joint_names),
        period=clock.period_ns / 1e9,
        segments=segments,
        start_stamp=int(stamps[0]),
        source=source,
        digest=digest,
        statistics=replace(
            _statistics(received, order, found, segments, np.diff(stamps), pause), strays=strays
        ),
        warnings=told,
    )


def _why_torn(received: int, duplicates: int, gaps: int) -> str:
    """Return why samples make no unbroken run, and what to do about it."""
    if 2 * duplicates > received:
        return (
            f"{duplicates} of {received} samples carry the stamp of another, and the others make "
            f"no unbroken run of {BEGINNING}; the driver must stamp every state when it is measured"
        )
    return (
        f"{gaps} gaps leave no unbroken run of {BEGINNING} samples; record with a reliable "
        "connection"
    )


def _split(stamps: Stamps, where: str) -> Split:
    """Return clock, gaps and runs of stamps in order, where nothing is bridged."""
    if len(stamps) == 1:
        raise RecordingError(
            f"{where}: all samples carry the same stamp, {stamps[0]} ns; "
            "the driver must fill header.stamp"
        )
    found = split(stamps)
    if found.clock.nominal_ns < _SHORTEST_PERIOD_NS:
        raise RecordingError(
            f"{where}: its stamps lie {found.clock.nominal_ns:g} ns apart, and no robot sends "
            "states so often; look at the clock of the driver"
        )
    return found


def _interruptions(
    raw: RawSamples, clock: Clock
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return (samples - 1,) which steps split a recording, and which of them are pauses."""
    steps = np.diff(raw.stamps)
    splits = clock.splits(steps)
    if not splits.any():
        return splits, splits
    moved = np.diff(raw.position, axis=0)
    return splits, splits & is_pause(steps, moved, standing(raw.position))


def _statistics(
    received: int,
    order: Order,
    found: Split,
    segments: Sequence[Segment],
    steps: Stamps,
    pause: npt.NDArray[np.bool_],
) -> RecordingStatistics:
    """Count what became of the samples."""
    clock, gaps, runs = found
    return RecordingStatistics(
        received=received,
        duplicates=order.duplicates,
        out_of_order=order.late,
        lost=clock.missing(steps[~pause]),
        gaps=len(gaps),
        discarded=len(steps) + 1 - sum(last - first for first, last in runs),
        resampled=clock.resampled,
        jitter=clock.jitter,
        bridged=sum(segment.missing for segment in segments),
        longest_bridged=clock.longest_bridged_ns / 1e9,
        pauses=int(np.count_nonzero(pause)),
        paused=float(steps[pause].sum()) / 1e9,
    )


def _bridging(raw: RawSamples, joint_names: Sequence[str], found: Split) -> Split:
    """Split a recording again, at the gaps that are too long to be bridged.

    How long that is follows from the band of the motion.  It is looked for twice: in the longest
    run where everything is bridged that ever is, where noise that splines carry across long gaps
    may widen it, and in the runs between long gaps, where these are most of the recording, where a
    short stretch may widen it.  The narrower one is right.

    Args:
        raw: in order.
        joint_names: names of its joints.
        found: how it is split where nothing is bridged.
    """
    if not np.isfinite(raw.position).all():
        return found  # a reference alone says nothing of the motion
    widest = split(raw.stamps, band_hz=0.0)
    if not widest.runs:
        return found
    longest = max(widest.runs, key=lambda run: run[1] - run[0])
    band = _band(raw, joint_names, widest.clock, [longest])
    clean = split(raw.stamps, band_hz=found.clock.band_bridging(LONGEST_PLAIN))
    stretches = [
        run for run in clean.runs if raw.stamps[run[1] - 1] - raw.stamps[run[0]] > _STRETCH_NS
    ]
    if 2 * sum(last - first for first, last in stretches) > len(raw.stamps):
        band = min(band, _band(raw, joint_names, clean.clock, stretches))
    return split(raw.stamps, band_hz=band)


def _band(
    raw: RawSamples, joint_names: Sequence[str], clock: Clock, runs: Sequence[tuple[int, int]]
) -> float:
    """Return the band of the motion in runs of samples, in Hz."""
    segments = [_segment(raw.at(slice(*run)), raw.stamps[0], clock) for run in runs]
    trials = [Recording(tuple(joint_names), clock.period_ns / 1e9, (s,)) for s in segments]
    return float(motion_spectrum(trials).band_hz.max())


def _segment(run: RawSamples, start: np.int64, clock: Clock) -> Segment:
    """Return the samples of a run at a constant period, gaps in it bridged."""
    time = (run.stamps - start) / 1e9
    if not clock.resampled and not len(clock.gaps_within(run.stamps)):
        return Segment(time, run.position, run.velocity, run.effort, run.reference)
    unknown = bool(np.isnan(run.position).all())
    smooth = signals = [None if unknown else run.position, run.velocity, run.reference]
    rough: list[Array | None] = [run.effort]
    if clock.resampled:
        period = clock.period_ns / 1e9
        grid, resampled = to_constant_period(time, [*smooth, *rough], period)
        longest = clock.largest_step_ns / clock.period_ns
        measured = measured_at(time / period, grid / period, longest)
        smooth, lines = resampled[:3], resampled[3:]
        if measured is not None:
            own, missing = time / period, grid[~measured] / period
            for values, signal in zip(smooth, signals, strict=True):
                if values is not None and signal is not None:
                    values[~measured] = in_gaps(own, signal, missing, clock.corner)
            for values, signal in zip(lines, rough, strict=True):
                if values is not None and signal is not None:
                    values[~measured] = straight(own, signal, missing)
        time, rough = grid, lines
    else:
        numbers = clock.numbers(run.stamps)
        measured = present(numbers)
        smooth = [None if one is None else bridged(numbers, one, clock.corner) for one in smooth]
        rough = [None if one is None else bridged(numbers, one, None) for one in rough]
        time = bridged(numbers, time[:, None], None)[:, 0]
    position, velocity, reference = smooth
    (effort,) = rough
    if effort is None:
        raise RecordingError("efforts are needed")
    if position is None:
        position = np.full(effort.shape, np.nan)
    return Segment(time, position, velocity, effort, reference, measured)


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
        check_finite(name, values, joint_names)


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
        robot.active_names,
        source=source,
        digest=digest,
        positions_needed=positions_needed,
    )
