"""Delay of the efforts behind the motion: reported with the result, or corrected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_identification.errors import RecordingError
from robot_identification.identification.delays.delay_estimation import estimate_effort_delay
from robot_identification.identification.rows.whole import Cancelled
from robot_identification.identification.source import Source
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.clock.resampling import interpolate
from robot_identification.signals.recording import Recording, Segment

EFFORT_DELAY = "effort_delay"
"""Name of the setting."""


def shift_efforts(recording: Recording, delay: float) -> Recording:
    """Return a recording whose efforts are taken later by a delay, so that it is gone.

    Within every segment the efforts are interpolated; what they do not reach is cut off.

    Args:
        recording: on one clock.
        delay: by which the efforts lie behind the motion, in s.

    Raises:
        RecordingError: no segment is longer than the delay.
    """
    moved = [_shifted(s, delay / recording.period) for s in recording.segments]
    segments = tuple(s for s in moved if len(s.time))
    if not segments:
        raise RecordingError(
            f"{recording.source}: no run of samples is longer than the delay of {delay:g} s"
        )
    return replace(recording, segments=segments)


def _shifted(segment: Segment, periods: float) -> Segment:
    count = len(segment.time)
    instants = np.arange(count, dtype=np.float64) + np.float64(periods)
    there = np.flatnonzero((instants >= 0.0) & (instants <= count - 1))
    if len(there) == 0:
        return segment.part(slice(0, 0))
    used = slice(int(there[0]), int(there[-1]) + 1)
    effort = interpolate(np.arange(count, dtype=np.float64), segment.effort, instants[used])
    part = segment.part(used)
    if segment.measured is None:
        return replace(part, effort=effort)
    # Between two efforts there is one where both were measured.
    known = np.ceil(instants[used]).astype(np.intp)
    both = segment.measured[known] & segment.measured[np.floor(instants[used]).astype(np.intp)]
    return replace(part, effort=effort, measured=both)


def with_known_delay(
    robot: RobotModel,
    recording: Recording,
    *,
    estimated: bool = False,
    processing: ProcessingSettings | None = None,
    cancelled: Cancelled | None = None,
) -> Recording:
    """Return a recording of which the delay of the efforts is known, and told in ``warnings``.

    By default it is estimated where efforts have a topic of their own, and told; the efforts stay
    where their stamps put them.

    Args:
        robot: the robot.
        recording: joint states on the joint side.
        estimated: whether the efforts are moved by the estimate, whatever their topic.
        processing: settings of the signal processing that the caller states, for the estimate.
        cancelled: asked now and then whether to stop.

    Raises:
        RecordingError: the efforts are to be moved, and their delay cannot be estimated.
        SettingError: a setting is not possible.
        CancelledError: if ``cancelled`` says so.
    """
    if not (estimated or recording.effort_topic) or not _has_positions(recording):
        return recording
    what = f"{recording.source}: efforts" + (
        f" on {recording.effort_topic}" if recording.effort_topic else ""
    )
    try:
        found = estimate_effort_delay(robot, [recording], stated=processing, cancelled=cancelled)
    except RecordingError as error:
        if estimated:
            raise
        return _told(recording, f"{what}: {error}")
    applied = recording.effort_delay
    lag = f"{what} lie {found} behind the motion"
    beyond = f", beyond the {1e3 * applied:g} ms given" if applied else ""
    if not estimated:
        advice = "not corrected; give a delay of"
        return _told(recording, f"{lag}{beyond}; {advice} {1e3 * (applied + found.delay):.3f} ms")
    moved = shift_efforts(recording, found.delay)
    return _told(
        replace(moved, effort_delay=applied + found.delay), f"{lag}{beyond}; corrected by that"
    )


def _has_positions(recording: Recording) -> bool:
    """Tell whether the positions of a recording are there; DIDIM does without."""
    return all(bool(np.isfinite(s.position).all()) for s in recording.segments)


def _told(recording: Recording, line: str) -> Recording:
    return replace(recording, warnings=(*recording.warnings, line))


def delay_entry(
    recordings: Sequence[Recording] | Sequence[Source],
) -> dict[str, dict[str, object]]:
    """Return the delay of the efforts that was accounted for, in s, as a setting with its reason.

    There is one where a recording has efforts of a topic of their own, or a delay.

    Args:
        recordings: those of a result, or what it tells of them.
    """
    if not any(r.effort_topic or r.effort_delay for r in recordings):
        return {}
    topics = sorted({r.effort_topic or "the joint states" for r in recordings})
    reason = f"efforts on {', '.join(topics)}; one value for each recording"
    return {EFFORT_DELAY: {"value": [r.effort_delay for r in recordings], "reason": reason}}
