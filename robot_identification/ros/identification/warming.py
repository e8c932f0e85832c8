"""Warm-up of a node: compiled code is loaded before the first request.

What is run is short, for it is only there to have compiled code loaded: a second of a made-up
motion, with the efforts that a robot would need for it.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from robot_identification.dynamics.reference import Reference, sample, through
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import RankError, RobotIdentificationError
from robot_identification.files.mcap.messages import load_compiled_code
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.didim.run import identify_didim
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.starts import Start, full_vector, regular
from robot_identification.identification.identify import identify
from robot_identification.identification.rows.growing import StreamingIdentification
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording, Segment, TemperatureSeries

_PERIOD = 0.002
_SAMPLES = 600
_SETTINGS = ProcessingSettings(
    cutoff_hz=20.0, filter_order=4, rate_hz=100.0, velocity_threshold=(), drop_start=0, drop_end=0
)


def warm_up(base: BaseParameters) -> None:
    """Identify a robot from a made-up motion in every way, and forget the results.

    Args:
        base: base parameters of the robot.
    """
    load_compiled_code()
    robot = base.robot
    followed = _motion(len(robot.joints))
    start = _start(base)
    recording = _recording(base, followed, start.values)
    # Whether this motion tells the parameters apart is of no interest.
    with suppress(RobotIdentificationError):
        identify(robot, [recording], method="wls", overrides=_SETTINGS)
    if not robot.temperature_terms:
        _warm_up_streaming(base, recording.segments[0])
    if robot.controller is None:
        return
    few = DidimSettings(max_iterations=1, transient=0.0, noise_floor=1.0)
    with suppress(RobotIdentificationError):
        identify_didim(
            robot,
            [recording],
            [followed],
            start=start,
            settings=few,
            overrides=_SETTINGS,
            base=base,
        )


def _motion(joints: int) -> Reference:
    """Return a motion in which every joint has a frequency of its own."""
    time = _PERIOD * np.arange(_SAMPLES)
    tones = np.arange(1, joints + 1)
    return through(time, np.sin(2.0 * np.pi * time[:, None] * (2.0 + tones)) + 0.1 * tones)


def _start(base: BaseParameters) -> Start:
    """Return parameters with which the robot can be simulated, where such are known."""
    with suppress(RankError):
        return regular(base, np.zeros((1, len(base.robot.joints))))[0]
    return Start("warm-up", np.ones(base.rank))


def _recording(base: BaseParameters, followed: Reference, values: Array) -> Recording:
    """Return what is measured along a motion by a robot with certain base parameters."""
    robot = base.robot
    q, qd, qdd = sample(followed, followed.knots)
    effort = inverse_dynamics(robot, full_vector(base, values), q, qd, qdd)
    segment = Segment(read_only(followed.knots), read_only(q), None, read_only(effort))
    ends = read_only(followed.knots[[0, -1]])
    warming = TemperatureSeries(ends, read_only([20.0, 30.0]))
    temperatures = {j.name: warming for j in robot.joints if j.temperature is not None}
    return Recording(
        robot.joint_names, _PERIOD, (segment,), source="warm-up", temperatures=temperatures
    )


def _warm_up_streaming(base: BaseParameters, segment: Segment) -> None:
    stream = StreamingIdentification(base.robot, base, "warm-up", overrides=_SETTINGS, settle=0.2)
    stamps = np.rint(1e9 * segment.time).astype(np.int64)
    with suppress(RobotIdentificationError):
        stream.push(RawSamples(stamps, segment.position, None, segment.effort))
        stream.finish()
        stream.result()
