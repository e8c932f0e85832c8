"""Settings of the signal processing for a recording that still runs: from its first seconds.

What option and robot file leave open is derived from the data, as it is for a whole recording.
That takes seconds in which the robot moves; once the settings are there, they stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robot_identification.errors import RecordingError
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.clock.gaps import split, standing
from robot_identification.signals.clock.stamps import Clock, in_order
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.derived import BAND_FACTOR, DataProperties
from robot_identification.signals.processing.settings import resolve_processing, streamed
from robot_identification.signals.raw_samples import RawSamples, joined_samples
from robot_identification.signals.recording import Recording

# Data from which a period and the regularity of stamps are taken where nothing else is open, s.
_FOR_CLOCK = 1.0
# New data after which they are looked at again while the robot rests: s, and as a part of the
# motion that is needed.
_BETWEEN_LOOKS = 0.5
_LOOKS = 16
# Data that is kept of a robot at rest, s.
_AT_REST = 8.0


@by_value
@dataclass(frozen=True)
class Settled:
    """Settings that are fixed, and the samples that they were derived from.

    Attributes:
        processing: complete settings.
        clock: period and regularity of the stamps.
        seconds: time covered by the samples.
        samples: these, on the joint side.
        still: (joints,) how far joints move that stand.
    """

    processing: Processing
    clock: Clock
    seconds: float
    samples: RawSamples
    still: Array


class Settling:
    """Gathers samples until they say how to process those that follow.

    While the robot is at rest, the oldest samples are forgotten.

    Args:
        robot: its file may recommend settings.
        options: settings that go before everything else.
        seconds: motion that derived settings need, s.
    """

    def __init__(self, robot: RobotModel, options: ProcessingSettings, seconds: float) -> None:
        self._robot, self._options = robot, options
        stated = robot.processing.overridden_by(options)
        known = (stated.cutoff_hz, stated.rate_hz, stated.velocity_threshold)
        self._open = any(value is None for value in known)
        self._rate_open = stated.rate_hz is None
        self._seconds = seconds if self._open else min(seconds, _FOR_CLOCK)
        self._parts: list[RawSamples] = []
        self._due: float | None = None  # stamp at which the samples are looked at next
        self._moving = not self._open

    def push(self, samples: RawSamples) -> Settled | None:
        """Take in samples on the joint side; return what is settled, None while nothing is.

        Raises:
            SettingError: a setting is impossible, or does not suit the sampling rate.
        """
        stamps = samples.stamps
        if not len(stamps):
            return None
        self._parts.append(samples)
        newest = int(stamps[-1])
        if self._due is None:
            self._due = int(stamps[0]) + 1e9 * (_BETWEEN_LOOKS if self._open else self._seconds)
        if newest < self._due:
            return None
        self._due = newest + 1e9 * max(_BETWEEN_LOOKS, self._seconds / _LOOKS)
        recording = self._recording()
        return None if recording is None else self._settled(recording, newest)

    def end(self) -> Settled | None:
        """Return what is settled with what there is, None if it says nothing.

        Raises:
            SettingError: a setting is impossible, or does not suit the sampling rate.
        """
        recording = self._recording()
        if recording is None or (self._open and not _moves(recording)):
            return None
        return self._result(recording)

    def _settled(self, recording: Recording, newest: int) -> Settled | None:
        if self._moving:
            return self._result(recording)
        if _moves(recording):
            self._moving = True
            self._due = newest + 1e9 * self._seconds
        else:
            self._forget(newest)
        return None

    def _recording(self) -> Recording | None:
        """Return the samples on one clock, None while they are too few or too scattered."""
        if not self._parts:
            return None
        raw = self._gathered()
        try:
            return build_recording(raw, self._robot.joint_names, source="the first samples")
        except RecordingError:
            self._forget(int(raw.stamps[-1]))
            return None

    def _gathered(self) -> RawSamples:
        self._parts = [joined_samples(self._parts)]
        return self._parts[0]

    def _forget(self, newest: int) -> None:
        """Keep no more than the seconds that show whether the robot moves."""
        samples = self._gathered()
        recent = samples.stamps > newest - round(min(self._seconds, _AT_REST) * 1e9)
        self._parts = [samples.at(recent)]

    def _result(self, recording: Recording) -> Settled:
        processing = streamed(resolve_processing(self._robot, [recording], self._options))
        if self._rate_open:
            # A few seconds would ask for a rate that gives them enough rows.
            rate = min(processing.cutoff_hz, 1.0 / recording.period)
            reasons = {**processing.reasons, "rate_hz": "derived: the cut-off, while streaming"}
            processing = replace(processing, rate_hz=rate, reasons=reasons)
        samples = self._gathered()
        stamps = samples.stamps
        band = self._band(recording, processing)
        clock = split(stamps[in_order(stamps).places], band_hz=band).clock
        seconds = float(stamps[-1] - stamps[0]) / 1e9
        return Settled(processing, clock, seconds, samples, standing(samples.position))

    def _band(self, recording: Recording, processing: Processing) -> float:
        """Return the band of the motion in Hz.

        Where settings are stated, a second of samples need not show it: it is taken to be what a
        derived cut-off would be ten times of.
        """
        band = float(DataProperties([recording]).spectrum.band_hz.max()) if self._open else 0.0
        return band or processing.cutoff_hz / BAND_FACTOR


def _moves(recording: Recording) -> bool:
    """Tell whether a joint moves; the spectrum of a constant would be that of its rounding."""
    changes = np.max([np.ptp(segment.position, axis=0) for segment in recording.segments], axis=0)
    return bool((DataProperties([recording]).spectrum.band_hz[changes > 0.0] > 0.0).any())
