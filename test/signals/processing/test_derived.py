"""Derived settings follow from motion and noise, and tell what is doubtful."""

import dataclasses

import numpy as np
import pytest
import scipy

from made_up_signals import START
from random_robots import random_robot
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.identification.identify import identify
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.processing.settings import (
    different_settings,
    resolve_processing,
)
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.spectrum import motion_spectrum
from shared_data import measured_data, requires

NAMES = ("joint_1", "joint_2")
BAND = 1.1  # Hz, highest frequency of the motion


@pytest.fixture
def robot():
    return random_robot(np.random.default_rng(0), joints=2)


def motion(*, rate=1000.0, seconds=20.0):
    """Return samples of two joints that move with a few frequencies up to the band."""
    samples = int(rate * seconds)
    stamps = START + np.rint(np.arange(samples) * 1e9 / rate).astype(np.int64)
    time = (stamps - START)[:, None] / 1e9
    frequencies = np.array([0.1, 0.35, 0.7, BAND])
    waves = [np.sin(2 * np.pi * frequencies * time + phase).sum(axis=1) for phase in (0.0, 1.0)]
    position = np.stack(waves, axis=1)
    return RawSamples(stamps, position, None, position)


def noise(samples, size):
    return size * np.random.default_rng(5).standard_normal(samples.position.shape)


def moved(samples, position):
    return dataclasses.replace(samples, position=position)


def jittering(samples):
    late = np.random.default_rng(1).uniform(-0.4e6, 0.4e6, len(samples.stamps)).astype(np.int64)
    return dataclasses.replace(samples, stamps=samples.stamps + late)


def doubled_stamps(samples):
    late = np.random.default_rng(2).uniform(0.0, 1.25e6, len(samples.stamps))
    rounded = np.rint((samples.stamps - START + late) / 0.5e6).astype(np.int64) * 500_000
    stamps = START + np.maximum.accumulate(rounded)
    assert (np.diff(stamps) == 0).sum() > 100
    return dataclasses.replace(samples, stamps=stamps)


