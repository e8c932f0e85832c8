"""Identification that is told to stop does, at every stage."""

import numpy as np
import pytest

from robot_identification.errors import CancelledError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.identify import identify
from robot_identification.identification.validate import validate
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.recording import Recording, Segment
from swinging_scara import RATE, swinging_scara

ROBOT = load_robot("scara")
RECORDINGS = 4


@pytest.fixture(scope="module")
def recordings():
    raw = swinging_scara(10.0)
    time = (raw.stamps - raw.stamps[0]) * 1e-9
    segment = Segment(time, raw.position, None, raw.effort)
    recording = Recording(ROBOT.joint_names, 1.0 / RATE, (segment,))
    return [recording] * RECORDINGS


class Stop:
    """Wants the work to end once it has reached a part of a stage."""

    def __init__(self, stage, fraction):
        self._wanted = (stage, fraction)
        self.told = []

    def progress(self, stage, fraction):
        self.told.append((stage, fraction))

    def now(self):
        stage, fraction = self._wanted
        return any(name == stage and part >= fraction for name, part in self.told)


@pytest.mark.parametrize("held_out", [False, True])
def test_no_recording_is_filtered_after_that(recordings, held_out):
    stop = Stop("filter", 1.0 / RECORDINGS)
    given = (recordings[:1], recordings) if held_out else (recordings, ())
    with pytest.raises(CancelledError):
        identify(ROBOT, given[0], held_out=given[1], progress=stop.progress, cancelled=stop.now)
    assert max(part for stage, part in stop.told if stage == "filter") == 1.0 / RECORDINGS


def test_validation_stops_likewise(recordings):
    stop = Stop("filter", 1.0 / RECORDINGS)
    values = np.zeros(base_parameters(ROBOT).rank)
    with pytest.raises(CancelledError):
        validate(ROBOT, values, recordings, progress=stop.progress, cancelled=stop.now)
    assert stop.told[-1] == ("filter", 1.0 / RECORDINGS)


def test_no_rows_are_folded_after_that(recordings):
    stop = Stop("regressor", 0.0)
    with pytest.raises(CancelledError):
        identify(ROBOT, recordings, progress=stop.progress, cancelled=stop.now)
    assert ("done", 1.0) not in stop.told
