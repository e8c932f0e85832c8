import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_up_signals import MILLISECOND, START, chosen, raw_samples
from robot_identification.errors import RecordingError, SampleError, ShapeError
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.raw_samples import RawSamples

NAMES = ("hip", "knee")


def test_regular_samples_pass_bit_by_bit():
    raw = raw_samples()
    recording = build_recording(raw, NAMES, source="topic", digest="abc")
    (segment,) = recording.segments
    np.testing.assert_array_equal(segment.position, raw.position)
    np.testing.assert_array_equal(segment.effort, raw.effort)
    assert recording.period == 0.001
    assert recording.start_stamp == START
    assert (recording.source, recording.digest) == ("topic", "abc")
    assert not recording.statistics.resampled
    assert segment.velocity is None


@pytest.mark.parametrize("rounding", [40, 1000])
def test_rounded_stamps_are_regular_stamps(rounding):
    raw = raw_samples()
    noise = np.random.default_rng(0).integers(-rounding // 2, rounding // 2, len(raw.stamps))
    recording = build_recording(dataclasses.replace(raw, stamps=raw.stamps + noise), NAMES)
    assert not recording.statistics.resampled
    np.testing.assert_array_equal(recording.segments[0].position, raw.position)


def test_period_that_is_no_whole_number_of_nanoseconds_does_not_drift():
    raw = raw_samples(30_000)
    stamps = START + np.rint(np.arange(30_000) * 1e9 / 3000).astype(np.int64)
    recording = build_recording(dataclasses.replace(raw, stamps=stamps), NAMES)
    assert recording.period == pytest.approx(1 / 3000, rel=1e-9)
    assert not recording.statistics.resampled


def test_duplicates_go_and_the_first_stays():
    raw = raw_samples(200)
    position = raw.position.copy()
    places = np.r_[0:50, 49, 50:200, 10]
    doubled = chosen(dataclasses.replace(raw, position=position), places)
    recording = build_recording(doubled, NAMES)
    assert recording.statistics.duplicates == 2
    assert recording.statistics.out_of_order == 0
    assert recording.statistics.received == 202
    np.testing.assert_array_equal(recording.segments[0].position, raw.position)


@given(st.lists(st.integers(0, 190), min_size=1, max_size=8, unique=True))
def test_late_samples_find_their_place(late):
    order = np.arange(200)
    for place in late:
        order = np.insert(np.delete(order, place), min(place + 3, 199), order[place])
    raw = raw_samples(200)
    recording = build_recording(chosen(raw, order), NAMES)
    newest = np.maximum.accumulate(order)
    assert recording.statistics.out_of_order == np.count_nonzero(order < newest)
    np.testing.assert_array_equal(recording.segments[0].position, raw.position)
    assert recording.statistics.lost == 0


def test_long_gaps_split_into_segments_and_the_lost_are_counted():
    raw = raw_samples(4000)
    kept = np.r_[0:1300, 1803:2600, 3001:4000]
    recording = build_recording(chosen(raw, kept), NAMES)
    assert [len(segment.time) for segment in recording.segments] == [1300, 797, 999]
    assert all(segment.measured is None for segment in recording.segments)
    assert recording.statistics.gaps == 2
    assert recording.statistics.lost == 904
    assert recording.statistics.bridged == 0
    assert recording.statistics.received + recording.statistics.lost == 4000
    assert recording.segments[1].time[0] == pytest.approx(1.803)
    assert not recording.statistics.resampled


def test_runs_too_short_for_filters_are_left_out_and_counted():
    kept = np.r_[0:1300, 1801:1820, 2321:4000]
    recording = build_recording(chosen(raw_samples(4000), kept), NAMES)
    assert [len(segment.time) for segment in recording.segments] == [1300, 1679]
    assert recording.statistics.discarded == 19
    assert recording.statistics.lost == 1002


def test_jitter_is_resampled_to_a_constant_period():
    raw = raw_samples(2000)
    jitter = np.random.default_rng(3).integers(-200_000, 200_000, 2000)
    stamps = raw.stamps + jitter
    time = (stamps - START)[:, None] / 1e9
    frequency = np.array([1.0, 2.0])
    moved = dataclasses.replace(
        raw,
        stamps=stamps,
        position=np.sin(2 * np.pi * frequency * time),
        effort=np.cos(2 * np.pi * frequency * time),
    )
    recording = build_recording(moved, NAMES)
    (segment,) = recording.segments
    assert recording.statistics.resampled
    assert recording.statistics.jitter == pytest.approx(0.16, abs=0.02)
    np.testing.assert_allclose(np.diff(segment.time), recording.period, rtol=1e-6)
    since = segment.time[:, None] + (stamps[0] - START) / 1e9
    np.testing.assert_allclose(segment.position, np.sin(2 * np.pi * frequency * since), atol=1e-6)


def test_stamps_that_nearly_coincide_do_not_blow_up():
    raw = raw_samples(500, noise=1e-3)
    stamps = raw.stamps.copy()
    stamps[250] = stamps[249] + 1000
    recording = build_recording(dataclasses.replace(raw, stamps=stamps), NAMES)
    assert recording.statistics.resampled
    assert np.abs(recording.segments[0].position).max() < 1.01


@pytest.mark.parametrize("signal", ["position", "effort", "velocity", "reference"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_nothing_that_is_not_finite_passes(signal, value):
    raw = raw_samples(100)
    values = np.zeros((100, 2))
    values[17, 1] = value
    with pytest.raises(SampleError) as caught:
        build_recording(dataclasses.replace(raw, **{signal: values}), NAMES)
    assert (caught.value.signal, caught.value.joint, caught.value.index) == (signal, "knee", 17)


def test_recording_that_is_too_short_is_refused():
    with pytest.raises(RecordingError, match="bag: 20 samples are too few; at least 50"):
        build_recording(raw_samples(20), NAMES, source="bag")


def test_recording_of_nothing_but_gaps_is_refused():
    kept = np.concatenate([np.arange(20) + 640 * i for i in range(20)])
    with pytest.raises(RecordingError, match="19 gaps leave no unbroken run"):
        build_recording(chosen(raw_samples(13_000), kept), NAMES)


def test_stamps_of_whole_seconds_are_named_not_gaps():
    raw = raw_samples(13_000)
    coarse = raw.stamps // 1_000_000_000 * 1_000_000_000
    with pytest.raises(RecordingError, match="12987 of 13000 samples carry the stamp of another"):
        build_recording(dataclasses.replace(raw, stamps=coarse), NAMES)


def test_driver_that_does_not_stamp_is_named():
    raw = raw_samples(100)
    with pytest.raises(RecordingError, match=r"the driver must fill header\.stamp"):
        build_recording(dataclasses.replace(raw, stamps=np.zeros(100, dtype=np.int64)), NAMES)


@pytest.mark.parametrize(
    ("milliseconds", "seconds"), [(1500, "1.499"), (500.3, "0.499"), (55, "0.054"), (25, "0.024")]
)
def test_clock_that_was_set_back_is_refused(milliseconds, seconds):
    raw = raw_samples(3000)
    stamps = raw.stamps.copy()
    stamps[2000:] -= round(milliseconds * MILLISECOND)
    with pytest.raises(RecordingError, match=f"set back by {seconds} s before sample 2000"):
        build_recording(dataclasses.replace(raw, stamps=stamps), NAMES)


def test_shapes_must_fit():
    raw = raw_samples(100)
    with pytest.raises(ShapeError, match="effort"):
        build_recording(dataclasses.replace(raw, effort=np.zeros((100, 3))), NAMES)
    with pytest.raises(ShapeError, match="position"):
        build_recording(raw, ("hip", "knee", "ankle"))
    with pytest.raises(ShapeError, match="stamps"):
        build_recording(
            RawSamples(np.zeros((2, 2), dtype=np.int64), raw.position, None, raw.effort), NAMES
        )


def test_samples_of_a_recording_cannot_be_changed():
    (segment,) = build_recording(raw_samples(100), NAMES).segments
    with pytest.raises(ValueError, match="read-only"):
        segment.position[0, 0] = 1.0


def test_stamps_that_no_driver_has_are_refused():
    raw = raw_samples()
    stamps = START + np.arange(len(raw.stamps), dtype=np.int64)
    with pytest.raises(RecordingError, match="its stamps lie 1 ns apart"):
        build_recording(dataclasses.replace(raw, stamps=stamps), NAMES, source="topic")
