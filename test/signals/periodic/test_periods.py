"""Whole periods of recordings that repeat, and recordings that do not."""

import numpy as np
import pytest

from periodic_motions import PERIOD, RATE, REST, START, periodic_recording
from robot_identification.errors import NotPeriodicError, SettingError
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.periodic.periods import PeriodicMotion, whole_periods
from robot_identification.signals.raw_samples import RawSamples

LONG = round(0.45 * RATE)  # samples of a gap that nothing bridges


@pytest.mark.parametrize("periods", [2, 3, 7])
def test_every_whole_period_is_found_between_run_in_and_run_out(periods):
    _, whole = whole_periods(periodic_recording(periods=periods), PeriodicMotion(PERIOD))
    assert whole.count == periods
    assert whole.begin / RATE == pytest.approx(REST + 1.0, abs=0.05)
    assert whole.period == PERIOD


@pytest.mark.parametrize("stretch", [1.0005, 0.9995])
def test_the_period_is_measured_where_the_clock_of_the_robot_is_off(stretch):
    _, whole = whole_periods(periodic_recording(stretch=stretch), PeriodicMotion(PERIOD))
    assert whole.count == 4
    assert whole.period == pytest.approx(stretch * PERIOD, abs=5 * whole.period_std + 1e-9)


def test_a_wrong_period_is_refused_and_the_right_one_is_told():
    with pytest.raises(NotPeriodicError, match="give that period") as caught:
        whole_periods(periodic_recording(), PeriodicMotion(1.37 * PERIOD))
    assert caught.value.repeats == pytest.approx(PERIOD, abs=0.01)


def test_a_multiple_of_the_period_is_a_period():
    _, whole = whole_periods(periodic_recording(periods=6), PeriodicMotion(2 * PERIOD))
    assert whole.count == 3


@pytest.mark.parametrize("seconds", [0.9, 1.9])
def test_fewer_than_two_periods_are_refused(seconds):
    short = periodic_recording().between(0.1, 0.1 + seconds * PERIOD / 19.0)
    with pytest.raises(NotPeriodicError, match="two whole periods"):
        whole_periods(short, PeriodicMotion(PERIOD))


def test_a_motion_that_does_not_repeat_is_refused():
    rng = np.random.default_rng(0)
    time = np.arange(4000) / RATE
    waves = rng.uniform(0.1, 1.0, (5, 2)) * np.sin(
        np.multiply.outer(time, np.sqrt(rng.uniform(0.1, 9.0, (5, 2))) * np.e)
    )
    stamps = START + np.rint(time * 1e9).astype(np.int64)
    raw = RawSamples(stamps, waves.sum(axis=1), None, np.ones((4000, 2)))
    with pytest.raises(NotPeriodicError, match="no two periods in a row are alike"):
        whole_periods(build_recording(raw, ("a", "b")), PeriodicMotion(PERIOD))


def test_rest_is_no_period():
    time = np.arange(4000) / RATE
    noise = 1e-6 * np.random.default_rng(0).normal(size=(4000, 2))
    stamps = START + np.rint(time * 1e9).astype(np.int64)
    raw = RawSamples(stamps, noise, None, np.ones((4000, 2)))
    with pytest.raises(NotPeriodicError):
        whole_periods(build_recording(raw, ("a", "b")), PeriodicMotion(PERIOD))


def test_of_a_recording_with_a_gap_the_longest_run_is_used():
    samples = round((2 * REST + 2.0 + 5 * PERIOD) * RATE)
    kept = np.ones(samples, dtype=bool)
    gap = round((REST + 1.0 + 1.5 * PERIOD) * RATE)
    kept[gap : gap + LONG] = False
    recording = periodic_recording(periods=5, kept=kept)
    segment, whole = whole_periods(recording, PeriodicMotion(PERIOD))
    assert segment.time[0] == pytest.approx((gap + LONG) / RATE)
    assert whole.count == 3


def test_gaps_that_leave_less_than_two_periods_are_refused():
    samples = round((2 * REST + 2.0 + 4 * PERIOD) * RATE)
    kept = np.ones(samples, dtype=bool)
    for gap in range(round(PERIOD * RATE), samples, round(1.2 * PERIOD * RATE)):
        kept[gap : gap + LONG] = False
    with pytest.raises(NotPeriodicError, match="longest unbroken run"):
        whole_periods(periodic_recording(kept=kept), PeriodicMotion(PERIOD))


def test_periods_end_at_bad_samples():
    recording = periodic_recording()
    position = np.array(recording.segments[0].position)
    first = round((REST + 1.0 + 1.2 * PERIOD) * RATE)
    position[first : first + 8] += 0.5  # longer than a reading that failed
    stamps = START + np.rint(recording.segments[0].time * 1e9).astype(np.int64)
    raw = RawSamples(stamps, position, None, recording.segments[0].effort)
    spoilt = build_recording(raw, recording.joint_names)
    assert whole_periods(spoilt, PeriodicMotion(PERIOD))[1].count == 2


@pytest.mark.parametrize("period", [0.0, -1.0, float("nan"), float("inf")])
def test_a_period_is_positive_and_finite(period):
    with pytest.raises(SettingError):
        PeriodicMotion(period)


def test_a_period_of_a_few_samples_is_refused():
    with pytest.raises(NotPeriodicError, match="samples long"):
        whole_periods(periodic_recording(), PeriodicMotion(0.01))
