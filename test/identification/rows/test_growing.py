from dataclasses import replace

import numpy as np
import pytest

from robot_identification.errors import (
    MeasuredVelocityError,
    NotExcitedError,
    RecordingError,
)
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.identify import identify
from robot_identification.identification.result import is_good_enough
from robot_identification.identification.rows.growing import StreamingIdentification, is_streamed
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.raw_samples import RawSamples
from simulated_experiments import START, experiment, raw_samples

pytestmark = pytest.mark.usefixtures("undiagnosed")

NOISE = np.array([0.2, 0.05])
STATED = ProcessingSettings(cutoff_hz=30.0, rate_hz=50.0, velocity_threshold=(0.05, 0.05))


@pytest.fixture(scope="module")
def arm():
    robot, _, _, truth = experiment("scara", "scara", 1000.0, NOISE, positions=True)
    robot = replace(robot, processing=ProcessingSettings())
    return robot, base_parameters(robot), truth


@pytest.fixture(scope="module")
def samples():
    return part(raw_samples("scara", "scara", 1000.0, NOISE), slice(40_000))


def part(raw, places):
    velocity = None if raw.velocity is None else raw.velocity[places]
    return RawSamples(raw.stamps[places], raw.position[places], velocity, raw.effort[places])


def streamed(arm, raw, *, size=100, overrides=STATED, **options):
    robot, base, _ = arm
    stream = StreamingIdentification(robot, base, "run", overrides=overrides, **options)
    for first in range(0, len(raw.stamps), size):
        stream.push(part(raw, slice(first, first + size)))
    return stream


def at_once(arm, raw, overrides=STATED):
    robot = arm[0]
    recording = joint_side_recording(part(raw, slice(None)), robot, source="run")
    return identify(robot, [recording], method="wls", overrides=overrides)


