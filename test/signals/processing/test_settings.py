import dataclasses

import numpy as np
import pytest

from made_up_signals import START, raw_samples
from random_robots import random_robot
from robot_identification.errors import JointNameError, RecordingError, SettingError
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.processing.settings import (
    processing_warnings,
    resolve_processing,
    streamed,
)
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.spectrum import motion_spectrum
from shared_data import measured_data, requires

NAMES = ("joint_1", "joint_2")


@pytest.fixture
def robot():
    return random_robot(np.random.default_rng(0), joints=2)


def moving(frequency, *, rate=1000.0, seconds=20.0, noise=0.0):
    """Return a recording of two joints that move at a frequency, and at half of it."""
    samples = int(rate * seconds)
    stamps = START + np.rint(np.arange(samples) * 1e9 / rate).astype(np.int64)
    time = (stamps - START)[:, None] / 1e9
    position = np.sin(2 * np.pi * np.array([frequency, frequency / 2]) * time)
    position += noise * np.random.default_rng(0).standard_normal(position.shape)
    return build_recording(RawSamples(stamps, position, None, position), NAMES)


def test_reason_of_the_cutoff_tells_motion_noise_and_resolution(robot):
    fine = moving(2.0, noise=1e-4)
    reason = resolve_processing(robot, [fine]).reasons["cutoff_hz"]
    assert "99.95 % of the power of joint_1's velocity lies below 2" in reason
    assert "noise of joint_2 9.6e-05 rms, which below 21.2 Hz is 0.61 % of its" in reason
    step = 2 * np.pi / 4096
    segment = fine.segments[0]
    coarse = dataclasses.replace(segment, position=step * np.rint(segment.position / step))
    stepped = dataclasses.replace(fine, segments=(coarse,))
    np.testing.assert_allclose(motion_spectrum([stepped]).step, step, rtol=1e-6)
    assert "in steps of 0.0015" in resolve_processing(robot, [stepped]).reasons["cutoff_hz"]
    assert motion_spectrum([fine]).step.tolist() == [0.0, 0.0]


def test_a_robot_file_may_pin_the_last_sample_but_a_stream_counts_from_the_first(robot):
    pinning = dataclasses.replace(robot, processing=ProcessingSettings(decimation_pins="last"))
    free, pinned = (resolve_processing(r, [moving(2.0)]) for r in (robot, pinning))
    assert (free.decimation_pins, pinned.decimation_pins) == ("first", "last")
    assert pinned.decimator(0.001).kept(1005)[-1] == 1004
    assert free.decimator(0.001).kept(1005)[0] == 0
    assert streamed(free) is free
    followed = streamed(pinned)
    assert followed.decimation_pins == "first"
    assert processing_warnings(free) == processing_warnings(pinned) == ()
    (line,) = processing_warnings(followed)
    assert "counts from the first sample, whatever the robot file pins" in line
    assert load_robot("emps").processing.decimation_pins == "last"


@pytest.mark.parametrize("frequency", [1.0, 3.0, 8.0])
def test_cutoff_is_ten_times_the_band_of_the_motion(robot, frequency):
    processing = resolve_processing(robot, [moving(frequency, noise=1e-6)])
    assert processing.cutoff_hz == pytest.approx(10 * frequency, rel=0.2)
    assert processing.reasons["cutoff_hz"].startswith("derived: 10 x ")


def test_band_of_the_motion_does_not_depend_on_the_noise(robot):
    quiet = motion_spectrum([moving(2.0)])
    noisy = motion_spectrum([moving(2.0, noise=1e-4)])
    np.testing.assert_allclose(quiet.band_hz, noisy.band_hz, atol=0.3)


def test_noise_is_measured():
    noise = 1e-4
    spectrum = motion_spectrum([moving(2.0, noise=noise)])
    density = 2 * noise**2 / 1000.0  # white noise spread over half the sampling rate
    np.testing.assert_allclose(spectrum.noise_density, density, rtol=0.2)
    velocity = spectrum.velocity_noise(50.0)
    np.testing.assert_allclose(velocity, 2 * np.pi * noise * np.sqrt(2 * 50**3 / 3000), rtol=0.1)


