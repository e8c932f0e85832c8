"""While a recording is made, what is wrong with its samples is told."""

import numpy as np

from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.acquisition.judgement import Judgement
from robot_identification.ros.common.joint_states import Sample
from swinging_scara import swinging_scara


def observed(effort):
    """Return the judgement of the first ten seconds of the swinging SCARA."""
    raw = swinging_scara(10.0)
    judgement = Judgement(load_robot("scara"))
    judgement.begin()
    for stamp, position, own in zip(raw.stamps, raw.position, effort(raw.effort), strict=True):
        judgement.observe(Sample(int(stamp), position, None, own))
    return judgement


def test_a_sound_recording_is_not_warned_of():
    assert observed(np.asarray).mistakes() == ()


def test_efforts_that_are_not_measured_are_told_while_recording():
    found = observed(lambda effort: effort * np.array([1.0, 0.0])).mistakes()
    assert [(finding.joints, finding.cause) for finding in found] == [(("joint_2",), "effort zero")]


def test_another_recording_begins_without_what_was_found_before():
    judgement = observed(lambda effort: effort * np.array([1.0, 0.0]))
    assert judgement.mistakes()
    judgement.begin()
    assert judgement.mistakes() == ()