def test_the_end_of_the_stream_is_the_offline_result(arm, samples):
    stream = streamed(arm, samples)
    stream.finish()
    result, offline = stream.result(), at_once(arm, samples)
    difference = np.abs(result.estimate.values - offline.estimate.values)
    assert (difference < 1e-3 * offline.estimate.std).all()
    assert result.estimate.rows == offline.estimate.rows
    for name in ("values", "std", "std_robust", "weights"):
        ours, theirs = getattr(result.estimate, name), getattr(offline.estimate, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    changed = {k for k, v in result.settings.items() if offline.settings.get(k) != v}
    assert changed == {"streaming"}
    assert result.sources == offline.sources
    assert is_streamed(result)
    assert not is_streamed(offline)


def with_velocities(raw, factor=1.0):
    """Return samples with what noisy tachometers tell."""
    noise = 0.02 * np.random.default_rng(3).normal(size=raw.position.shape)
    speed = np.gradient(raw.position, 1e-3, axis=0)
    return replace(raw, velocity=factor * (speed + noise))


MEASURED = replace(STATED, velocities="measured")


def test_streams_use_measured_velocities_as_bags_do(arm, samples):
    raw = with_velocities(samples)
    raw = raw.at(np.random.default_rng(4).random(len(raw.stamps)) > 0.02)  # 2 % are lost
    stream = streamed(arm, raw, overrides=MEASURED)
    stream.finish()
    result, offline = stream.result(), at_once(arm, raw, MEASURED)
    difference = np.abs(result.estimate.values - offline.estimate.values)
    assert (difference < 1e-2 * offline.estimate.std).all()
    assert result.settings["velocities"] == {"value": "measured", "reason": "option"}
    derived = at_once(arm, raw)
    assert not np.array_equal(derived.estimate.values, offline.estimate.values)


def test_streams_refuse_velocities_that_are_absent_or_contradict_positions(arm, samples):
    with pytest.raises(MeasuredVelocityError, match="run: it has no measured velocities"):
        streamed(arm, part(samples, slice(5000)), overrides=MEASURED)
    wrong = part(with_velocities(samples, -1.0), slice(20_000))
    with pytest.raises(MeasuredVelocityError, match=r"run: .* contradict its positions"):
        streamed(arm, wrong, overrides=MEASURED)


@pytest.mark.parametrize("size", [1, 37, 100])
def test_blocks_of_any_size_give_the_offline_result(arm, samples, size):
    raw = part(samples, slice(8_345 if size > 1 else 2_345))
    stream = streamed(arm, raw, size=size)
    stream.finish()
    estimate, offline = stream.result().estimate, at_once(arm, raw).estimate
    assert estimate.rows == offline.rows
    assert (np.abs(estimate.values - offline.values) < 1e-3 * offline.std).all()


def test_a_stream_tells_that_it_does_not_count_from_the_last_sample(arm, samples):
    pinned = replace(STATED, decimation_pins="last")
    stream = streamed(arm, samples, overrides=pinned)
    stream.finish()
    result = stream.result()
    told = [line for line in result.warnings if "counts from the first sample" in line]
    assert told == [f"decimation {result.settings['decimation_pins']['reason']}"]
    assert result.settings["decimation_pins"]["value"] == "first"
    unpinned = at_once(arm, samples)
    assert at_once(arm, samples, pinned).settings["decimation_pins"]["value"] == "last"
    difference = np.abs(result.estimate.values - unpinned.estimate.values)
    assert (difference < 1e-3 * unpinned.estimate.std).all()
    assert not any("first sample" in line for line in unpinned.warnings)


def test_estimates_sharpen_while_the_robot_moves(arm, samples):
    robot, base, truth = arm
    stream = StreamingIdentification(robot, base, "run", overrides=STATED)
    deviations = []
    for first in range(0, len(samples.stamps), 100):
        stream.push(part(samples, slice(first, first + 100)))
        if first % 2000 == 0 and stream.rows > 200:
            estimate = stream.result().estimate
            deviations.append(estimate.std)
            assert (np.abs(estimate.values - truth) < 6.0 * estimate.std_robust + 1e-3).all()
    assert len(deviations) >= 3
    assert (deviations[-1] < deviations[0]).all()


def test_settings_are_derived_from_the_first_seconds_of_motion(arm, samples):
    rest = 3000
    still = RawSamples(
        START - np.arange(rest, 0, -1) * 1_000_000,
        np.repeat(samples.position[:1], rest, axis=0),
        None,
        np.repeat(samples.effort[:1], rest, axis=0),
    )
    joined = RawSamples(
        *(
            np.concatenate([getattr(still, name), getattr(samples, name)])
            if getattr(samples, name) is not None
            else None
            for name in ("stamps", "position", "velocity", "effort")
        )
    )
    stream = streamed(arm, joined, overrides=None, settle=3.0)
    stream.finish()
    result = stream.result()
    truth = arm[2]
    assert 3.0 <= float(result.settings["streaming"]["reason"].split()[4]) < 8.0
    offline = at_once(arm, samples, None)
    for name in ("cutoff_hz", "rate_hz"):
        ours, theirs = result.settings[name]["value"], offline.settings[name]["value"]
        assert 0.5 * theirs < ours < 2.0 * theirs
    assert (np.abs(result.estimate.values - truth) < 6.0 * result.estimate.std_robust + 1e-3).all()


def test_gaps_and_jitter_are_those_of_the_offline_path(arm, samples):
    rng = np.random.default_rng(2)
    jitter = np.round(rng.normal(size=len(samples.stamps)) * 5e4).astype(np.int64)
    moved = RawSamples(samples.stamps + jitter, samples.position, None, samples.effort)
    raw = part(moved, np.r_[0:4000, 4100:9000, 9600 : len(moved.stamps)])
    stream = streamed(arm, raw)
    stream.finish()
    result, offline = stream.result(), at_once(arm, raw)
    assert any("600 samples lost in 1 gaps" in line for line in offline.warnings)
    for one in (result, offline):  # jitter may put one more or less between two samples
        assert one.sources[0].bridged == pytest.approx(100, abs=2)
    assert abs(sum(result.estimate.rows) - sum(offline.estimate.rows)) < 20
    difference = result.estimate.values - offline.estimate.values
    assert (np.abs(difference) < offline.estimate.std).all()


def test_nothing_is_said_before_the_motion_says_it(arm, samples):
    stream = streamed(arm, part(samples, slice(500)))
    with pytest.raises(RecordingError, match="rows; an estimate needs"):
        stream.result()
    still = RawSamples(
        samples.stamps,
        np.repeat(samples.position[:1], len(samples.stamps), axis=0),
        None,
        samples.effort,
    )
    stated = replace(STATED, velocity_threshold=())
    with pytest.raises(NotExcitedError):
        streamed(arm, still, overrides=stated).result()
    stream = streamed(arm, still, overrides=None)
    stream.finish()
    with pytest.raises(RecordingError, match="rows; an estimate needs"):
        stream.result()


def test_old_samples_are_left_out(arm, samples):
    disorder = part(samples, np.r_[0:5000, 4000:4500, 5000 : len(samples.stamps)])
    ours, theirs = (streamed(arm, raw, size=500).result() for raw in (disorder, samples))
    np.testing.assert_array_equal(ours.estimate.values, theirs.estimate.values)


def test_good_enough_asks_for_the_essential_parameters_alone(arm, samples):
    stream = streamed(arm, samples)
    result = stream.result(Choice("wls", EliminationRule("ratio", 3.0)))
    kept = result.elimination.kept
    assert 0 < np.count_nonzero(~kept)
    estimate = result.estimate
    larger = np.maximum(estimate.std, estimate.std_robust)[kept]
    worst = float((larger / np.abs(estimate.values[kept])).max())
    assert is_good_enough(result, 1.01 * worst)
    assert not is_good_enough(result, 0.99 * worst)