def test_noise_lowers_the_cutoff_but_the_motion_keeps_its_band(robot):
    quiet = resolve_processing(robot, [moving(4.0, noise=1e-6)])
    noisy = resolve_processing(robot, [moving(4.0, noise=2e-2)])
    assert noisy.cutoff_hz < 0.7 * quiet.cutoff_hz
    assert "noise of the acceleration" in noisy.reasons["cutoff_hz"]
    assert noisy.cutoff_hz >= 2 * 3.5


def test_cutoff_stays_below_half_the_sampling_rate(robot):
    processing = resolve_processing(robot, [moving(8.0, rate=100.0, noise=1e-6)])
    assert processing.cutoff_hz == pytest.approx(40.0)
    assert "at most 0.8 of 50 Hz" in processing.reasons["cutoff_hz"]


def test_rate_follows_the_cutoff(robot):
    recording = moving(5.0, noise=1e-6)
    options = ProcessingSettings(cutoff_hz=80.0)
    processing = resolve_processing(robot, [recording], options)
    assert processing.rate_hz == 80.0
    assert processing.reasons["rate_hz"] == (
        "derived: decimation passes 32 Hz, 0.4 of the cut-off; one in 12 of 1000 samples a second, "
        "1667 rows per joint"
    )
    assert processing.decimator(recording.period).factor == 12


def test_short_recording_is_left_some_rows(robot):
    processing = resolve_processing(robot, [moving(1.0, seconds=5.0, noise=1e-6)])
    assert processing.rate_hz == pytest.approx(168 / 5.0, rel=0.01)
    assert processing.reasons["rate_hz"].startswith("derived: 168 rows per joint")


def test_thresholds_follow_the_speed_of_each_joint(robot):
    processing = resolve_processing(robot, [moving(4.0, noise=1e-7)])
    np.testing.assert_allclose(
        processing.velocity_threshold, 0.01 * 2 * np.pi * np.array([4.0, 2.0]), rtol=0.05
    )
    assert processing.reasons["velocity_threshold"] == "derived: 1% of the largest speed"


def test_thresholds_follow_the_noise_where_it_is_larger(robot):
    processing = resolve_processing(robot, [moving(1.0, noise=1e-2)])
    assert processing.velocity_threshold[1] > 0.02 * np.pi
    assert "5 x noise for joint_1, joint_2" in processing.reasons["velocity_threshold"]


def test_option_goes_before_robot_file_and_that_before_the_data(robot):
    robot = dataclasses.replace(robot, processing=ProcessingSettings(rate_hz=40.0, drop_start=7))
    options = ProcessingSettings(cutoff_hz=25.0, ends="keep")
    processing = resolve_processing(robot, [moving(1.0)], options)
    assert (processing.cutoff_hz, processing.rate_hz, processing.drop_start) == (25.0, 40.0, 7)
    assert processing.reasons["cutoff_hz"] == "option"
    assert processing.reasons["rate_hz"] == "robot file"
    assert processing.reasons["drop_start"] == "robot file"
    assert processing.reasons["ends"] == "option"
    assert processing.drop_end == 0
    assert processing.reasons["drop_end"] == "derived: ends are kept"


FILTERED = ProcessingSettings(
    cutoff_hz=100.0, rate_hz=50.0, ends="keep", drop_start=7, velocity_threshold_window=0.2
)


@pytest.mark.parametrize("layer", ["robot file", "result"])
def test_what_is_chosen_for_one_filter_does_not_hold_for_another(robot, layer):
    """Ends that the filter of the file leaves whole are spoilt by a slower one."""
    robot = dataclasses.replace(robot, processing=FILTERED)
    identified = FILTERED if layer == "result" else None
    taken = resolve_processing(robot, [moving(4.0)], ProcessingSettings(), identified=identified)
    assert (taken.ends, taken.drop_start, taken.velocity_threshold_window) == ("keep", 7, 0.2)
    for options in (ProcessingSettings(cutoff_hz=25.0), ProcessingSettings(rate_hz=25.0)):
        found = resolve_processing(robot, [moving(4.0)], options, identified=identified)
        assert found.ends == "cut"
        assert (
            found.velocity_threshold_window
            == ProcessingSettings.table()["velocity_threshold_window"].usual
        )
        name = "cutoff_hz" if options.cutoff_hz else "rate_hz"
        own = getattr(FILTERED, name)
        for setting in ("ends", "velocity_threshold_window"):
            reason = found.reasons[setting]
            assert reason.startswith("default")
            assert f"which the {layer} says for its own {name} of {own:g}" in reason
    slow = resolve_processing(
        robot, [moving(4.0)], ProcessingSettings(cutoff_hz=25.0), identified=identified
    )
    assert slow.drop_start == slow.drop_end > 7


