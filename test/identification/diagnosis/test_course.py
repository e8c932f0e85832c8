"""What changes in the course of a recording is told, and nothing of a sound one."""

import numpy as np
import pytest

from friction_arm import SETTINGS, arm, moved, values_of
from robot_identification.identification.diagnosis.diagnosis import diagnose
from robot_identification.identification.diagnosis.finding import Severity
from robot_identification.signals.recording import Recording

COURSE = ("drift", "acts for a while")


@pytest.fixture(scope="module")
def recording():
    return moved(arm(), values_of(arm()), noise=0.02)


def changed(recording, change):
    """Return the recording with `change(time, position, effort)` of the elbow's efforts added."""
    (segment,) = recording.segments
    effort = np.array(segment.effort)
    speed = np.gradient(segment.position[:, 1], segment.time)
    effort[:, 1] += change(segment.time / segment.time[-1], speed, effort[:, 1].std())
    return Recording.from_arrays(arm(), segment.time, segment.position, effort)


def told(recording):
    found = diagnose(arm(), [recording], overrides=SETTINGS).findings
    return [f for f in found if f.cause in COURSE]


def test_nothing_changes_in_a_sound_recording(recording):
    assert not told(recording)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x, v, size: 0.4 * size * x, "an offset"),
        (lambda x, v, size: 0.4 * size * (x > 0.5), "an offset"),
        (lambda x, v, size: 0.6 * size * np.exp(-3.0 * x) * np.tanh(20.0 * v), "friction"),
    ],
    ids=["sensor that drifts", "load that is taken up", "gear that warms up"],
)
def test_what_changes_slowly_is_doubted_with_its_joint(recording, change, words):
    (found,) = told(changed(recording, change))
    assert (found.severity, found.joints, found.cause) == (Severity.DOUBT, ("elbow",), "drift")
    assert words in found.problem
    assert found.figures["left_after"] < 0.7 * found.figures["left_before"]


def test_a_contact_is_doubted_with_its_joint_and_its_time(recording):
    seconds = recording.duration
    touched = changed(recording, lambda x, v, size: size * (np.abs(x - 0.6) < 0.5 / seconds))
    (found,) = told(touched)
    assert (found.severity, found.cause) == (Severity.DOUBT, "acts for a while")
    assert found.joints[0] == "elbow"
    begin, end = (float(word) for word in found.problem.split()[1:4:2])
    assert begin < 0.6 * seconds < end
    assert end - begin < 0.15 * seconds
    assert "--robust huber" in found.advice


def test_a_contact_in_the_second_of_two_recordings_is_placed_there(recording):
    seconds = recording.duration
    touched = changed(recording, lambda x, v, size: size * (np.abs(x - 0.6) < 1.0 / seconds))
    found = diagnose(arm(), [recording, touched], overrides=SETTINGS).findings
    (brief,) = [f for f in found if f.cause == "acts for a while"]
    assert "of recording 2" in brief.problem
