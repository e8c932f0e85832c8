"""What is learned from the free motion of a bare arm that rests now and then."""

from dataclasses import replace

import numpy as np

from carried_payloads import ROBOT, SETTINGS, Carrying, new_watch
from robot_identification.calibration.running_payload.learning import FreeMotionLearning
from robot_identification.calibration.running_payload.rows import ROW_PERIOD, Segment
from robot_identification.calibration.running_payload.window import SEGMENT

RESTS = 400  # segments, of a quarter of a second


def moving(seconds):
    """Return segments of motion, and the order of their unknowns."""
    stream = new_watch()._stream
    rows = Segment.joined(stream.push(*Carrying(warming=0.02).part(seconds)))
    ends = range(SEGMENT, len(rows.stamps) + 1, SEGMENT)
    return [rows.part(slice(end - SEGMENT, end)) for end in ends], stream.unknowns


def learning_of(segments, unknowns):
    learning = FreeMotionLearning(ROBOT.joint_names, unknowns, SETTINGS, calibrated=False)
    for segment in segments:
        learning.add(segment)
    return learning


def test_of_an_arm_that_rests_nothing_is_kept():
    segments, unknowns = moving(2.0)
    rest = [replace(segments[-1], kept=np.zeros_like(segments[-1].kept))] * RESTS
    half = len(segments) // 2
    learning = learning_of([*rest, *segments[:half], *rest, *segments[half:]], unknowns)
    assert len(learning._segments) == len(segments)
    begins = [number for number, one in enumerate(learning._segments) if one.begins[0]]
    assert begins == [0, half]
    assert learning.rows == learning_of(segments, unknowns).rows


def test_friction_that_warms_up_is_told_for_the_end_of_a_rest():
    segments, unknowns = moving(6.0)
    rest = [replace(segments[-1], kept=np.zeros_like(segments[-1].kept))] * RESTS
    rows = []
    for order in (segments, [*segments, *rest]):
        learning = learning_of(order, unknowns)
        rows.append(learning.learned(ROW_PERIOD).known.values[unknowns.rates_of(0)])
    # Seen from later, with the same rate, friction has fallen by more: the fit is another one.
    assert np.abs(rows[1] - rows[0]).max() > 1e-9