def test_the_same_cutoff_stated_again_changes_nothing(robot):
    robot = dataclasses.replace(robot, processing=FILTERED)
    for options in (
        ProcessingSettings(cutoff_hz=100.0),
        ProcessingSettings(cutoff_hz=25.0, ends="keep", drop_start=7),
    ):
        found = resolve_processing(robot, [moving(4.0)], options)
        assert (found.ends, found.drop_start) == ("keep", 7)


def test_every_setting_has_a_value_and_a_reason(robot):
    entries = resolve_processing(robot, [moving(1.0)]).entries()
    assert set(entries) == {field.name for field in dataclasses.fields(ProcessingSettings)}
    for entry in entries.values():
        assert entry["value"] is not None
        assert entry["reason"]


@pytest.mark.parametrize(
    ("stated", "meant"), [((), (0.0, 0.0)), ((0.1,), (0.1, 0.1)), ((0.1, 0.2), (0.1, 0.2))]
)
def test_thresholds_may_be_none_one_or_one_per_joint(robot, stated, meant):
    options = ProcessingSettings(velocity_threshold=stated)
    assert resolve_processing(robot, [moving(1.0)], options).velocity_threshold == meant


def test_thresholds_of_another_number_of_joints_are_refused(robot):
    options = ProcessingSettings(velocity_threshold=(0.1, 0.2, 0.3))
    with pytest.raises(SettingError, match="3 values for 2 joints"):
        resolve_processing(robot, [moving(1.0)], options)


def test_cutoff_must_suit_the_slowest_recording(robot):
    recordings = [moving(1.0), moving(1.0, rate=100.0)]
    with pytest.raises(SettingError, match="half the sampling rate of the recording, 50 Hz"):
        resolve_processing(robot, recordings, ProcessingSettings(cutoff_hz=60.0))


def test_robot_that_does_not_move_gets_settings_too(robot):
    raw = raw_samples(5000)
    still = dataclasses.replace(raw, position=np.zeros((5000, 2)))
    processing = resolve_processing(robot, [build_recording(still, NAMES)])
    assert processing.cutoff_hz == pytest.approx(400.0)
    assert "no motion was found" in processing.reasons["cutoff_hz"]


def test_recording_of_another_robot_is_refused(robot):
    with pytest.raises(JointNameError):
        resolve_processing(robot, [build_recording(raw_samples(), ("a", "b"))])


def test_settings_of_a_part_with_a_single_sample_are_refused(robot):
    whole = moving(2.0, seconds=1.0)
    assert whole.between(0.0, 0.002).samples == 2
    resolve_processing(robot, [whole.between(0.0, 0.002)])
    with pytest.raises(RecordingError, match="a single sample is left of it"):
        resolve_processing(robot, [whole.between(0.0, 0.001)])


def test_settings_need_a_recording(robot):
    with pytest.raises(RecordingError, match="no recording"):
        resolve_processing(robot, [])


@pytest.mark.parametrize(
    ("robot_name", "bag"),
    [
        pytest.param("emps", "bag", marks=requires("emps")),
        pytest.param("tx40", "bag", marks=requires("tx40")),
        pytest.param("ur10", "ur10_exciting_trajectory.db3", marks=requires("ur10")),
    ],
)
def test_data_lead_to_the_cutoff_that_their_authors_chose(robot_name, bag):
    robot = load_robot(robot_name)
    recordings = read_recordings([measured_data(robot_name) / bag], robot)
    assert not recordings[0].statistics.resampled
    derived = resolve_processing(
        dataclasses.replace(robot, processing=ProcessingSettings()), recordings
    )
    assert 0.5 <= derived.cutoff_hz / robot.processing.cutoff_hz <= 2.0
    assert 0.4 <= derived.rate_hz / robot.processing.rate_hz <= 2.5