def repeated(samples):
    return moved(samples, samples.position[np.arange(len(samples.stamps)) // 2 * 2])


def quantised(samples):
    return moved(samples, np.rint(samples.position / 5e-3) * 5e-3)


def slipping(samples):
    position = samples.position.copy()
    position[7000:9000] += 0.02
    return moved(samples, position)


def noisy(samples):
    return moved(samples, samples.position + noise(samples, 3e-3))


def smoothed_noise(samples):
    """Return positions whose noise a drive has smoothed at 30 Hz: its spectrum is not flat."""
    sections = scipy.signal.butter(2, 30.0, fs=1000.0, output="sos")
    return moved(
        samples, samples.position + scipy.signal.sosfilt(sections, noise(samples, 3e-3), axis=0)
    )


def resolved(robot, samples, **options):
    return resolve_processing(robot, [build_recording(samples, NAMES)], **options)


@pytest.mark.parametrize(
    "disturb",
    [jittering, doubled_stamps, repeated, quantised, slipping, noisy, smoothed_noise],
    ids=lambda disturb: disturb.__name__,
)
def test_the_cutoff_stays_near_the_motion_whatever_is_wrong_with_the_positions(robot, disturb):
    band = motion_spectrum([build_recording(motion(), NAMES)]).band_hz.max()
    assert band == pytest.approx(BAND, abs=0.3)
    disturbed = build_recording(disturb(motion()), NAMES)
    assert motion_spectrum([disturbed]).band_hz.max() == pytest.approx(band, abs=0.3)
    processing = resolve_processing(robot, [disturbed])
    assert 2.0 * BAND <= processing.cutoff_hz <= 10.0 * band * 1.1
    assert processing.rate_hz == max(processing.cutoff_hz, 168 / disturbed.duration)


def test_noise_that_the_motion_does_not_stand_out_of_overrules_its_rule_and_warns(robot):
    samples = motion()
    processing = resolved(robot, moved(samples, samples.position + noise(samples, 1.0)))
    assert 2.0 * BAND <= processing.cutoff_hz <= 4.0 * BAND
    (line,) = [line for line in processing.warnings if "cut-off" in line]
    assert "keeps the motion in, and too much noise with it" in line
    assert "3 % would ask for" in line
    assert "too much" not in "".join(resolved(robot, samples).warnings)


def test_a_cutoff_that_noise_bounds_is_a_warning(robot):
    samples = motion()
    processing = resolved(robot, moved(samples, samples.position + noise(samples, 0.03)))
    (line,) = [line for line in processing.warnings if "cut-off" in line]
    assert "bounded by noise of the positions" in line
    assert processing.cutoff_hz < 10.0 * BAND


def test_noise_that_decimation_leaves_in_the_rows_lowers_the_cutoff(robot):
    """A short recording needs a rate above its cut-off, which averages no noise away."""

    def noisy(seconds):
        samples = motion(seconds=seconds)
        return moved(samples, samples.position + noise(samples, 0.02))

    def share(processing):
        words = processing.reasons["cutoff_hz"].split()
        return float(words[words.index("%", len(words) - 5) - 1])

    short, long = (resolved(robot, noisy(seconds)) for seconds in (10.0, 60.0))
    assert short.rate_hz == pytest.approx(16.8, rel=0.01)
    assert long.rate_hz == long.cutoff_hz
    assert short.cutoff_hz < 0.8 * long.cutoff_hz
    assert 2.0 < share(short) <= 3.0
    assert 5.0 < share(long) <= 10.0
    # So does a rate that is stated; one that averages more lets the first rule hold.
    stated = [
        resolved(robot, noisy(60.0), options=ProcessingSettings(rate_hz=rate))
        for rate in (40.0, 4.0)
    ]
    assert 2.0 < share(stated[0]) <= 3.0
    assert stated[1].cutoff_hz >= long.cutoff_hz


def test_a_cutoff_that_the_rate_bounds_is_a_warning(robot):
    processing = resolved(robot, motion(rate=20.0, seconds=60.0))
    assert processing.cutoff_hz == pytest.approx(8.0)
    (line,) = processing.warnings
    assert "bounded by the sampling rate: 8 Hz" in line


def test_samples_that_repeat_bound_the_cutoff_and_are_told(robot):
    fast = repeated(motion(rate=40.0, seconds=60.0))
    processing = resolved(robot, fast)
    assert processing.cutoff_hz == pytest.approx(0.8 * 10.0)
    assert any("positions change every 2 samples only" in line for line in processing.warnings)
    assert motion_spectrum([build_recording(motion(), NAMES)]).held == 1


def test_a_robot_without_motion_is_told(robot):
    samples = motion()
    processing = resolved(robot, moved(samples, np.zeros_like(samples.position)))
    assert any("no motion stands out" in line for line in processing.warnings)


def test_a_joint_that_only_trembles_says_nothing_of_the_motion(robot):
    samples = motion()
    time = (samples.stamps - START) / 1e9
    trembling = samples.position.copy()
    trembling[:, 1] = 1e-4 * np.sin(2 * np.pi * 25.0 * time)
    trembling += noise(samples, 1e-6)
    processing = resolved(robot, moved(samples, trembling))
    assert processing.cutoff_hz == pytest.approx(10.0 * BAND, rel=0.2)
    assert processing.warnings == ()


@pytest.mark.parametrize("layer", ["option", "robot file", "result"])
def test_a_rate_at_which_rows_hold_motion_that_the_cutoff_takes_away_is_a_warning(robot, layer):
    stated = ProcessingSettings(cutoff_hz=0.8, rate_hz=4.0)
    options = stated if layer == "option" else ProcessingSettings()
    identified = stated if layer == "result" else None
    if layer == "robot file":
        robot = dataclasses.replace(robot, processing=stated)
    processing = resolved(robot, motion(), options=options, identified=identified)
    (line,) = processing.warnings
    assert "the rate is too high for the cut-off: rows at 4 Hz hold efforts" in line
    assert "a rate of at most 1 Hz, or a cut-off of at least 2." in line
    # Both ways out are ways out.
    for way in (ProcessingSettings(cutoff_hz=0.8, rate_hz=1.0),
                ProcessingSettings(cutoff_hz=2.9, rate_hz=4.0)):  # fmt: skip
        assert resolved(robot, motion(), options=way).warnings == ()


def test_a_rate_far_above_a_cutoff_that_spares_the_motion_is_none(robot):
    options = ProcessingSettings(cutoff_hz=4.0, rate_hz=100.0)
    assert resolved(robot, motion(), options=options).warnings == ()


def test_a_stated_rate_beside_a_cutoff_that_noise_lowers_keeps_the_motion(robot):
    samples = motion()
    noisy = moved(samples, samples.position + noise(samples, 0.03))
    processing = resolved(robot, noisy, options=ProcessingSettings(rate_hz=100.0))
    assert processing.cutoff_hz < 10.0 * BAND
    assert not any("rate is too high" in line for line in processing.warnings)


@requires("emps")
def test_rows_of_emps_at_20_hz_do_not_go_with_a_cutoff_of_5_hz():
    robot = load_robot("emps")
    recordings = read_recordings([measured_data("emps") / "bag"], robot)
    bad, good = (
        ProcessingSettings(cutoff_hz=5.0, rate_hz=20.0),
        ProcessingSettings(cutoff_hz=5.0, rate_hz=5.0),
    )
    found, fine = (identify(robot, recordings, overrides=options) for options in (bad, good))
    (line,) = [line for line in found.warnings if "rate is too high" in line]
    assert "motion up to 8 Hz" in line
    assert "at most 6.25 Hz, or a cut-off of at least 16 Hz" in line
    assert not any("rate is too high" in line for line in fine.warnings)
    assert found.estimate.relative_error.total > 5.0 * fine.estimate.relative_error.total


def test_noise_does_not_raise_a_threshold_over_all_rows(robot):
    samples = motion()
    disturbed = moved(samples, samples.position + noise(samples, 3.0))
    options = ProcessingSettings(cutoff_hz=50.0)
    processing = resolved(robot, disturbed, options=options)
    fastest = np.abs(np.gradient(disturbed.position, 1e-3, axis=0)).max(axis=0)
    assert (np.array(processing.velocity_threshold) < 0.2 * fastest).all()
    assert any(
        "velocity threshold of joint_1, joint_2 is bounded" in w for w in processing.warnings
    )


def test_a_single_joint_needs_fewer_rows_than_an_arm():
    for joints, rows in ((1, 84), (2, 168), (6, 500), (7, 500)):
        robot = random_robot(np.random.default_rng(0), joints=joints)
        samples = motion(seconds=4.0)
        wide = np.repeat(samples.position[:, :1], joints, axis=1)
        recording = build_recording(RawSamples(samples.stamps, wide, None, wide), robot.joint_names)
        processing = resolve_processing(robot, [recording])
        assert processing.rate_hz == pytest.approx(rows / recording.duration)


def test_the_cutoff_of_a_result_is_lowered_for_slower_recordings_and_that_is_told(robot):
    slow = build_recording(motion(rate=20.0, seconds=60.0), NAMES)
    identified = ProcessingSettings(cutoff_hz=12.0, rate_hz=10.0, filter_order=4)
    processing = resolve_processing(robot, [slow], identified=identified)
    assert processing.cutoff_hz == pytest.approx(8.0)
    assert processing.reasons["cutoff_hz"].startswith("result: 12 Hz, at most 0.8 of 10 Hz")
    assert any("identified with a cut-off of 12 Hz" in line for line in processing.warnings)
    assert different_settings(identified, processing) == {
        "cutoff_hz": {
            "identified": 12.0,
            "used": 8.0,
            "reason": processing.reasons["cutoff_hz"],
        }
    }


@pytest.mark.parametrize("layer", ["option", "robot file", "result"])
def test_a_stated_cutoff_that_leaves_noise_in_the_rows_is_a_warning(robot, layer):
    samples = motion()
    noisy = moved(samples, samples.position + noise(samples, 1e-3))
    stated = ProcessingSettings(cutoff_hz=40.0, rate_hz=50.0)
    options = stated if layer == "option" else ProcessingSettings()
    identified = stated if layer == "result" else None
    if layer == "robot file":
        robot = dataclasses.replace(robot, processing=stated)
    processing = resolved(robot, noisy, options=options, identified=identified)
    (line,) = [line for line in processing.warnings if "too much noise" in line]
    assert "the cut-off of 40 Hz leaves" in line
    assert "below 20 Hz it is" in line
    assert max(processing.row_noise) > 0.03
    # What it says is a way out.
    allowed = float(line.split("up to ")[1].split(" Hz")[0])
    lower = resolved(robot, noisy, options=ProcessingSettings(cutoff_hz=allowed, rate_hz=allowed))
    assert not any("too much noise" in line for line in lower.warnings)
    assert not any("too much noise" in line for line in resolved(robot, samples).warnings)
