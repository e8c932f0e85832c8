"""Samples that were lost: bridged where that costs nothing, and never made up for an equation."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_signals import MILLISECOND, START, chosen, raw_samples
from robot_identification.errors import RecordingError
from robot_identification.signals.clock.resampling import bridged, in_gaps, interpolate, present
from robot_identification.signals.clock.stamps import BEGINNING, Clock
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.raw_samples import RawSamples

NAMES = ("hip", "knee")


def lost(samples, share, longest, seed=0):
    """Return which samples are left where bursts were lost; the first and the last ones are."""
    rng, kept = np.random.default_rng(seed), np.ones(samples, dtype=bool)
    while np.count_nonzero(~kept) < share * samples:
        length = rng.integers(1, longest + 1)
        first = rng.integers(BEGINNING, samples - length - 1)
        kept[first : first + length] = False
    return kept


@pytest.mark.parametrize(("share", "longest"), [(0.002, 1), (0.05, 1), (0.2, 1), (0.2, 5)])
def test_positions_are_bridged_and_measured_samples_pass_bit_by_bit(share, longest):
    raw = raw_samples(4000)
    kept = lost(4000, share, longest)
    recording = build_recording(chosen(raw, np.flatnonzero(kept)), NAMES)
    (segment,) = recording.segments
    np.testing.assert_array_equal(segment.measured, kept)
    np.testing.assert_array_equal(segment.position[kept], raw.position[kept])
    np.testing.assert_array_equal(segment.effort[kept], raw.effort[kept])
    np.testing.assert_allclose(segment.position, raw.position, atol=3e-4)
    np.testing.assert_allclose(segment.time, np.arange(4000) / 1000.0, atol=1e-12)
    statistics = recording.statistics
    assert statistics.bridged == statistics.lost == np.count_nonzero(~kept)
    assert (statistics.gaps, statistics.discarded, statistics.resampled) == (0, 0, False)


def test_a_recording_without_loss_says_nothing_of_bridges():
    recording = build_recording(raw_samples(), NAMES)
    (segment,) = recording.segments
    assert segment.measured is None
    assert (recording.statistics.bridged, recording.statistics.longest_bridged) == (0, 0.0)


@pytest.mark.parametrize("jitter", [0, 30_000, 200_000])
def test_a_lost_sample_is_bridged_whether_the_clock_jitters_or_not(jitter):
    """A perfect clock used to be split at every lost sample, where a jittering one was not."""
    raw = raw_samples(4000)
    moved = np.random.default_rng(1).integers(-jitter, jitter + 1, 4000)
    time = (raw.stamps + moved - START)[:, None] / 1e9
    position = np.sin(2 * np.pi * np.array([1.0, 2.0]) * time)
    kept = lost(4000, 0.02, 6)
    moved = RawSamples(raw.stamps + moved, position, None, raw.effort)
    recording = build_recording(chosen(moved, np.flatnonzero(kept)), NAMES)
    (segment,) = recording.segments
    missing = np.count_nonzero(~segment.measured)
    assert missing == pytest.approx(np.count_nonzero(~kept), rel=0.3)
    assert recording.statistics.bridged == missing
    since = segment.time[:, None] + (moved.stamps[0] - START) / 1e9
    expected = np.sin(2 * np.pi * np.array([1.0, 2.0]) * since)
    np.testing.assert_allclose(segment.position, expected, atol=1e-4)


@pytest.mark.parametrize(("frequency", "longest"), [(0.5, 0.4), (4.0, 0.1), (8.0, 0.05)])
def test_how_long_a_gap_is_bridged_follows_from_the_motion(frequency, longest):
    time = np.arange(8000)[:, None] / 1000.0
    position = np.sin(2 * np.pi * frequency * time)
    stamps = START + MILLISECOND * np.arange(8000)
    raw = RawSamples(stamps, position, None, position)
    recording = build_recording(chosen(raw, np.r_[0:3000, 3001:8000]), ("hip",))
    assert recording.statistics.longest_bridged == pytest.approx(longest, rel=0.2)
    for part, segments in ((0.7, 1), (1.3, 2)):
        gap = round(1000.0 * part * recording.statistics.longest_bridged)
        cut = build_recording(chosen(raw, np.r_[0:3000, 3000 + gap : 8000]), ("hip",))
        assert len(cut.segments) == segments
        assert cut.statistics.lost == gap


@pytest.mark.parametrize("missing", [3, 10, 40, 60])
def test_noise_is_not_carried_across_a_gap(missing):
    """A spline through the noise of its last samples is off by 0.15 of it for each lost one."""
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(20):
        raw = raw_samples(4000)
        noisy = replace(raw, position=raw.position + 2e-3 * rng.standard_normal((4000, 2)))
        first = int(rng.integers(1000, 3000))
        cut = chosen(noisy, np.r_[0:first, first + missing : 4000])
        (segment,) = build_recording(cut, NAMES).segments
        gap = slice(first, first + missing)
        errors.append(segment.position[gap] - raw.position[gap])
    assert np.sqrt(np.mean(np.concatenate(errors) ** 2)) < 4e-3


def test_a_straight_motion_is_bridged_exactly():
    numbers = np.r_[0:300, 340:700].astype(np.intp)
    line = np.column_stack([0.3 * numbers, 5.0 - 0.1 * numbers])
    everything = np.arange(700)
    filled = bridged(numbers, line, 0.05)
    np.testing.assert_allclose(filled, np.column_stack([0.3 * everything, 5.0 - 0.1 * everything]))
    assert np.count_nonzero(~present(numbers)) == 40


def test_the_smoothing_passes_what_lies_below_its_corner():
    corner, time = 0.05, np.r_[0:2000, 2060:4000].astype(np.float64)
    instants = np.arange(2000.0, 2060.0)
    for rate in (0.002, 0.005):
        found = in_gaps(time, np.sin(rate * time)[:, None], instants, corner)
        np.testing.assert_allclose(
            found[:, 0], np.sin(rate * instants), atol=10.0 * (rate / corner) ** 4
        )


def test_a_gap_behind_the_first_sample_is_bridged():
    raw = raw_samples(1000, noise=1e-5)
    recording = build_recording(chosen(raw, np.r_[0:1, 6:993, 999:1000]), NAMES)
    (segment,) = recording.segments
    assert len(segment.time) == 1000
    np.testing.assert_allclose(segment.position, raw_samples(1000).position, atol=1e-3)


def test_pauses_between_motions_are_no_lost_samples():
    """A hundred motions in one bag were told as 24451 samples lost in 49 gaps."""
    rise = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 1000))
    position = np.concatenate([rise, rise[::-1]] * 5)[:, None]
    pauses = np.repeat(500 * np.arange(10), 1000)
    stamps = START + MILLISECOND * (np.arange(10_000) + pauses)
    recording = build_recording(RawSamples(stamps, position, None, position), ("hip",))
    statistics = recording.statistics
    assert (statistics.lost, statistics.gaps, statistics.pauses) == (0, 9, 9)
    assert statistics.paused == pytest.approx(9 * 0.501)
    assert len(recording.segments) == 10


def test_the_same_gap_in_the_midst_of_a_motion_has_lost_samples():
    raw = raw_samples(4000)
    statistics = build_recording(chosen(raw, np.r_[0:1500, 2100:4000]), NAMES).statistics
    assert (statistics.lost, statistics.gaps, statistics.pauses) == (600, 1, 0)
    stopped = chosen(raw_samples(6000), np.r_[0:1500, 3600:6000])
    assert build_recording(stopped, NAMES).statistics.pauses == 1


def test_efforts_without_positions_are_not_bridged():
    raw = chosen(raw_samples(1000), np.r_[0:500, 503:1000])
    unknown = replace(raw, position=np.full(raw.position.shape, np.nan))
    recording = build_recording(unknown, NAMES, positions_needed=False)
    assert len(recording.segments) == 2
    with pytest.raises(RecordingError):
        build_recording(chosen(unknown, np.r_[0:30, 33:63]), NAMES, positions_needed=False)


def test_the_band_says_what_is_bridged():
    assert Clock(1e6).longest_bridged_ns == 0.0
    assert Clock(1e6, band_hz=0.0).longest_bridged_ns == 4e8
    assert Clock(1e6, band_hz=10.0).longest_bridged_ns == pytest.approx(4e7)
    assert Clock(1e6, band_hz=1000.0).splits(np.array([1e6, 2e6])).tolist() == [False, True]


def test_two_stamps_that_nearly_coincide_spoil_nothing_but_what_is_beside_them():
    """As of a driver that stamps what it receives: one such pair is in nearly every recording."""
    time = np.arange(3000) + np.random.default_rng(0).uniform(-0.1, 0.1, 3000)
    near = time.copy()
    near[1500] = near[1499] + 0.1
    instants = np.arange(20.0, 2980.0)
    found = [interpolate(t, np.sin(0.1 * t)[:, None], instants)[:, 0] for t in (time, near)]
    far = np.abs(instants - 1500.0) > 30.0
    np.testing.assert_array_equal(found[0][far], found[1][far])
    np.testing.assert_allclose(found[1], np.sin(0.1 * instants), atol=1e-5)


@pytest.mark.parametrize("first", [0, 1, 7, 98])
def test_samples_that_nearly_coincide_at_an_end_leave_it_where_it_is(first):
    time = np.arange(100.0)
    time[first + 1] = time[first] + 0.01
    values = np.stack([time, time**2], axis=1)
    found = interpolate(time, values, np.array([time[0], time[-1]]))
    np.testing.assert_allclose(found, values[[0, -1]], atol=1e-9)


def test_two_samples_that_nearly_coincide_have_a_straight_line():
    np.testing.assert_allclose(
        interpolate(np.array([0.0, 0.1]), np.array([[1.0], [2.0]]), np.array([0.05])), 1.5
    )
