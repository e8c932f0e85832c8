"""Recordings that requests select."""

import numpy as np
import pytest

from robot_identification import msg
from robot_identification.errors import SettingError, UnknownRecordingError
from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.ros.identification.recordings.selection import live_recordings
from robot_identification.signals.raw_samples import RawSamples

LIVE = LiveRecordings(10**6, 3)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"recordings": ["a", "b", "a"]}, "recordings = a: stands twice"),
        ({"bags": ["bag", "./bag"]}, "bags = .*bag: stands twice"),
        ({"joint_states_topic": "/states"}, "joint_states_topic = /states: is about bags"),
        ({"recordings": ["a"], "effort_topic": "/efforts"}, "effort_topic = /efforts: is about"),
        ({"recordings": ["a"], "effort_delay": 0.01}, "effort_delay = 0.01: is about bags"),
        ({"effort_joints": ["joint_1"]}, "effort_joints = .*: is about bags"),
        ({"interfaces": ["effort=current"]}, "interfaces = .*: is about bags"),
        ({"reference_topic": "/commands"}, "reference_topic = /commands: is about bags"),
    ],
)
def test_data_that_count_twice_and_fields_without_effect_are_refused(fields, words):
    with pytest.raises(SettingError, match=words):
        live_recordings(msg.DataSelection(**fields), LIVE)


def test_the_current_recording_that_is_named_too_would_count_twice():
    live = LiveRecordings(10**6, 3)
    live.add(block("r"), "joint_torque")
    with pytest.raises(SettingError, match="recordings = r: stands twice"):
        live_recordings(msg.DataSelection(recordings=["r", ""]), live)


def test_fields_of_bags_beside_live_recordings_are_about_the_bags():
    data = msg.DataSelection(bags=["bag"], effort_topic="/efforts", effort_delay=0.01)
    assert live_recordings(data, LIVE) == []


def test_without_a_selection_it_is_the_current_recording():
    with pytest.raises(UnknownRecordingError, match="no recording yet"):
        live_recordings(msg.DataSelection(), LIVE)


class SecondComesLater(LiveRecordings):
    """Live recordings of which the second begins to come while the first is being taken."""

    def get(self, recording="", **options):
        found = super().get(recording, **options)
        self.add(block("r.2"), "joint_torque")
        return found


def block(recording):
    values = np.zeros((1, 2))
    samples = RawSamples(np.zeros(1, dtype=np.int64), values, None, values)
    return Block(recording, 0, 0, True, samples, Counts(received=1))


def test_a_recording_knows_the_one_that_goes_on_however_late_that_comes():
    live = SecondComesLater(10**6, 3)
    live.add(block("r"), "joint_torque")
    first, second = live_recordings(msg.DataSelection(recordings=["r", "r.2"]), live)
    assert "the clock was set back; r.2 goes on" in first.warnings()[0]
    assert "begins where the clock was set back in r" in second.warnings()[0]
