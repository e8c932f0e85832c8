"""Temperatures of joints, which are measured seldom, at the samples of a recording.

Between two measurements they are on a straight line.  Before the first and behind the last one, and
in gaps, that holds for :data:`LONGEST_GAP`: gears and motors take ten minutes and more to warm up,
so that in a minute they change by less than a tenth of what they will.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_identification.errors import (
    MissingSignalError,
    RecordingError,
    SampleError,
    ShapeError,
)
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.signals.recording import Recording, TemperatureSeries

LONGEST_GAP = 60.0
"""Longest time in s that temperatures are carried over."""

STEADY_STEP = 10_000_000_000
"""Time in ns after which a temperature that stays is kept all the same: it was measured."""

LEAST_SPREAD = 1.0
"""Kelvin by which the temperature of a joint must vary: the step of usual sensors.  With less the
change per kelvin is the term itself, multiplied by a number."""


@by_value
@dataclass(frozen=True)
class StampedTemperatures:
    """Temperatures of a joint as they were measured.

    Attributes:
        stamps: (messages,) in ns, on the clock of the recording.
        celsius: (messages,) in degrees Celsius.
    """

    stamps: npt.NDArray[np.int64]
    celsius: Array

    def __post_init__(self) -> None:
        if self.celsius.shape != self.stamps.shape or self.stamps.ndim != 1:
            raise ShapeError("temperature", self.celsius.shape, str(self.stamps.shape))


def of_samples(
    joint_names: Sequence[str], stamps: npt.NDArray[np.int64], celsius: npt.ArrayLike
) -> dict[str, StampedTemperatures]:
    """Return temperatures that stand beside samples, joint by joint.

    Args:
        joint_names: the joints.
        stamps: (samples,) in ns.
        celsius: (samples, joints) in degrees Celsius; NaN where there is none.

    Raises:
        ShapeError: there is no row per sample and column per joint.
    """
    table = np.array(celsius, dtype=np.float64)
    if table.shape != (len(stamps), len(joint_names)):
        raise ShapeError("temperature", table.shape, f"({len(stamps)}, {len(joint_names)})")
    return {
        joint: StampedTemperatures(stamps, column)
        for joint, column in zip(joint_names, table.T, strict=True)
    }


def thinned(measured: StampedTemperatures) -> StampedTemperatures:
    """Return temperatures without those that straight lines between the others make anyway.

    Drivers that tell the temperature with every joint state repeat it thousands of times.  What
    stays gives the same at every time, bit by bit: where it changes both values stay, and one of
    every :data:`STEADY_STEP`, by which gaps are told from what is steady.

    Args:
        measured: in the order of their stamps; what is NaN is left out.
    """
    there = np.isfinite(measured.celsius) | np.isinf(measured.celsius)
    stamps, celsius = measured.stamps[there], measured.celsius[there]
    changes = (np.diff(celsius) != 0.0) | (np.diff(stamps // STEADY_STEP) != 0)
    ends = np.array([True])
    kept = np.concatenate([ends, changes]) | np.concatenate([changes, ends])
    return StampedTemperatures(stamps[kept[: len(stamps)]], celsius[kept[: len(stamps)]])


def joined(parts: Sequence[Mapping[str, StampedTemperatures]]) -> dict[str, StampedTemperatures]:
    """Return temperatures of parts of a recording as those of the whole, joint by joint."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {
        name: StampedTemperatures(
            np.concatenate([part[name].stamps for part in parts if name in part]),
            np.concatenate([part[name].celsius for part in parts if name in part]),
        )
        for name in names
    }


def with_temperatures(
    recording: Recording, measured: Mapping[str, StampedTemperatures]
) -> Recording:
    """Return a recording that knows the temperatures of joints.

    Args:
        recording: the recording.
        measured: name of a joint -> its temperatures; those that are NaN are left out.

    Raises:
        SampleError: one is infinite.
    """
    series = {}
    for joint, own in measured.items():
        for place in np.flatnonzero(np.isinf(own.celsius))[:1]:
            raise SampleError("temperature", joint, int(place), float(own.celsius[place]))
        there = np.flatnonzero(np.isfinite(own.celsius))
        order = there[np.argsort(own.stamps[there], kind="stable")]
        if len(order):
            time = (own.stamps[order] - recording.start_stamp) / 1e9
            series[joint] = TemperatureSeries(read_only(time), read_only(own.celsius[order]))
    return replace(recording, temperatures=series)


