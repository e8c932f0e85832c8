import numpy as np
import pytest

from made_up_signals import chosen, processing, raw_samples
from robot_identification.errors import RecordingError
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.filtered import filter_recording

NAMES = ("joint_1", "joint_2")


def test_derivatives_are_those_of_the_motion():
    (segment,) = filter_recording(build_recording(raw_samples(), NAMES), processing())
    rate = 2 * np.pi * np.array([[1.0], [2.0]])
    inner = slice(150, -150)
    time = segment.time[inner]
    np.testing.assert_allclose(segment.velocity[:, inner], rate * np.cos(rate * time), atol=1e-3)
    np.testing.assert_allclose(
        segment.acceleration[:, inner], -(rate**2) * np.sin(rate * time), atol=0.02
    )


def test_torque_is_left_to_the_decimation():
    raw = raw_samples()
    (segment,) = filter_recording(build_recording(raw, NAMES), processing())
    np.testing.assert_array_equal(segment.effort, raw.effort.T)
    assert segment.effort.flags.c_contiguous
    assert not segment.effort.flags.writeable


def test_ends_are_dropped_after_filtering():
    recording = build_recording(raw_samples(), NAMES)
    (whole,) = filter_recording(recording, processing())
    (part,) = filter_recording(recording, processing(drop_start=49, drop_end=21))
    np.testing.assert_array_equal(part.position, whole.position[:, 49:-21])
    assert part.time[0] == pytest.approx(0.049)
    assert part.samples == whole.samples - 70


def test_short_segments_are_left_out():
    recording = build_recording(chosen(raw_samples(1600), np.r_[0:800, 1410:1600]), NAMES)
    assert len(recording.segments) == 2
    segments = filter_recording(recording, processing(ends="cut"))
    assert [segment.samples for segment in segments] == [800]


def test_recording_too_short_for_the_settings_says_what_is_needed():
    recording = build_recording(raw_samples(200), NAMES, source="bag")
    with pytest.raises(RecordingError, match=r"bag: .* has 200 samples, .* need 310"):
        filter_recording(recording, processing(ends="cut"))
