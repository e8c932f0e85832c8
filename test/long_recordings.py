"""A SCARA that swings for minutes, as samples and in blocks."""

from dataclasses import replace

import numpy as np

from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.raw_samples import RawSamples
from swinging_scara import RATE, swinging_scara

ROBOT = replace(load_robot("scara"), processing=ProcessingSettings())
BASE = base_parameters(ROBOT)
TRUTH = BASE.values(load_values("scara", ROBOT)[BASE.columns])


def samples(seconds, *, rest=0.0):
    """Return samples of a motion, after some rest; a sudden begin is hidden in a gap."""
    raw = swinging_scara(seconds)
    still = round(rest * RATE)
    places = np.concatenate([np.zeros(still, dtype=np.intp), np.arange(len(raw.stamps))])
    stamps = raw.stamps[0] + np.arange(len(places), dtype=np.int64) * (10**9 // RATE)
    stamps[still:] += 10**9 if still else 0
    return RawSamples(stamps, raw.position[places], None, raw.effort[places])


def blocks_of(raw, size=50):
    """Return samples in blocks as they arrive."""
    return [
        RawSamples(raw.stamps[part], raw.position[part], None, raw.effort[part])
        for first in range(0, len(raw.stamps), size)
        for part in [slice(first, first + size)]
    ]