def temperatures_at(recording: Recording, time: Array) -> Array | None:
    """Return the (joints, samples) temperatures of a recording at times; None where it has none.

    Args:
        recording: the recording.
        time: (samples,) in s since its first stamp, rising.

    Returns:
        Degrees Celsius; NaN for joints whose temperature was not measured.  Gaps are those that
        :func:`require_temperatures` lets pass.
    """
    if not recording.temperatures:
        return None
    found = np.full((len(recording.joint_names), len(time)), np.nan)
    for row, joint in zip(found, recording.joint_names, strict=True):
        series = recording.temperatures.get(joint)
        if series is not None:
            row[:] = np.interp(time, series.time, series.celsius)
    return found


def _require_covered(
    recording: Recording, joint: str, series: TemperatureSeries, time: Array
) -> None:
    behind = np.searchsorted(series.time, time, side="left")
    ends = np.concatenate([[-np.inf], series.time, [np.inf]])
    before, after = ends[behind], ends[behind + 1]
    inside = np.isfinite(before) & np.isfinite(after)
    far = np.minimum(time - before, after - time)
    far[inside] = (after - before)[inside]
    for place in np.flatnonzero(far > LONGEST_GAP)[:1]:
        raise RecordingError(
            f"{recording.source or 'recording'}: at {time[place]:.1f} s the temperature of {joint} "
            f"was not measured for {far[place]:.0f} s, longer than {LONGEST_GAP:g} s; leave this "
            "part out, or the temperature out of the robot file"
        )


def require_temperatures(robot: RobotModel, recordings: Sequence[Recording]) -> None:
    """Refuse recordings that do not tell the temperatures that the robot's friction depends on.

    Args:
        robot: the robot.
        recordings: what is identified or predicted together.

    Raises:
        MissingSignalError: the temperature of a joint was not measured in one of them.
        RecordingError: it was not measured for longer than :data:`LONGEST_GAP`.
    """
    for joint in dict.fromkeys(own.joint for own in robot.temperature_terms):
        name = robot.joint_names[joint]
        for recording in recordings:
            if name not in recording.temperatures:
                raise MissingSignalError("temperature", recording.source or "recording", name)
            for segment in recording.segments:
                series = recording.temperatures[name]
                _require_covered(recording, name, series, segment.time)


def require_spread(robot: RobotModel, recordings: Sequence[Recording]) -> None:
    """Refuse recordings in which a temperature that friction depends on does not vary.

    Args:
        robot: the robot.
        recordings: what is identified together, with temperatures.

    Raises:
        MissingSignalError: the temperature of a joint was not measured in one of them.
        RecordingError: it was not measured for too long, or varies by less than
            :data:`LEAST_SPREAD` in all of them.
    """
    require_temperatures(robot, recordings)
    for joint in dict.fromkeys(own.joint for own in robot.temperature_terms):
        name = robot.joint_names[joint]
        values = np.concatenate(
            [
                np.interp(segment.time[[0, -1]], own.time, own.celsius)
                if len(inside := own.celsius[_within(own, segment.time)]) == 0
                else inside
                for recording in recordings
                for own in (recording.temperatures[name],)
                for segment in recording.segments
            ]
        )
        if np.ptp(values) < LEAST_SPREAD:
            raise RecordingError(
                f"the temperature of {name} varies by {np.ptp(values):.2g} K only, so that its "
                f"effect cannot be told; record while the robot warms up, from cold, or leave the "
                "temperature out of the robot file"
            )


def _within(series: TemperatureSeries, time: Array) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (series.time >= time[0]) & (series.time <= time[-1])
    return found
