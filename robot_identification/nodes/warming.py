"""Run everything once, so that compiled code is there before the first request."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from robot_identification.dynamics.reference import through
from robot_identification.errors import RobotIdentificationError
from robot_identification.identification.base import base_parameters
from robot_identification.identification.didim.run import identify_didim
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.identify import identify
from robot_identification.identification.streaming import StreamingIdentification
from robot_identification.robot.model import RobotModel, read_only
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import RawSamples, Recording, Segment

_PERIOD = 0.002
_SAMPLES = 2000
_SETTINGS = ProcessingSettings(
    cutoff_hz=20.0, filter_order=4, rate_hz=100.0, velocity_threshold=(), drop_start=0, drop_end=0
)


def warm_up(robot: RobotModel) -> None:
    """Identify a robot from a made-up motion and forget the result."""
    time = _PERIOD * np.arange(_SAMPLES)
    tones = np.arange(1, len(robot.joints) + 1)
    motion = np.sin(2.0 * np.pi * time[:, None] * (0.5 + 0.3 * tones)) + 0.1 * tones
    segment = Segment(read_only(time), read_only(motion), None, read_only(np.cos(motion)))
    recording = Recording(robot.joint_names, _PERIOD, (segment,), source="warm-up")
    # Whether this motion tells the parameters apart is of no interest.
    with suppress(RobotIdentificationError):
        identify(robot, [recording], method="wls", overrides=_SETTINGS)
    _warm_up_streaming(robot, segment)
    if robot.controller is None:
        return
    few = DidimSettings(max_iterations=1, transient=0.0, noise_floor=1.0)
    followed = through(time, motion)
    with suppress(RobotIdentificationError):
        identify_didim(robot, [recording], [followed], settings=few, overrides=_SETTINGS)


def _warm_up_streaming(robot: RobotModel, segment: Segment) -> None:
    stream = StreamingIdentification(
        robot, base_parameters(robot), "warm-up", overrides=_SETTINGS, settle=1.0
    )
    stamps = np.rint(1e9 * segment.time).astype(np.int64)
    with suppress(RobotIdentificationError):
        stream.push(RawSamples(stamps, segment.position, None, segment.effort))
        stream.finish()
        stream.result()
