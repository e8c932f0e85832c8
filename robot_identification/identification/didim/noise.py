"""The noise floor: the torque error that no parameters can be expected to go below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from robot_identification.identification.didim.experiments import Experiment
from robot_identification.robot.model import Array
from robot_identification.signals.decimation import CUTOFF
from robot_identification.signals.processing.complete import Processing

# Part of the band up to half the sampling rate that is taken for noise alone.
_BAND = (0.6, 0.95)
_SEGMENT = 1024


class NoiseFloor(NamedTuple):
    """Torque errors that are noise.

    Attributes:
        joints: (joints,) as fractions of the effort.
        reason: how they were found.
    """

    joints: Array
    reason: str


def measured_noise(experiments: Sequence[Experiment], processing: Processing) -> NoiseFloor:
    """Return the noise floor that the measured efforts alone tell.

    Noise is taken as white: its density is the median of the spectrum from 0.6 to 0.95 of half
    the sampling rate, where a robot hardly moves.  What decimation lets pass of it, over the
    effort, is the floor.  Efforts that do carry signal there make the floor too high.

    Args:
        experiments: at least one.
        processing: settings of the decimation.
    """
    joints = experiments[0].effort.shape[1]
    noise, power = np.zeros(joints), np.zeros(joints)
    for experiment in experiments:
        effort = experiment.effort[experiment.used]
        decimator = processing.decimator(experiment.period)
        nyquist = 0.5 / experiment.period
        passed = nyquist if decimator.factor == 1 else CUTOFF * nyquist / decimator.factor
        frequency, density = scipy.signal.welch(
            effort, 1.0 / experiment.period, nperseg=min(_SEGMENT, len(effort)), axis=0
        )
        band = (frequency >= _BAND[0] * nyquist) & (frequency <= _BAND[1] * nyquist)
        median = np.median(density[band], axis=0) if band.any() else np.zeros(joints)
        noise += len(effort) * passed * median
        power += (effort**2).sum(axis=0)
    tiny = np.finfo(float).tiny
    return NoiseFloor(
        np.sqrt(noise / np.maximum(power, tiny)),
        "spectrum of the measured efforts above the band of the motion",
    )
