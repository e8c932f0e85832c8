from dataclasses import replace

import numpy as np
import pytest

from friction_arm import arm, moved, values_of
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import NoEffortError, RecordingError
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.identification.delays.delay_estimation import estimate_effort_delay
from robot_identification.identification.delays.effort_delay import EFFORT_DELAY, with_known_delay
from robot_identification.identification.identify import identify
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.raw_samples import RawSamples
from shared_data import measured_data, requires

ROBOT = load_robot("scara")
TRUTH = load_values("scara", ROBOT)
RATE = 500.0
PERIODS = np.array([1.9, 1.4])


def tones(time):
    """Return position, velocity and acceleration of a sum of tones."""
    signals = np.zeros((3, len(time), 2))
    for amplitude, pace in ((1.0, 1.0), (0.4, 2.7), (0.2, 5.1)):
        phase = 2.0 * np.pi * pace / PERIODS
        turn = phase * time[:, None]
        signals += amplitude * np.array(
            [np.sin(turn), phase * np.cos(turn), -(phase**2) * np.sin(turn)]
        )
    return signals


def recording(delay, seed=0, seconds=20.0, noise=0.05):
    rng = np.random.default_rng(seed)
    time = np.arange(round(seconds * RATE)) / RATE
    effort = inverse_dynamics(ROBOT, TRUTH, *tones(time - delay))
    effort += noise * effort.std(axis=0) * rng.normal(size=effort.shape)
    position = tones(time)[0] + 1e-5 * rng.normal(size=effort.shape)
    stamps = 1_700_000_000_000_000_000 + np.round(time * 1e9).astype(np.int64)
    made = build_recording(RawSamples(stamps, position, None, effort), ROBOT.joint_names)
    return replace(made, source="made", effort_topic="/efforts")


@pytest.mark.parametrize("delay", [0.0007, 0.0042, -0.0213])
def test_a_delay_is_found_to_a_fraction_of_a_sample(delay):
    found = estimate_effort_delay(ROBOT, [recording(delay)])
    assert found.std < 0.1 / RATE
    assert abs(found.delay - delay) < 4.0 * found.std


def test_the_standard_deviation_is_that_of_repeated_recordings():
    found = [estimate_effort_delay(ROBOT, [recording(0.0013, seed, 10.0)]) for seed in range(6)]
    spread = np.std([f.delay for f in found], ddof=1)
    assert 0.4 < np.mean([f.std for f in found]) / spread < 2.5


def test_by_default_the_delay_is_told_and_nothing_is_moved():
    given = recording(0.006)
    told = with_known_delay(ROBOT, given)
    assert told.segments == given.segments
    (line,) = told.warnings
    assert line.startswith("made: efforts on /efforts lie ")
    stated = float(line.split("not corrected; give a delay of ")[1].removesuffix(" ms"))
    assert stated == pytest.approx(6.0, abs=0.3)
    result = identify(ROBOT, [told])
    assert line in result.warnings
    assert result.settings["effort_delay"]["value"] == [0.0]


def test_efforts_are_moved_on_request():
    late = recording(0.006)
    moved = with_known_delay(ROBOT, late, estimated=True)
    assert moved.effort_delay == pytest.approx(0.006, abs=2e-4)
    before, after = identify(ROBOT, [late]), identify(ROBOT, [moved])
    without = identify(ROBOT, [recording(0.0)])
    errors = [r.estimate.relative_error.total for r in (before, after, without)]
    assert errors[0] > 3.0 * errors[1]
    assert errors[1] == pytest.approx(errors[2], rel=0.1)


def test_a_recording_without_a_topic_of_efforts_stays_as_it_is():
    given = replace(recording(0.006), effort_topic="")
    assert with_known_delay(ROBOT, given) == given
    result = identify(ROBOT, [given])
    assert EFFORT_DELAY not in result.settings


@pytest.mark.parametrize("term", ["stribeck_friction", "load_friction"])
def test_a_robot_file_that_leaves_friction_open_does_not_hinder_the_estimate(term):
    robot = arm(f"{term}: true")
    given = replace(moved(robot, values_of(robot)), source="made", effort_topic="/efforts")
    (line,) = with_known_delay(robot, given).warnings
    assert line.startswith("made: efforts on /efforts lie ")
    stated = float(line.split("not corrected; give a delay of ")[1].removesuffix(" ms"))
    assert stated == pytest.approx(0.0, abs=0.2)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda: recording(0.07), "has no minimum"),
        (lambda: recording(0.0, seconds=0.2), "too short|too few|need"),
    ],
)
def test_what_tells_no_delay_is_refused_or_told(made, reason):
    given = made()
    with pytest.raises(RecordingError, match=reason):
        with_known_delay(ROBOT, given, estimated=True)
    told = with_known_delay(ROBOT, given)
    assert "behind the motion" not in told.warnings[0]


def test_a_recording_that_breaks_off_often_tells_its_delay():
    """No run of samples is as long as a tenth of what is looked at."""
    whole = recording(0.0042, seconds=60.0)
    (segment,) = whole.segments
    parts = [segment.part(slice(begin, begin + 1400)) for begin in range(0, 30_000, 1500)]
    found = estimate_effort_delay(ROBOT, [replace(whole, segments=tuple(parts))])
    assert abs(found.delay - 0.0042) < 4.0 * found.std < 4e-4


def test_the_stated_settings_hold_for_the_estimate():
    given = recording(0.0042, seconds=8.0)
    assert estimate_effort_delay(ROBOT, [given]).delay == pytest.approx(0.0042, abs=2e-4)
    fast = ProcessingSettings(velocity_threshold=(50.0,))
    with pytest.raises(RecordingError, match="record longer, or raise the rate"):
        with_known_delay(ROBOT, given, estimated=True, processing=fast)


def test_no_delay_is_estimated_from_efforts_that_nobody_measured():
    (segment,) = recording(0.0).segments
    unplugged = replace(segment, effort=segment.effort * np.array([1.0, 0.0]))
    given = replace(recording(0.0), segments=(unplugged,))
    with pytest.raises(NoEffortError, match="made: the efforts of") as refusal:
        with_known_delay(ROBOT, given, estimated=True)
    assert refusal.value.joints == ROBOT.joint_names[1:]


@requires("ur10")
def test_half_a_minute_of_an_arm_with_six_joints_tells_its_delay():
    robot = load_robot("ur10")
    (whole,) = read_recordings([measured_data("ur10") / "ur10_exciting_trajectory.db3"], robot)
    found = estimate_effort_delay(robot, [whole])
    assert abs(found.delay) < 0.015
    assert found.std < 0.01
    # A half of it has a valley at -30 ms and one at 30 ms, as a tenth more or less decides.
    with pytest.raises(RecordingError, match="without this or that tenth of the samples"):
        estimate_effort_delay(robot, [whole.between(0.5, 1.0)])
